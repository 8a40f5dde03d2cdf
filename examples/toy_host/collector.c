#include "collector.h"

static void mark(object* o) {
  if (o == NULL || o->marked) return;
  o->marked = 1;
  for (size_t i = 0; i < TOY_FIELDS; ++i) mark(o->field[i]);
}

static void sweep(heap* h, object* o) {
  if (!o->used || o->marked) {
    o->marked = 0;
    return;
  }
  if (o->tensor != 0) {
    h->dead(o->tensor);
    ++h->noticed;
  }
  *o = (object){0};
  --h->live;
}

void heap_collect(heap* h) {
  for (size_t i = 0; i < TOY_ROOTS; ++i) mark(h->root[i]);
  for (size_t i = 0; i < TOY_OBJECTS; ++i) sweep(h, &h->objects[i]);
  ++h->collections;
}

static object* first_free(heap* h) {
  for (size_t i = 0; i < TOY_OBJECTS; ++i) {
    if (!h->objects[i].used) return &h->objects[i];
  }
  return NULL;
}

object* heap_make(heap* h) {
  object* o = first_free(h);
  if (o == NULL) {
    heap_collect(h);
    o = first_free(h);
  }
  if (o == NULL) return NULL;
  *o = (object){.used = 1};
  ++h->live;
  return o;
}
