// Every allocation of loading a model fails in turn, and every tensor for want of a record: all of the model is as
// in the file, or as it was.
#include <gtest/gtest.h>

#include <new>

#include "ebb/nn/dense.hpp"
#include "ebb/nn/files.hpp"
#include "ebb/nn/normalisation.hpp"
#include "ebb/ops/functions/creation.hpp"
#include "ebb/ops/operators.hpp"
#include "fault/failing_new.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"
#include "support/temporary_folder.hpp"
#include "tensor/handle_table.hpp"

namespace ebb::fault {
namespace {

namespace fs = std::filesystem;

using Numbers = std::vector<std::vector<float>>;

struct Net final : nn::Layer {
  nn::Dense body{2, 3};
  nn::BatchNorm norm{3};

  Tensor operator()(const Tensor& x) override { return norm(body(x)); }
  void parts(nn::Parts& parts) override {
    parts.layer("body", body);
    parts.layer("norm", norm);
  }
};

// A context of its own, in which all numbers are the same.
class Training {
 public:
  explicit Training(float value) {
    const auto fill = [&](Variable* each) { each->assign(ops::zeros_like(each->value()) + value); };
    for (Variable* each : net.variables()) fill(each);
    for (Variable* each : adam.variables()) fill(each);
    adam.set_learning_rate(value);
  }

  Numbers numbers() {
    Numbers all;
    for (Variable* each : net.variables()) all.push_back(each->value().to_vector<float>());
    for (Variable* each : adam.variables()) all.push_back(each->value().to_vector<float>());
    all.push_back({static_cast<float>(adam.learning_rate())});
    return all;
  }

 private:
  Session session_;

 public:
  Net net;
  nn::Adam adam{net.weights()};
};

// A session whose context has records for so many tensors, and gets no more. A model's old values are in another one's,
// so theirs are no use.
class FullSession {
 public:
  explicit FullSession(std::size_t room) {
    const Tensor first = scalar(1.0f);
    stock().set_most(stock().taken());
    try {
      while (true) others_.push_back(first);
    } catch (const Error&) {
    }
    others_.resize(others_.size() - room);
  }
  ~FullSession() { stock().set_most(most_); }
  FullSession(const FullSession&) = delete;
  FullSession& operator=(const FullSession&) = delete;

 private:
  static HandleTable::Space::Pool::Stock& stock() { return HandleTable::Space::Pool::stock(); }

  const std::size_t most_ = stock().most();
  Session session_;
  std::vector<Tensor> others_;
};

class ModelFileFaults : public testing::Test {
 protected:
  using Load = void (*)(const std::filesystem::path&, Training&);
  static constexpr float kBefore = 1, kAfter = 2;

  ModelFileFaults() {
    Training saved(kAfter);
    nn::save(model_, saved.net);
    nn::save(checkpoint_, saved.net, saved.adam);
  }

  // Whether it was loaded.
  static bool attempt(const fs::path& path, Load load, Training& training) {
    try {
      load(path, training);
      return true;
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    }
    return false;
  }
  static void expect_whole(Training& training, bool loaded, const Numbers& before,
                           const Numbers& after) {
    EXPECT_EQ(training.numbers(), loaded ? after : before);
    Context::audit();
  }

  void fail_each(const fs::path& path, Load load) {
    const Numbers before = Training(kBefore).numbers();
    Training loaded(kBefore);
    load(path, loaded);
    const Numbers after = loaded.numbers();
    ASSERT_NE(before, after);
    std::uint64_t points = 0;
    for (std::uint64_t n = 1;; ++n, ++points) {
      SCOPED_TRACE(fmt::format("allocation {}", n));
      Training training(kBefore);
      fail_new_at(n, false);
      const bool done = attempt(path, load, training);
      const bool failed = stop_failing_new() != 0;
      expect_whole(training, done, before, after);
      if (!failed || HasFailure()) break;
    }
    std::uint64_t rooms = 0;
    for (bool done = false; !done && !HasFailure(); ++rooms) {
      SCOPED_TRACE(fmt::format("room for {} tensors", rooms));
      Training training(kBefore);
      const FullSession full(rooms);
      done = attempt(path, load, training);
      expect_whole(training, done, before, after);
    }
    EXPECT_GT(rooms, 10u);
    test::note("{}: {} allocations and {} tensors failed in turn", path.filename().string(), points,
               rooms - 1);
  }

  Session session_;  // keeps the device
  test::TemporaryFolder folder_;
  const fs::path model_ = folder_ / "model", checkpoint_ = folder_ / "checkpoint";
};

TEST_F(ModelFileFaults, AModelIsLoadedWhollyOrNotAtAll) {
  fail_each(model_, [](const fs::path& path, Training& to) { nn::load(path, to.net); });
}

TEST_F(ModelFileFaults, ACheckpointIsLoadedWhollyOrNotAtAll) {
  fail_each(checkpoint_,
            [](const fs::path& path, Training& to) { nn::load(path, to.net, to.adam); });
}

}  // namespace
}  // namespace ebb::fault
