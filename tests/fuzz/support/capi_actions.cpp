// The calls: a byte for the function, then what its arguments take.
#include <array>

#include "fuzz/support/capi_machine.hpp"

namespace ebb::fuzz {

void Machine::step() {
  const uint8_t which = in_.byte();
  if (which >= 0xF6) return burst();
  switch (which % 10) {
    case 0:
      return births();
    case 1:
      return ends();
    case 2:
      return regions();
    case 3:
      return attachments();
    case 4:
      return reclaim();
    case 5:
      return holds();
    case 6:
      return devices_and_contexts();
    case 7:
      return values();
    case 8:
      return host_reports();
    default:
      return books();
  }
}

void Machine::births() {
  ebb_handle handle = 0;
  const uint8_t which = in_.byte() % 8;
  if (which < 3) {
    const ebb_tensor_spec spec = tensor_spec();
    keep_handle(call(ebb_tensor_create, context(), &spec, &handle), handle);
  } else if (which < 7) {
    const ebb_foreign_spec spec = foreign_spec();
    keep_handle(call(ebb_tensor_adopt, context(), &spec, &handle), handle);
  } else {
    const ebb_tensor_spec spec = tensor_spec();
    const ebb_handle base = handles_.pick(in_);
    keep_handle(call(ebb_tensor_view, context(), base, in_.size(), &spec, &handle), handle);
  }
}

void Machine::ends() {
  const ebb_handle handle = handles_.pick(in_);
  switch (in_.byte() % 4) {
    case 0:
      call(ebb_orphan, handle);
      break;
    case 1:
      call(ebb_tensor_rebook, context(), handle, in_.byte() % 2 == 0 ? 0 : device(), in_.size());
      break;
    default:
      call(ebb_tensor_dispose, context(), handle);
  }
}

// Many of one kind at once, ended in some order: what a thread caches overflows, queues fill, and a
// region ends more than a few. Its names are live ones: the other calls see to the stale.
void Machine::burst() {
  ebb_region scope = 0;
  const ebb_context in = living_context(scope);
  if (in == 0) return;
  std::array<ebb_handle, 512> made{};
  const std::size_t count =
      births_of_one_kind(in, scope, std::size_t{16} << (in_.byte() % 6), made);
  const uint8_t way = in_.byte();
  const std::size_t step = 1 + 2 * std::size_t{in_.byte()};  // odd: each is met once in 512
  for (std::size_t i = 0; way % 4 < 2 && i < made.size(); ++i) {
    const ebb_handle handle = made[i * step % made.size()];
    if (handle == 0) continue;
    way % 4 == 0 ? call(ebb_orphan, handle) : (void)call(ebb_tensor_dispose, in, handle);
  }
  if (way % 4 == 2) call(ebb_tensors_end, in, made.data(), count, way / 4 % 5u);
  if (way < 0xE0) call(ebb_region_close, in, scope);
}

// With a new region in it; 0 where there is none, and none can be made.
ebb_context Machine::living_context(ebb_region& scope) {
  for (int tries = 0; tries < 2; ++tries) {
    const ebb_context in = tries == 0 || every_context_.empty() ? context() : every_context_.back();
    if (call(ebb_region_open, in, 0, "burst", &scope) == EBB_OK) return in;
    create_context();
  }
  return 0;
}

// Stops at the first that is refused.
std::size_t Machine::births_of_one_kind(ebb_context in, ebb_region scope, std::size_t count,
                                        std::span<ebb_handle> made) {
  const bool adopts = in_.byte() % 2 == 0;
  const ebb_device where = opened_[adopts ? 2 + in_.byte() % 2u : in_.byte() % 2u];
  const int64_t extent = int64_t{in_.byte()} << (in_.byte() % 5);
  ebb_tensor_spec own{};
  own.size = sizeof(own);
  own.device = where;
  own.dtype = EBB_FLOAT32;
  own.rank = 1;
  own.dims = &extent;
  own.region = scope;
  ebb_foreign_spec foreign{};
  foreign.size = sizeof(foreign);
  foreign.device = where;
  foreign.bytes = static_cast<uint64_t>(extent);
  foreign.region = scope;
  foreign.key = in_.byte() % 4;  // 0: each has data of its own
  for (std::size_t i = 0; i < count; ++i) {
    if (foreign.key != 0) foreign.key += i % 3;
    const ebb_status status = adopts ? call(ebb_tensor_adopt, in, &foreign, &made[i])
                                     : call(ebb_tensor_create, in, &own, &made[i]);
    if ((status == EBB_OK) != (made[i] != 0)) give_up("an output that does not fit its status");
    if (status != EBB_OK) return i;
  }
  return count;
}

void Machine::regions() {
  ebb_region made = 0;
  switch (in_.byte() % 6) {
    case 0:
    case 1:
    case 2: {
      const std::string label = in_.text();
      if (call(ebb_region_open, context(), region(), label.c_str(), &made) == EBB_OK) {
        regions_.keep(made);
      }
      break;
    }
    default:
      call(ebb_region_close, context(), region());
  }
}

void Machine::attachments() {
  const ebb_handle handle = handles_.pick(in_);
  switch (in_.byte() % 3) {
    case 0:
      call(ebb_region_attach, context(), region(), handle);
      break;
    case 1:
      call(ebb_region_move_to_parent, context(), handle);
      break;
    default: {
      const ebb_handle several[] = {handle, handles_.pick(in_), handles_.pick(in_)};
      ebb_region shortest = 0;
      call(ebb_region_shortest_lived, context(), several, in_.byte() % 4, &shortest);
    }
  }
}

void Machine::reclaim() {
  auto drained = output<ebb_drained>();
  ebb_drained* out = in_.byte() % 4 == 0 ? nullptr : &drained;
  switch (in_.byte() % 8) {
    case 0:
      call(ebb_reclaim_set, in_.byte() & 1);
      break;
    case 1:
      call(ebb_collect, context(), in_.byte() % 3, in_.byte() & 1, out);
      break;
    case 2:
      call(ebb_make_room, context(), device(), in_.size(), out);
      break;
    default:
      call(ebb_safe_point, context(), in_.byte() % 2 == 0 ? 0 : device(), in_.size(),
           in_.byte() % 2, out);
  }
}

void Machine::holds() {
  const ebb_hold hold = holds_.pick(in_);
  switch (in_.byte() % 3) {
    case 0: {
      ebb_hold made = 0;
      if (every_hold_.size() < 1000 &&
          call(ebb_hold_acquire, context(), handles_.pick(in_), &made) == EBB_OK) {
        holds_.keep(made);
        every_hold_.push_back(made);
      }
      break;
    }
    case 1: {
      void* data = nullptr;
      uint64_t bytes = 0;
      if (call(ebb_hold_data, context(), hold, &data, &bytes) == EBB_OK && bytes > 0) {
        static_cast<volatile char*>(data)[bytes - 1] = 1;
      }
      break;
    }
    default:
      call(ebb_hold_release, context(), hold);
  }
}

// Writing and reading, the sizes right and wrong.
void Machine::values() {
  const ebb_handle handle = handles_.pick(in_);
  std::array<unsigned char, 4096> data{};
  const uint64_t bytes = value_bytes(handle, data.size());
  const ebb_read reading = reads_.pick(in_);
  switch (in_.byte() % 8) {
    case 0:
    case 1:
      call(ebb_tensor_write, context(), handle, data.data(), bytes);
      break;
    case 2:
      call(ebb_tensor_read, context(), handle, data.data(), bytes);
      break;
    case 3: {
      ebb_read made = 0;
      if (call(ebb_read_begin, context(), handle, &made, nullptr) == EBB_OK) {
        call(ebb_read_drop, oldest_read_[next_read_]);
        oldest_read_[next_read_] = made;
        next_read_ = (next_read_ + 1) % oldest_read_.size();
        reads_.keep(made);
      }
      break;
    }
    case 4: {
      uint32_t done = 0;
      call(ebb_read_poll, reading, &done);
      break;
    }
    case 5:
      call(ebb_read_end, reading, data.data(), bytes);
      break;
    case 6:
      call(ebb_read_drop, reading);
      break;
    default: {
      ebb_op_result copied{};
      const ebb_status status = call(ebb_tensor_copy_to, context(), handle, device(), &copied);
      keep_handle(status, copied.handle);
    }
  }
}

// The size that the tensor has, if it is small enough, or one that it may not have.
uint64_t Machine::value_bytes(ebb_handle handle, uint64_t most) {
  ebb_tensor_info info{};
  info.size = sizeof(info);
  const bool known = call(ebb_tensor_describe, context(), handle, &info) == EBB_OK;
  const uint64_t bytes = known && in_.byte() < 0xF0 ? info.bytes : in_.size();
  return bytes > most ? most : bytes;
}

// What a host says of itself: what it has ended, that it is idle, that it walks, where things were
// made.
void Machine::host_reports() {
  auto drained = output<ebb_drained>();
  switch (in_.byte() % 5) {
    case 0: {
      std::array<ebb_handle, 16> ended{};
      for (ebb_handle& each : ended) each = handles_.pick(in_);
      if (in_.byte() % 4 == 0) ended[1] = ended[0];
      call(ebb_tensors_end, context(), ended.data(), in_.byte() % (ended.size() + 1),
           in_.byte() % 5);
      break;
    }
    case 1: {
      uint32_t again = 0;
      call(ebb_idle, context(), &again, in_.byte() % 4 == 0 ? nullptr : &drained);
      break;
    }
    case 2:
      call(ebb_walk, context(), in_.byte() % 4, in_.size(),
           in_.byte() % 4 == 0 ? nullptr : &drained);
      break;
    case 3:
      call(ebb_tensor_made_at, context(), handles_.pick(in_), in_.byte() < 0xF0 ? site_ : ~site_);
      break;
    default: {
      const ebb_handle inputs[] = {handles_.pick(in_), handles_.pick(in_)};
      const double attributes[] = {static_cast<double>(in_.size()), -1};
      ebb_op_result results[2] = {};
      std::size_t made = 0;
      const ebb_status status =
          call(ebb_op_run, context(), device(), 1 + in_.byte() % 200u, inputs, in_.byte() % 3u,
               attributes, in_.byte() % 3u, results, in_.byte() % 3u, &made);
      if (status != EBB_OK && made != 0) give_up("results of a call that failed");
      for (std::size_t i = 0; i < made; ++i) keep_handle(status, results[i].handle);
    }
  }
}

void Machine::devices_and_contexts() {
  switch (in_.byte() % 8) {
    case 0:
      return create_context();
    case 1:
      call(ebb_context_destroy, context());
      break;
    case 2:
      set_budget();
      break;
    case 3: {
      auto info = output<ebb_device_info>();
      call(ebb_device_describe, device(), &info);
      break;
    }
    case 4: {
      uint64_t trimmed = 0;
      call(ebb_device_trim, device(), in_.size(), &trimmed);
      break;
    }
    case 5:
      return open_another();
    case 6: {
      uint64_t bytes = 0;
      call(ebb_parse_bytes, in_.text().c_str(), &bytes);
      break;
    }
    default: {
      auto info = output<ebb_tensor_info>();
      call(ebb_tensor_describe, context(), handles_.pick(in_), &info);
    }
  }
}

void Machine::set_budget() {
  const ebb_device which = device();
  call(ebb_device_set_budget, which, 1 + in_.size() % (8 * kBudget), in_.byte() % 3);
}

void Machine::open_another() {
  ebb_device_options options{};
  options.size = struct_size(sizeof(options));
  options.kind = in_.byte() % 5;
  options.name = in_.byte() % 2 == 0 ? "fuzz:other" : "fuzz:sim";
  options.capacity = in_.size() % (1 << 20);
  options.budget = kBudget;
  options.mode = in_.byte() % 3;
  ebb_device made = 0;
  if (call(ebb_device_open, &options, &made) != EBB_OK) return;
  devices_.keep(made);
  // Undone at once: one opening of the others stays, so that its name goes on being valid.
  call(ebb_device_close, made);
}

void Machine::books() {
  switch (in_.byte() % 7) {
    case 0:
      if (in_.byte() % 8 == 0) must(call(ebb_audit), "audit between calls");  // it looks at all
      break;
    case 1: {
      auto memory = output<ebb_memory>();
      call(ebb_memory_read, in_.byte() % 2 == 0 ? 0 : context(), in_.byte() % 2 == 0 ? 0 : device(),
           &memory);
      break;
    }
    case 2:
      return report();
    case 3:
      call(ebb_site_intern, in_.text().c_str(), &site_);
      break;
    case 4:
      call(ebb_trace_set, in_.byte() % 4);
      break;
    default:
      nothing_given();
  }
}

void Machine::report() {
  ebb_report_options options{};
  options.size = struct_size(sizeof(options));
  options.top = in_.byte();
  options.json = in_.byte() & 1;
  char* text = nullptr;
  call(ebb_report, in_.byte() % 2 == 0 ? 0 : context(), &options, &text);
  call(ebb_text_free, text);
}

void Machine::nothing_given() {
  const ebb_context in = context();
  if (call(ebb_device_open, nullptr, nullptr) == EBB_OK ||
      call(ebb_context_create, nullptr, nullptr) == EBB_OK ||
      call(ebb_tensor_create, in, nullptr, nullptr) == EBB_OK ||
      call(ebb_tensor_adopt, in, nullptr, nullptr) == EBB_OK ||
      call(ebb_tensor_view, in, 1, 0, nullptr, nullptr) == EBB_OK ||
      call(ebb_tensor_describe, in, 1, nullptr) == EBB_OK ||
      call(ebb_region_open, in, 0, nullptr, nullptr) == EBB_OK ||
      call(ebb_hold_acquire, in, 1, nullptr) == EBB_OK ||
      call(ebb_memory_read, in, 0, nullptr) == EBB_OK ||
      call(ebb_report, in, nullptr, nullptr) == EBB_OK ||
      call(ebb_snapshot_write, nullptr) == EBB_OK) {
    give_up("null was taken");
  }
}

}  // namespace ebb::fuzz
