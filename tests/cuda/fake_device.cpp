#include "cuda/fake_device.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "ebb/ops/table.hpp"

namespace ebb::test::fake {

namespace {
thread_local std::string error_text;
}  // namespace

Faults& faults() noexcept {
  static Faults asked_for;
  return asked_for;
}

bool fails() noexcept {
  const std::uint64_t point = faults().points.fetch_add(1) + 1;
  const std::uint64_t n = faults().target.load();
  return n != 0 && (point == n || (point > n && faults().later.load()));
}

ebb_cuda_status fail(ebb_cuda_status status, std::string text) {
  error_text = std::move(text);
  return status;
}
const char* last_error() noexcept { return error_text.c_str(); }

}  // namespace ebb::test::fake

void ebb_cuda_device::queue(std::uint32_t id, std::uint32_t op, ebb::test::fake::Work work) {
  const std::lock_guard lock(mutex);
  Stream& stream = streams[id];
  if (stream.capturing) {
    stream.captured.push_back(std::move(work));
    return;
  }
  ++stream.submitted;
  stream.ops.push_back(op);
  stream.queue.push_back(std::move(work));
  if (!stream.works) {
    stream.works = true;
    std::thread([this, id] { serve(id); }).detach();
  }
  progress.notify_all();
}

void ebb_cuda_device::serve(std::uint32_t id) {
  std::unique_lock lock(mutex);
  Stream& stream = streams[id];
  for (;;) {
    while (stream.queue.empty() || ebb::test::fake::faults().held_back.load()) {
      progress.wait_for(lock, std::chrono::milliseconds(1));
    }
    ebb::test::fake::Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    lock.unlock();
    if (!lost.load()) work();
    lock.lock();
    ++stream.finished;
    progress.notify_all();
  }
}

void ebb_cuda_device::wait(std::uint32_t id, std::uint64_t ticket) {
  std::unique_lock lock(mutex);
  progress.wait(lock, [&] { return streams[id].finished >= ticket || lost.load(); });
}

void ebb_cuda_device::lose() {
  const std::lock_guard lock(mutex);
  loss = "an illegal memory access was encountered; queued since the last good point:";
  for (const Stream& stream : streams) {
    for (std::uint64_t t = stream.finished; t < stream.submitted; ++t) {
      const ebb::ops::OpSpec* spec = ebb::ops::find_op(static_cast<ebb::ops::OpId>(stream.ops[t]));
      loss += " " + std::string(spec == nullptr ? "copy" : spec->name);
    }
  }
  lost.store(true);
  progress.notify_all();
}
