/* Somebody else's tensor engine: it gives out buffers by number and counts references on them. It
 * knows nothing of Ebb, as TensorFlow.js's wasm heap and LibTorch know nothing of it. */
#ifndef TOY_ENGINE_H
#define TOY_ENGINE_H

#include <stddef.h>

#define ENGINE_BUFFERS 1024

typedef struct engine {
  void* data[ENGINE_BUFFERS]; /* the number of a buffer is its index plus one */
  size_t bytes[ENGINE_BUFFERS];
  size_t references[ENGINE_BUFFERS]; /* 0: the number is free */
  size_t in_use, peak;               /* bytes */
} engine;

/* A buffer with one reference. 0: no room. */
size_t engine_make(engine* e, size_t bytes);
void engine_share(engine* e, size_t buffer);
/* The last reference frees the memory. */
void engine_release(engine* e, size_t buffer);

#endif
