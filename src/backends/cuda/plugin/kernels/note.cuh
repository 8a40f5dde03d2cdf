// What a kernel has to tell the host before the call can go on: that an index was out of range, how
// many elements an output has. A few words of pinned memory for each thread, which kernels write
// and the host reads once its stream has come so far.
#pragma once

#include <string>
#include <utility>

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {

class Note {
 public:
  static constexpr int kWords = 16;

  explicit Note(cudaStream_t stream) : stream_(stream), words_(page()) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "a stream's state");
    captured_ = status != cudaStreamCaptureStatusNone;
    for (int i = 0; i < kWords; ++i) words_[i] = 0;
  }

  // For kernels; null while the stream is captured, when nobody will read it.
  std::int64_t* words() const { return captured_ ? nullptr : words_; }

  // Word 0 is not 0: something was wrong. False while the stream is captured.
  bool complains() {
    if (captured_) return false;
    check(cudaStreamSynchronize(stream_), "waiting for a stream");
    return words_[0] != 0;
  }

  std::int64_t word(int i) const { return words_[i]; }

  // For outputs whose shape depends on data: words that kernels write, then what they wrote.
  std::int64_t* needed(const char* operation) const {
    if (captured_) {
      throw Failure{EBB_CUDA_FAILED,
                    std::string(operation) + " cannot be captured: what it makes depends on data"};
    }
    return words_;
  }
  const std::int64_t* wait() const {
    check(cudaStreamSynchronize(stream_), "waiting for a stream");
    return words_;
  }

 private:
  struct Page {
    std::int64_t* words = nullptr;
    ~Page() {
      if (words != nullptr) (void)cudaFreeHost(words);
    }
  };
  static std::int64_t* page() {
    thread_local Page page;
    if (page.words == nullptr) {
      void* memory = nullptr;
      check(cudaHostAlloc(&memory, kWords * sizeof(std::int64_t),
                          cudaHostAllocPortable | cudaHostAllocMapped),
            "pinned memory");
      page.words = static_cast<std::int64_t*>(memory);
    }
    return page.words;
  }

  cudaStream_t stream_;
  std::int64_t* words_;
  bool captured_ = false;
};

[[noreturn]] inline void bad_data(std::string text) {
  throw Failure{EBB_CUDA_BAD_DATA, std::move(text)};
}

#ifdef __CUDACC__
// Any of those that complain is as good as the first.
__device__ inline void complain(std::int64_t* note, std::int64_t a, std::int64_t b = 0,
                                std::int64_t c = 0) {
  if (note == nullptr) return;
  note[1] = a;
  note[2] = b;
  note[3] = c;
  note[0] = 1;
}
#endif

}  // namespace ebb::cuda
