/* A program in the toy language, run by its host: it makes tensors in a loop, keeps a few, drops the
 * rest, and stays under a budget. It prints what happened, and fails if that is not what should.
 *   toy_host [FILE]    records itself to FILE; `ebb report FILE` reads it */
#include <stdio.h>

#include "host.h"

#define MB ((size_t)1 << 20)
#define BUDGET (16 * MB)
#define STEPS 200
#define KEPT 4

static int faults;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("  FAULT: not so: %s\n", what);
  ++faults;
}

static ebb_memory books(const host* h) {
  ebb_memory memory = EBB_INIT(ebb_memory);
  must(ebb_memory_read(h->context, 0, &memory));
  return memory;
}

static void print(const host* h, const char* what) {
  const ebb_memory m = books(h);
  printf("%-34s %5llu made, %3llu live, %4llu disposed, %2llu region, %4llu reclaimed, %2zu MB\n",
         what, (unsigned long long)m.created, (unsigned long long)m.live,
         (unsigned long long)m.disposed, (unsigned long long)m.region_ended,
         (unsigned long long)m.reclaimed, h->engine.in_use / MB);
  must(ebb_audit()); /* the law of the ledger */
}

/* The careless program: each step makes three tensors and remembers one of the last few. */
static void train(host* h) {
  for (int step = 0; step < STEPS; ++step) {
    host_tensor(h, 1 * MB, 0); /* the batch: used, and dropped */
    object* loss = host_tensor(h, MB / 2, 0);
    h->heap.root[step % KEPT] = loss;     /* the one that stood here is garbage now */
    loss->field[0] = host_alias(h, loss); /* shares its memory; only the loss refers to it */
  }
}

/* The careful program: it says when it is done. */
static void dispose_by_hand(host* h) {
  object* scratch = host_tensor(h, 1 * MB, 0);
  host_dispose(h, scratch);
  host_dispose(h, h->heap.root[0]); /* its alias lives on, and so does the memory */
}

/* A scope, as `tidy` and a manager are: its tensors end with it, but for what it returns. The sum of
 * an outer and an inner tensor is the inner scope's, whichever comes first: it does not escape. */
static object* scoped(host* h) {
  ebb_region outer = 0, inner = 0, shortest = 0;
  must(ebb_region_open(h->context, 0, "outer scope", &outer));
  must(ebb_region_open(h->context, outer, "inner scope", &inner));
  const object* a = host_tensor(h, 1 * MB, outer);
  const object* b = host_tensor(h, 1 * MB, inner);
  const ebb_handle operands[] = {a->tensor, b->tensor};
  must(ebb_region_shortest_lived(h->context, operands, 2, &shortest));
  expect(shortest == inner, "what depends on both belongs to the inner scope");
  host_tensor(h, 1 * MB, shortest);
  object* result = host_tensor(h, 1 * MB, outer);
  must(ebb_region_move_to_parent(h->context, result->tensor));
  must(ebb_region_close(h->context, outer)); /* and the inner one with it */
  return result;
}

int main(int count, char** arguments) {
  static host h;
  host_open(&h, BUDGET);
  ebb_reclaim_set(1);
  if (count > 1) host_record(arguments[1]);

  train(&h);
  print(&h, "200 careless steps");
  expect(h.heap.collections > 0, "Ebb had the collector run");
  expect(h.ended[EBB_ENDED_RECLAIMED] > 0, "Ebb ended what the collector found");
  expect(h.engine.peak <= BUDGET, "the engine's memory stayed under the budget");

  dispose_by_hand(&h);
  print(&h, "two tensors disposed of by hand");
  expect(books(&h).disposed == 2, "both were booked as disposed");

  host_dispose(&h, scoped(&h));
  print(&h, "a scope with three tensors closed");
  expect(h.ended[EBB_ENDED_REGION] == 3, "they ended with their region, the result did not");

  ebb_drained drained = EBB_INIT(ebb_drained);
  must(ebb_collect(h.context, EBB_COLLECT_MAJOR, 0, &drained));
  print(&h, "a collection that the host asked for");
  expect(books(&h).live == 2 * KEPT - 1, "what the roots reach is all that lives");

  printf("the collector ran %zu times and gave %zu notices; `end` was called %zu times\n",
         h.heap.collections, h.heap.noticed, h.calls);
  printf("the engine had %zu MB at most, under a budget of %zu MB\n", h.engine.peak / MB,
         BUDGET / MB);
  host_close(&h);
  if (count > 1) host_record_end();
  expect(h.ended[EBB_ENDED_SHUTDOWN] == 2 * KEPT - 1, "closing ended the rest");
  expect(h.engine.in_use == 0, "the engine has everything back");
  return faults == 0 ? 0 : 1;
}
