// Very many calls of the C ABI: the machines that the fuzzers drive, fed with random bytes instead,
// in processes of their own, without sanitizers. A machine that gives up ends its process; the line
// it leaves names the seed, which repeats it.
//
//   soak_calls --seconds 600 --processes 4 --seed 1       # prints the calls that were made
//   soak_calls --repeat 123456                            # one input again, in this process
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "fuzz/support/capi_machine.hpp"
#if defined(EBB_SOAK_OPS)
#include "fuzz/support/ops_machine.hpp"
#endif

namespace {

constexpr int kSteps = 4000;  // what is alive grows with them, and the cost of an audit with that
constexpr std::size_t kBytes = 128 << 10;

struct Options {
  double seconds = 60;
  unsigned processes = 2;
  std::uint64_t seed = 1;
  std::uint64_t repeated = 0;
};

std::vector<std::uint8_t> bytes_of(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, sizeof(word));
  }
  return bytes;
}

std::uint64_t run(std::uint64_t seed) {
#if defined(EBB_SOAK_OPS)
  if (seed % 8 == 0) {
    const std::vector<std::uint8_t> bytes = bytes_of(seed, 64 << 10);
    ebb::fuzz::OpsMachine machine(ebb::fuzz::Input(bytes.data(), bytes.size()));
    machine.run();
    machine.finish();
    return machine.calls();
  }
#endif
  const std::vector<std::uint8_t> bytes = bytes_of(seed, kBytes);
  ebb::fuzz::Machine machine(ebb::fuzz::Input(bytes.data(), bytes.size()));
  machine.run(kSteps);
  machine.finish();
  return machine.calls();
}

// In a process of its own. What it has done so far is in the pipe when it crashes.
void work(const Options& options, unsigned process, int to) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  std::uint64_t input = 0;
  while (std::chrono::steady_clock::now() < end) {
    const std::uint64_t seed = options.seed * 1'000'000'007 + process + options.processes * input++;
    char line[64];
    std::snprintf(line, sizeof(line), "%llu", static_cast<unsigned long long>(seed));
    setenv("EBB_SOAK_INPUT", line, 1);
    const std::uint64_t calls = run(seed);
    if (write(to, &calls, sizeof(calls)) != sizeof(calls)) std::_Exit(2);
  }
  std::_Exit(0);
}

int soak(const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) return 2;
  std::vector<pid_t> children;
  for (unsigned i = 0; i < options.processes; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      work(options, i, ends[1]);
    }
    children.push_back(child);
  }
  close(ends[1]);
  std::uint64_t calls = 0, inputs = 0, total = 0;
  while (read(ends[0], &calls, sizeof(calls)) == sizeof(calls)) {
    total += calls;
    ++inputs;
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed += status == 0 ? 0 : 1;
  }
  std::printf("note: %llu calls of the C ABI in %llu inputs, %d of %u processes failed\n",
              static_cast<unsigned long long>(total), static_cast<unsigned long long>(inputs),
              failed, options.processes);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    const char* value = arguments[i + 1];
    if (name == "--seconds") options.seconds = std::atof(value);
    if (name == "--processes") options.processes = static_cast<unsigned>(std::atoi(value));
    if (name == "--seed") options.seed = std::strtoull(value, nullptr, 10);
    if (name == "--repeat") options.repeated = std::strtoull(value, nullptr, 10);
  }
  if (options.repeated == 0) return soak(options);
  std::printf("%llu calls\n", static_cast<unsigned long long>(run(options.repeated)));
  return 0;
}
