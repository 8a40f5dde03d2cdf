// A GPU's memory and queues, by the plug-in's table.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "backends/cuda/plugin.h"
#include "ebb/memory/device_link.hpp"
#include "ebb/memory/heap.hpp"

namespace ebb::cuda {

class CudaHeap final : public Heap, public DeviceLink {
 public:
  // `name` is "cuda:" and the GPU's number. Throws Error(kUnsupported) saying why it is not there.
  CudaHeap(const ebb_cuda_table& table, const std::string& name);
  ~CudaHeap() override;

  const ebb_cuda_table& table() const noexcept { return table_; }
  ebb_cuda_device* device() const noexcept { return device_; }
  // Turns a status into Ebb's errors; `who` begins the message.
  void check(ebb_cuda_status status, std::string_view who) const;

  // ---- Heap
  HeapTraits traits() const noexcept override;
  std::byte* reserve(std::size_t bytes) noexcept override;
  void unreserve(std::byte* base, std::size_t bytes) noexcept override;
  bool commit(std::byte* base, std::size_t bytes) noexcept override;
  void decommit(std::byte* base, std::size_t bytes) noexcept override;
  StreamId create_stream() override;
  void destroy_stream(StreamId stream) noexcept override;
  Ticket submitted(StreamId stream) const noexcept override;
  std::optional<Event> record(StreamId stream) noexcept override;
  bool done(Event event) noexcept override;
  void wait(Event event) noexcept override;
  void order(StreamId stream, Event event) noexcept override;
  DeviceLink* link() noexcept override { return this; }

  // ---- DeviceLink
  void write(StreamId stream, std::byte* to, std::span<const std::byte> from) override;
  void read(StreamId stream, std::span<std::byte> to, const std::byte* from) override;
  void copy(StreamId stream, std::byte* to, const std::byte* from, std::size_t bytes) override;
  void pack(StreamId stream, std::byte* to, const std::byte* from, std::size_t element,
            std::span<const std::int64_t> dims, std::span<const std::int64_t> strides) override;
  void begin_read(StreamId stream, std::byte* staging, const std::byte* from,
                  std::size_t bytes) override;
  std::byte* take_staging(std::size_t bytes) override;
  void give_staging(std::byte* staging) noexcept override;
  std::uint64_t staging_bytes() const noexcept override;
  void begin_capture(StreamId stream) override;
  void* end_capture(StreamId stream) override;
  bool captures(StreamId stream) const noexcept override { return capturing_[stream].load(); }
  void replay(void* graph, StreamId stream) override;
  void drop(void* graph) noexcept override;
  void set_option(const char* name, const char* value) override;
  void check() const override;

 private:
  const ebb_cuda_table& table_;
  const std::string name_;
  ebb_cuda_device* device_ = nullptr;
  std::size_t granule_ = 0;
  std::size_t capacity_ = 0;
  std::array<std::atomic<bool>, kMaxStreams> capturing_{};
};

}  // namespace ebb::cuda
