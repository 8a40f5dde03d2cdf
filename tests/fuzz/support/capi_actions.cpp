// The calls: a byte for the function, then what its arguments take.
#include "fuzz/support/capi_machine.hpp"

namespace ebb::fuzz {

void Machine::step() {
  switch (in_.byte() % 8) {
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
    default:
      return books();
  }
}

void Machine::births() {
  ebb_handle handle = 0;
  const uint8_t which = in_.byte() % 8;
  if (which < 3) {
    const ebb_tensor_spec spec = tensor_spec();
    keep_handle(ebb_tensor_create(context(), &spec, &handle), handle);
  } else if (which < 7) {
    const ebb_foreign_spec spec = foreign_spec();
    keep_handle(ebb_tensor_adopt(context(), &spec, &handle), handle);
  } else {
    const ebb_tensor_spec spec = tensor_spec();
    const ebb_handle base = handles_.pick(in_);
    keep_handle(ebb_tensor_view(context(), base, in_.size(), &spec, &handle), handle);
  }
}

void Machine::ends() {
  const ebb_handle handle = handles_.pick(in_);
  switch (in_.byte() % 4) {
    case 0:
      ebb_orphan(handle);
      break;
    case 1:
      ebb_tensor_rebook(context(), handle, in_.byte() % 2 == 0 ? 0 : device(), in_.size());
      break;
    default:
      ebb_tensor_dispose(context(), handle);
  }
}

void Machine::regions() {
  ebb_region made = 0;
  switch (in_.byte() % 8) {
    case 0:
    case 1:
    case 2: {
      const std::string label = in_.text();
      if (ebb_region_open(context(), region(), label.c_str(), &made) == EBB_OK) {
        regions_.keep(made);
      }
      break;
    }
    case 3:
      if (ebb_region_root(context(), &made) == EBB_OK) regions_.keep(made);
      break;
    case 4:
      if (in_.byte() % 4 == 0) ebb_region_cap(context(), region());
      break;
    case 5: {
      auto info = output<ebb_region_info>();
      ebb_region_describe(context(), region(), &info);
      break;
    }
    default:
      ebb_region_close(context(), region());
  }
}

void Machine::attachments() {
  const ebb_handle handle = handles_.pick(in_);
  switch (in_.byte() % 5) {
    case 0:
      ebb_region_attach(context(), region(), handle);
      break;
    case 1:
      ebb_region_attach_temporarily(context(), region(), handle);
      break;
    case 2:
      ebb_region_detach(context(), handle);
      break;
    case 3:
      ebb_region_move_to_parent(context(), handle);
      break;
    default: {
      const ebb_handle several[] = {handle, handles_.pick(in_), handles_.pick(in_)};
      ebb_region shortest = 0;
      ebb_region_shortest_lived(context(), several, in_.byte() % 4, &shortest);
    }
  }
}

void Machine::reclaim() {
  auto drained = output<ebb_drained>();
  ebb_drained* out = in_.byte() % 4 == 0 ? nullptr : &drained;
  switch (in_.byte() % 8) {
    case 0:
      ebb_reclaim_set(in_.byte() & 1);
      break;
    case 1:
      ebb_collect(context(), in_.byte() % 3, in_.byte() & 1, out);
      break;
    case 2:
      ebb_make_room(context(), device(), in_.size(), out);
      break;
    default:
      ebb_safe_point(context(), in_.byte() % 2 == 0 ? 0 : device(), in_.size(), in_.byte() % 2,
                     out);
  }
}

void Machine::holds() {
  const ebb_hold hold = holds_.pick(in_);
  switch (in_.byte() % 3) {
    case 0: {
      ebb_hold made = 0;
      if (every_hold_.size() < 1000 &&
          ebb_hold_acquire(context(), handles_.pick(in_), &made) == EBB_OK) {
        holds_.keep(made);
        every_hold_.push_back(made);
      }
      break;
    }
    case 1: {
      void* data = nullptr;
      uint64_t bytes = 0;
      if (ebb_hold_data(context(), hold, &data, &bytes) == EBB_OK && bytes > 0) {
        static_cast<volatile char*>(data)[bytes - 1] = 1;
      }
      break;
    }
    default:
      ebb_hold_release(context(), hold);
  }
}

void Machine::devices_and_contexts() {
  switch (in_.byte() % 8) {
    case 0:
      return create_context();
    case 1:
      ebb_context_destroy(context());
      break;
    case 2:
      set_budget();
      break;
    case 3: {
      auto info = output<ebb_device_info>();
      ebb_device_describe(device(), &info);
      break;
    }
    case 4: {
      uint64_t trimmed = 0;
      ebb_device_trim(device(), in_.size(), &trimmed);
      break;
    }
    case 5:
      return open_another();
    case 6: {
      uint64_t bytes = 0;
      ebb_parse_bytes(in_.text().c_str(), &bytes);
      break;
    }
    default: {
      auto info = output<ebb_tensor_info>();
      ebb_tensor_describe(context(), handles_.pick(in_), &info);
    }
  }
}

void Machine::set_budget() {
  const ebb_device which = device();
  ebb_device_set_budget(which, 1 + in_.size() % (8 * kBudget), in_.byte() % 3);
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
  if (ebb_device_open(&options, &made) != EBB_OK) return;
  devices_.keep(made);
  // Undone at once: one opening of the others stays, so that its name goes on being valid.
  ebb_device_close(made);
}

void Machine::books() {
  switch (in_.byte() % 8) {
    case 0:
      must(ebb_audit(), "audit between calls");
      break;
    case 1: {
      auto memory = output<ebb_memory>();
      ebb_memory_read(in_.byte() % 2 == 0 ? 0 : context(), in_.byte() % 2 == 0 ? 0 : device(),
                      &memory);
      break;
    }
    case 2:
      return report();
    case 3:
      ebb_site_intern(in_.text().c_str(), &site_);
      break;
    case 4:
      ebb_site_ending(in_.byte());
      break;
    case 5:
      ebb_trace_set(in_.byte() % 4);
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
  ebb_report(in_.byte() % 2 == 0 ? 0 : context(), &options, &text);
  ebb_text_free(text);
}

void Machine::nothing_given() {
  const ebb_context in = context();
  if (ebb_device_open(nullptr, nullptr) == EBB_OK ||
      ebb_context_create(nullptr, nullptr) == EBB_OK ||
      ebb_tensor_create(in, nullptr, nullptr) == EBB_OK ||
      ebb_tensor_adopt(in, nullptr, nullptr) == EBB_OK ||
      ebb_tensor_view(in, 1, 0, nullptr, nullptr) == EBB_OK ||
      ebb_tensor_describe(in, 1, nullptr) == EBB_OK ||
      ebb_region_open(in, 0, nullptr, nullptr) == EBB_OK ||
      ebb_hold_acquire(in, 1, nullptr) == EBB_OK || ebb_memory_read(in, 0, nullptr) == EBB_OK ||
      ebb_report(in, nullptr, nullptr) == EBB_OK || ebb_snapshot_write(nullptr) == EBB_OK) {
    give_up("null was taken");
  }
}

}  // namespace ebb::fuzz
