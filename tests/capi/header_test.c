/* ebb.h is C11: this file is compiled as such, and is a small host written in it. */
#include <stdio.h>
#include <string.h>

#include "ebb.h"

_Static_assert(sizeof(ebb_handle) == 8, "names are 64 bits");
_Static_assert(sizeof(ebb_device_options) == 40, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_device_info) == 80, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_context_options) == 80, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_ended) == 40, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_tensor_spec) == 40, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_foreign_spec) == 64, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_tensor_info) == 160, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_drained) == 24, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_memory) == 232, "the layout is part of the ABI");
_Static_assert(sizeof(ebb_report_options) == 16, "the layout is part of the ABI");

#define CHECK(call)                                                            \
  do {                                                                         \
    if ((call) != EBB_OK) {                                                    \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, ebb_last_error()); \
      return __LINE__;                                                         \
    }                                                                          \
  } while (0)

static int freed;
static void on_end(void* user, const ebb_ended* ended, size_t count) {
  (void)user;
  (void)ended;
  freed += (int)count;
}

/* 0, or the line that failed. */
int run_c_host(void);
int run_c_host(void) {
  ebb_device_options device_options = {
      sizeof device_options, EBB_DEVICE_FOREIGN, "c-host", 0, 0, EBB_BUDGET_SOFT, 0};
  ebb_device device = 0;
  CHECK(ebb_device_open(&device_options, &device));

  ebb_context_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.name = "c";
  options.end = on_end;
  ebb_context context = 0;
  CHECK(ebb_context_create(&options, &context));

  ebb_region region = 0;
  CHECK(ebb_region_open(context, 0, "step", &region));
  ebb_foreign_spec spec;
  memset(&spec, 0, sizeof spec);
  spec.size = sizeof spec;
  spec.device = device;
  spec.bytes = 4096;
  spec.region = region;
  ebb_handle handle = 0;
  CHECK(ebb_tensor_adopt(context, &spec, &handle));
  CHECK(ebb_region_close(context, region));
  if (freed != 1) return __LINE__;

  CHECK(ebb_context_destroy(context));
  CHECK(ebb_device_close(device));
  CHECK(ebb_audit());
  return 0;
}
