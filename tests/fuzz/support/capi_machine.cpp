// The machine's life, its host, and how arguments are made of bytes.
#include "fuzz/support/capi_machine.hpp"

#include <cstring>

namespace ebb::fuzz {

Machine::Machine(Input in) : in_(in) {
  open(EBB_DEVICE_SYSTEM, "fuzz:system", 0, 64 * kBudget);
  open(EBB_DEVICE_SIMULATED, "fuzz:sim", 4 * kBudget, kBudget);
  open(EBB_DEVICE_FOREIGN, "fuzz:soft", 0, kBudget, EBB_BUDGET_SOFT);
  open(EBB_DEVICE_FOREIGN, "fuzz:hard", 0, kBudget);
  ebb_reclaim_set(in_.byte() & 1);
  must(ebb_trace_set(in_.byte() % 3), "trace_set");
  create_context();
  create_context();
}

void Machine::run(int most_steps) {
  for (int steps = 0; steps < most_steps && !in_.empty(); ++steps) step();
}

void Machine::check_time() {
  const double ms = time_.ms();
  if (ms - ms_before_ > test::kMostMsOfASmallCall) give_up("small calls that take long");
  ms_before_ = ms;
}

void Machine::finish() {
  must(ebb_audit(), "audit after the calls");
  // By number: a host that is told of ends may call back, and make another context.
  for (std::size_t i = 0; i < every_context_.size(); ++i) {
    call(ebb_context_destroy, every_context_[i]);
  }
  for (const ebb_read reading : oldest_read_) ebb_read_drop(reading);
  for (const ebb_hold hold : holds_.all()) ebb_hold_release(0, hold);
  for (const ebb_hold hold : every_hold_) ebb_hold_release(0, hold);
  must(ebb_audit(), "audit at the end");
  for (const ebb_device device : opened_) close(device);
}

void Machine::open(uint32_t kind, const char* name, uint64_t capacity, uint64_t budget,
                   uint32_t mode) {
  const ebb_device_options options = {sizeof(options), kind, name, capacity, budget, mode, 0};
  ebb_device device = 0;
  must(ebb_device_open(&options, &device), "device_open");
  opened_.push_back(device);
  devices_.keep(device);
}

void Machine::close(ebb_device device) {
  ebb_device_info info{};
  info.size = sizeof(info);
  must(ebb_device_describe(device, &info), "device_describe");
  if (info.in_use != 0) {
    give_up(("bytes in use at the end: " + std::to_string(info.in_use) + " of device " +
             std::to_string(device))
                .c_str());
  }
  must(ebb_device_close(device), "device_close");
}

uint64_t Machine::on_collect(void* user, ebb_collection) {
  static_cast<Machine*>(user)->collect();
  return 100;
}

void Machine::on_end(void* user, const ebb_ended* ended, std::size_t count) {
  static_cast<Machine*>(user)->end(ended, count);
}

void Machine::on_warn(void*, const char* message) {
  if (std::strlen(message) == 0) give_up("an empty warning");
}

void Machine::collect() {
  for (uint8_t left = in_.byte() % 32; left > 0; --left) call(ebb_orphan, handles_.pick(in_));
  call_back();
}

void Machine::end(const ebb_ended* ended, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (ended[i].handle == 0 || ended[i].reason > EBB_ENDED_SHUTDOWN) give_up("a bad end");
  }
  call_back();
}

void Machine::call_back() {
  if (depth_ >= 3 || in_.byte() % 8 != 0) return;
  ++depth_;
  step();
  --depth_;
}

void Machine::create_context() {
  if (contexts_made_++ >= 2000) return;
  ebb_context_options options{};
  options.size = struct_size(sizeof(options));
  options.flags = in_.byte() % 8;
  if (in_.byte() % 4 == 0) {
    options.collect_share = in_.byte() / 64.0 - 1;
    options.minor_step = in_.size();
    options.major_step = in_.size();
    options.name_bytes = in_.size();
  }
  options.name = "fuzz";
  options.user = this;
  options.collect = &on_collect;
  options.end = &on_end;
  options.warn = &on_warn;
  ebb_context context = 0;
  if (call(ebb_context_create, &options, &context) != EBB_OK) return;
  contexts_.keep(context);
  every_context_.push_back(context);
}

uint32_t Machine::struct_size(std::size_t right) {
  const uint8_t kind = in_.byte();
  if (kind < 0xE8) return static_cast<uint32_t>(right);
  // Never more than there is, unless it is so large that nobody can mean it.
  return kind < 0xF8 ? in_.byte() % static_cast<uint32_t>(right + 1) : UINT32_MAX;
}

ebb_device Machine::device() {
  const uint64_t name = devices_.pick(in_);
  return static_cast<ebb_device>(name);
}

uint32_t Machine::read_dims() {
  const uint8_t rank = in_.byte() % 9;
  for (int64_t& dim : dims_) dim = 1;
  if (rank > 0) dims_[0] = static_cast<int64_t>(in_.size());
  // Without elements the other extents may be any.
  const bool empty = rank > 1 && in_.byte() >= 0xF0;
  for (int i = 1; i < rank; ++i) {
    dims_[i] = empty ? static_cast<int64_t>(in_.edge()) : in_.byte() % 4;
  }
  if (empty) dims_[in_.byte() % rank] = 0;
  return rank;
}

ebb_tensor_spec Machine::tensor_spec() {
  ebb_tensor_spec spec{};
  spec.size = struct_size(sizeof(spec));
  spec.device = device();
  spec.dtype = in_.byte() % 14;
  spec.rank = read_dims();
  spec.dims = in_.byte() < 0xF8 ? dims_ : nullptr;
  spec.region = region();
  spec.site = site_;
  spec.stream = in_.byte() < 0xF0 ? 0 : in_.byte();
  return spec;
}

ebb_foreign_spec Machine::foreign_spec() {
  ebb_foreign_spec spec{};
  spec.size = struct_size(sizeof(spec));
  spec.device = device();
  spec.key = in_.byte() % 8;
  spec.bytes = in_.size();
  spec.tag = in_.byte();
  spec.dtype = in_.byte() % 14;
  spec.rank = read_dims();
  spec.dims = in_.byte() < 0xF8 ? dims_ : nullptr;
  spec.region = region();
  spec.site = site_;
  spec.flags = in_.byte() < 0xF0 ? 0 : in_.byte();
  return spec;
}

void Machine::keep_handle(ebb_status status, const ebb_handle& handle) {
  if ((status == EBB_OK) != (handle != 0)) give_up("an output that does not fit its status");
  if (status == EBB_OK) handles_.keep(handle);
}

}  // namespace ebb::fuzz
