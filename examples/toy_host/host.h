/* The host: what binds the toy language to Ebb. docs/writing-a-host.md explains it step by step. */
#ifndef TOY_HOST_H
#define TOY_HOST_H

#include <stddef.h>

#include "collector.h"
#include "ebb.h"
#include "engine.h"

typedef struct host {
  heap heap;
  engine engine;
  ebb_context context;
  ebb_device device;
  size_t ended[4]; /* tensors that Ebb ended, by ebb_reason */
  size_t calls;    /* of `end` */
} host;

void host_open(host* h, size_t budget);
/* Everything that is left ends here. */
void host_close(host* h);

/* Records this process to a file, and lets viewers attach meanwhile: ebb top, ebb view --live. */
void host_record(const char* path);
void host_record_end(void);

/* A tensor of so many bytes, as an object of the language. `region` 0: none in particular. */
object* host_tensor(host* h, size_t bytes, ebb_region region);
/* A second object over the same memory, as reshape and clone give. */
object* host_alias(host* h, const object* base);
/* The program says that it needs the tensor no more. */
void host_dispose(host* h, object* tensor);

/* Ends the program with Ebb's message if a call did not succeed. */
void must(ebb_status status);

#endif
