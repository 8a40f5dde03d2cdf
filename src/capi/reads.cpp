// Reads that nobody waits for, and tensors that move between devices.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "capi/names.hpp"
#include "ebb/ops/read.hpp"
#include "ebb/ops/run.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

// Few at a time: a host has some reads under way, not thousands.
class Reads {
 public:
  static Reads& instance() {
    static Reads* reads = std::make_unique<Reads>().release();
    return *reads;
  }

  ebb_read add(std::shared_ptr<AsyncRead> read) {
    const std::lock_guard lock(mutex_);
    reads_.emplace(++last_, std::move(read));
    return last_;
  }
  std::shared_ptr<AsyncRead> find(ebb_read name) const {
    const std::lock_guard lock(mutex_);
    const auto found = reads_.find(name);
    if (found == reads_.end()) {
      raise(ErrorKind::kStaleHandle, "[read] {} has ended, or never was", name);
    }
    return found->second;
  }
  void remove(ebb_read name) {
    std::shared_ptr<AsyncRead> ended;
    const std::lock_guard lock(mutex_);
    const auto found = reads_.find(name);
    if (found == reads_.end()) return;
    ended = std::move(found->second);
    reads_.erase(found);
  }

 private:
  mutable std::mutex mutex_;
  std::map<ebb_read, std::shared_ptr<AsyncRead>> reads_;
  ebb_read last_ = 0;
};

}  // namespace

extern "C" {

ebb_status ebb_read_begin(ebb_context context, ebb_handle handle, ebb_read* read, uint64_t* bytes) {
  return guarded([&] {
    ebb_read& name = needed(read, "read_begin");
    auto begun = std::make_shared<AsyncRead>(context_of(context), handle);
    const std::uint64_t size = begun->bytes();
    name = Reads::instance().add(std::move(begun));
    if (bytes != nullptr) *bytes = size;
  });
}

ebb_status ebb_read_poll(ebb_read read, uint32_t* done) {
  return guarded([&] { needed(done, "read_poll") = Reads::instance().find(read)->done() ? 1 : 0; });
}

ebb_status ebb_read_end(ebb_read read, void* data, uint64_t bytes) {
  return guarded([&] {
    const std::shared_ptr<AsyncRead> found = Reads::instance().find(read);
    if (bytes != 0) needed(static_cast<std::byte*>(data), "read_end");
    found->take({static_cast<std::byte*>(data), bytes});
    Reads::instance().remove(read);
  });
}

ebb_status ebb_read_drop(ebb_read read) {
  return guarded([&] { Reads::instance().remove(read); });
}

ebb_status ebb_tensor_copy_to(ebb_context context, ebb_handle handle, ebb_device device,
                              ebb_op_result* result) {
  return guarded([&] {
    ebb_op_result& copied = needed(result, "tensor_copy_to");
    const NamedDevice named(device);
    const Context maker = context_of(context);
    const ops::OpResult made = ops::copy_to({.context = maker, .device = *named}, handle);
    named.confirm([&] { maker.discard(made.handle); });
    copied.handle = made.handle;
    copied.dtype = static_cast<std::uint32_t>(made.dtype);
    copied.rank = static_cast<std::uint32_t>(made.shape.rank());
    std::ranges::copy(made.shape.dims(), copied.shape);
  });
}

}  // extern "C"
