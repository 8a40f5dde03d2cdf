// Work for an allocator, the same for every subject. Each function returns nanoseconds per
// operation.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "support/figures.hpp"

namespace ebb::bench {

template <typename Subject>
void hot_pairs(const Subject& subject, std::size_t bytes, long n) {
  for (long i = 0; i < n; ++i) {
    auto block = subject.allocate(bytes);
    benchmark::DoNotOptimize(block);
    subject.free(block);
  }
}

template <typename Subject>
double hot_pair(const Subject& subject, std::size_t bytes, long n = 400'000) {
  return time_each(n, [&](long count) { hot_pairs(subject, bytes, count); });
}

template <typename Subject>
double written_pair(const Subject& subject, std::size_t bytes, long n) {
  return time_each(n, [&](long count) {
    for (long i = 0; i < count; ++i) {
      auto block = subject.allocate(bytes);
      for (std::size_t at = 0; at < bytes; at += 4096) Subject::data(block)[at] = std::byte{1};
      benchmark::DoNotOptimize(block);
      subject.free(block);
    }
  });
}

// A million blocks, of which one after the other is replaced by one of another size.
template <typename Subject>
class Replacement {
 public:
  Replacement(Subject subject, std::size_t count) : subject_(subject), blocks_(count) {
    for (auto& block : blocks_) block = make();
  }
  ~Replacement() {
    for (auto& block : blocks_) subject_.free(block);
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  double run(long n) {
    return time_each(n, [this](long count) {
      for (long i = 0; i < count; ++i) {
        auto& block = blocks_[random_() % blocks_.size()];
        subject_.free(block);
        block = make();
      }
    });
  }

 private:
  auto make() {
    auto block = subject_.allocate(64 + random_() % 2048);
    *Subject::data(block) = std::byte{1};
    return block;
  }
  Subject subject_;
  std::mt19937 random_{7};
  std::vector<typename Subject::Block> blocks_;
};

// A window of live blocks, replaced in turn.
template <typename Subject>
void replace_in_window(const Subject& subject, long n) {
  std::array<typename Subject::Block, 64> window{};
  for (auto& block : window) block = subject.allocate(1024);
  for (long i = 0; i < n; ++i) {
    auto& block = window[std::size_t(i) % window.size()];
    subject.free(block);
    block = subject.allocate(256 + std::size_t(i % 7) * 512);
    benchmark::DoNotOptimize(block);
  }
  for (auto& block : window) subject.free(block);
}

// Each thread works on its own blocks. Starting and joining the threads does not count.
template <typename Subject>
double own_blocks(const Subject& subject, int threads, long n) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::atomic<int> finished{0};
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&] {
      replace_in_window(subject, 1000);
      ++ready;
      while (!go.load()) std::this_thread::yield();
      replace_in_window(subject, n);
      ++finished;
    });
  while (ready.load() < threads - 1) std::this_thread::yield();
  const double time = time_each_on_wall(n * threads, [&](long) {
    go = true;
    replace_in_window(subject, n);
    while (finished.load() < threads - 1) std::this_thread::yield();
  });
  for (std::thread& other : others) other.join();
  return time;
}

// A ring with one writer and one reader. Each side remembers how far the other was, so that the
// ring costs little beside what it is used to measure.
template <typename Block>
class Pipe {
 public:
  bool push(Block block) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - seen_head_ == kBlocks) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (tail - seen_head_ == kBlocks) return false;
    }
    ring_[tail % kBlocks] = block;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool pop(Block& block) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == seen_tail_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head == seen_tail_) return false;
    }
    block = ring_[head % kBlocks];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t kBlocks = 1024;
  alignas(128) std::atomic<std::size_t> head_{0};
  std::size_t seen_tail_ = 0;
  alignas(128) std::atomic<std::size_t> tail_{0};
  std::size_t seen_head_ = 0;
  alignas(128) std::array<Block, kBlocks> ring_;
};

// Two threads; each allocates n blocks for the other, and frees those that it is given.
template <typename Subject>
double exchange(const Subject& subject, long n) {
  using Block = typename Subject::Block;
  auto pipes = std::make_unique<std::array<Pipe<Block>, 2>>();
  const auto work = [&](std::size_t me) {
    Pipe<Block>& out = (*pipes)[me];
    Pipe<Block>& in = (*pipes)[1 - me];
    long sent = 0;
    long freed = 0;
    const auto drain = [&] {
      Block given;
      const long before = freed;
      while (in.pop(given)) {
        subject.free(given);
        ++freed;
      }
      if (freed == before) std::this_thread::yield();
    };
    while (sent < n || freed < n) {
      for (int i = 0; i < 32 && sent < n; ++i) {
        Block block = subject.allocate(256 + std::size_t(sent % 7) * 256);
        while (!out.push(block)) drain();
        ++sent;
      }
      drain();
    }
  };
  return time_each_on_wall(2 * n, [&](long) {
    std::thread other(work, 1);
    work(0);
    other.join();
  });
}

// One thread allocates n blocks, the other frees them.
template <typename Subject>
double hand_over(const Subject& subject, long n) {
  using Block = typename Subject::Block;
  auto pipe = std::make_unique<Pipe<Block>>();
  const auto consume = [&] {
    Block given;
    for (long freed = 0; freed < n;) {
      if (pipe->pop(given)) {
        subject.free(given);
        ++freed;
      } else {
        std::this_thread::yield();
      }
    }
  };
  return time_each_on_wall(n, [&](long) {
    std::thread consumer(consume);
    for (long i = 0; i < n; ++i) {
      const Block block = subject.allocate(256 + std::size_t(i % 7) * 256);
      while (!pipe->push(block)) std::this_thread::yield();
    }
    consumer.join();
  });
}

}  // namespace ebb::bench
