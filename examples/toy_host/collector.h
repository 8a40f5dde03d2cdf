/* The toy language's memory: small objects that refer to each other, a few roots, mark and sweep.
 * An object may stand for a tensor; it then has the tensor's handle. That is all of a garbage-
 * collected language that Ebb has to do with. */
#ifndef TOY_COLLECTOR_H
#define TOY_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#define TOY_OBJECTS 4096
#define TOY_ROOTS 16
#define TOY_FIELDS 2

typedef struct object {
  struct object* field[TOY_FIELDS];
  uint64_t tensor; /* an ebb_handle; 0: a plain object, or a tensor that was disposed of */
  size_t buffer;   /* of the engine */
  int used, marked;
} object;

typedef struct heap {
  object objects[TOY_OBJECTS];
  object* root[TOY_ROOTS];           /* variables of the program; null: none */
  void (*dead)(uint64_t tensor);     /* called for each tensor whose object was swept */
  size_t live, collections, noticed; /* objects; sweeps; calls of `dead` */
} heap;

/* Null if the heap is full also after a collection. */
object* heap_make(heap* h);
void heap_collect(heap* h);

#endif
