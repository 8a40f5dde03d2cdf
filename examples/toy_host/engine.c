#include "engine.h"

#include <stdlib.h>

size_t engine_make(engine* e, size_t bytes) {
  size_t i = 0;
  while (i < ENGINE_BUFFERS && e->references[i] != 0) ++i;
  if (i == ENGINE_BUFFERS) return 0;
  e->data[i] = malloc(bytes);
  if (e->data[i] == NULL) return 0;
  e->bytes[i] = bytes;
  e->references[i] = 1;
  e->in_use += bytes;
  if (e->in_use > e->peak) e->peak = e->in_use;
  return i + 1;
}

void engine_share(engine* e, size_t buffer) { ++e->references[buffer - 1]; }

void engine_release(engine* e, size_t buffer) {
  const size_t i = buffer - 1;
  if (--e->references[i] != 0) return;
  free(e->data[i]);
  e->in_use -= e->bytes[i];
}
