// live_process [FILE]: a program that records, lets viewers attach and leaks, until it reads a line
// or the end of its input. Says `ready` when they may come, and what it was asked.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "ebb.h"

namespace {

void check(ebb_status status) {
  if (status == EBB_OK) return;
  std::fprintf(stderr, "%s\n", ebb_last_error());
  std::exit(1);
}

std::atomic<bool> done{false};
std::atomic<unsigned> wished{0};

// As a host does: on a thread of the program's.
void fulfil(ebb_site site) {
  const unsigned what = wished.exchange(0);
  if (what == 0) return;
  std::printf("asked %u\n", what);
  std::fflush(stdout);
  if (what == EBB_ASKED_HOLDERS) check(ebb_record_holder(site, "global.cache (Map)"));
}

void say(const char* line) {
  std::printf("%s\n", line);
  std::fflush(stdout);
}

void leak() {
  ebb_device_options opened = EBB_INIT(ebb_device_options);
  opened.kind = EBB_DEVICE_SYSTEM;
  opened.name = "cpu";
  opened.budget = 256 << 20;
  ebb_device device = 0;
  check(ebb_device_open(&opened, &device));
  const ebb_context_options options = EBB_INIT(ebb_context_options);
  ebb_context context = 0;
  check(ebb_context_create(&options, &context));
  ebb_site site = 0;
  check(ebb_site_intern("handle (/srv/app.js:42:7)\nmain (/srv/app.js:1:1)", &site));
  const int64_t dims[] = {1024, 16};
  ebb_tensor_spec spec = EBB_INIT(ebb_tensor_spec);
  spec.device = device;
  spec.dtype = EBB_FLOAT32;
  spec.rank = 2;
  spec.dims = dims;
  spec.site = site;
  for (bool first = true; !done; first = false) {
    ebb_handle tensor = 0;
    check(ebb_tensor_create(context, &spec, &tensor));
    if (first) say("ready");  // there is something to see
    fulfil(site);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

int main(int argc, char** argv) {
  ebb_record_options record = EBB_INIT(ebb_record_options);
  record.mode = EBB_RECORD_FULL;
  record.path = argc > 1 ? argv[1] : nullptr;
  record.name = "live </script>\x1b[31m.js";
  record.max_bytes = 1 << 20;
  check(ebb_record_start(&record));
  ebb_live_options live = EBB_INIT(ebb_live_options);
  live.asked = [](void*, uint32_t what) { wished = what; };
  check(ebb_live_start(&live));
  std::thread worker(leak);
  std::getchar();
  done = true;
  worker.join();
  check(ebb_record_stop());
  return 0;
}
