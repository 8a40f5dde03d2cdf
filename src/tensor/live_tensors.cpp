#include "tensor/live_tensors.hpp"

#include <mutex>
#include <vector>

#include "tensor/context_body.hpp"
#include "tensor/context_registry.hpp"

namespace ebb {

class LiveTensors {
 public:
  // Contexts are never destroyed; one that is recycled meanwhile is found empty.
  static std::vector<ContextBody*> contexts() {
    std::vector<ContextBody*> all;
    ContextRegistry::instance().for_each([&](ContextBody& context) { all.push_back(&context); });
    return all;
  }

  static void rows(ContextBody& context, const std::function<void(const LiveRow&)>& use) {
    context.for_each_row<LiveRow>(
        false, [&](const TensorRecord& record) { return row(context, record); }, use);
  }

  static Books books(ContextBody& context, const Device& device) {
    std::lock_guard guard(context.lock_);
    return context.books(&device);
  }
  static std::uint64_t orphans(const ContextBody& context) {
    return context.handles_.orphans().waiting();
  }

 private:
  static LiveRow row(const ContextBody& context, const TensorRecord& record) {
    LiveRow row{.birth = context.storage_event(*record.storage, kTensorBorn),
                .rank = record.rank,
                .dims = record.dims};
    row.birth.id = record.name();
    row.birth.site = record.site;
    row.birth.detail = static_cast<std::uint8_t>(record.dtype);
    return row;
  }
};

void for_each_live_tensor(const std::function<void(const LiveRow&)>& use) {
  for (ContextBody* context : LiveTensors::contexts()) LiveTensors::rows(*context, use);
}

Books books_as_they_are(const Device& device) {
  Books sum = ContextRegistry::instance().ended(&device).books;
  for (ContextBody* context : LiveTensors::contexts()) sum += LiveTensors::books(*context, device);
  return sum;
}

std::uint64_t orphans_waiting() {
  std::uint64_t sum = 0;
  for (const ContextBody* context : LiveTensors::contexts()) sum += LiveTensors::orphans(*context);
  return sum;
}

}  // namespace ebb
