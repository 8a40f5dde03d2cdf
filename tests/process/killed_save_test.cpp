// A process that is killed while it saves leaves the old file or the new one under the name.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "ebb/io/npy.hpp"
#include "ebb/io/safetensors.hpp"
#include "ebb/ops/session.hpp"
#include "ebb/tensor/snapshot.hpp"
#include "process/child.hpp"
#include "support/seed.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kElements = 1 << 18;

Tensor filled(float value) { return tensor(std::vector<float>(kElements, value), {kElements}); }

bool is_of_one_piece(const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector<float>();
  return values.size() == kElements && std::ranges::count(values, values[0]) == kElements;
}

struct Kind {
  const char* name;
  void (*save)(const fs::path&, const Tensor&);
  bool (*whole)(const fs::path&);
};
constexpr Kind kKinds[] = {
    {"npy", io::save_npy, [](const fs::path& path) { return is_of_one_piece(io::load_npy(path)); }},
    {"safetensors",
     [](const fs::path& path, const Tensor& tensor) {
       io::save_safetensors(path, {{{"x", tensor}}, {}});
     },
     [](const fs::path& path) { return is_of_one_piece(io::load_safetensors(path).at("x")); }},
    {"snapshot", [](const fs::path& path, const Tensor&) { write_snapshot(path.string()); },
     [](const fs::path& path) {
       return nlohmann::json::parse(std::ifstream(path))["format"] == "ebb-snapshot";
     }},
};

TEST(KilledWhileSaving, NeverLeavesATornFile) {
  const auto kills = from_environment("EBB_KILLS", 150);
  std::mt19937_64 random(seed_for("killed while saving", 7));
  const TemporaryFolder folder;
  Session session;
  std::vector<Tensor> some;  // a snapshot has something to tell
  for (int i = 0; i < 5000; ++i) some.push_back(scalar(1.0f));
  const Tensor one = filled(1), two = filled(2);
  std::uint64_t drafts = 0;
  for (std::uint64_t i = 0; i < kills; ++i) {
    const Kind& kind = kKinds[i % std::size(kKinds)];
    const fs::path path = folder / kind.name;
    if (!fs::exists(path)) kind.save(path, one);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        kind.save(path, one);
        kind.save(path, two);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_TRUE(kind.whole(path)) << kind.name;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().extension() != ".part") continue;
      ++drafts;
      fs::remove(entry.path());
    }
  }
  note("files: {} processes killed while saving, {} of them left a draft", kills, drafts);
  EXPECT_GT(drafts, kills / 20) << "they are killed within a save, not beside it";
}

}  // namespace
}  // namespace ebb::test
