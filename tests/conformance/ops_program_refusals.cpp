// What drafts of programs and recorded functions refuse.
#include <thread>

#include "conformance/program_case.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using RefusedPrograms = ProgramCase;

TEST_F(RefusedPrograms, AreDoneOnce) {
  const Tensor x = numbers({3}, 1);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = ops::relu(x);
  const Program program = draft.finish({{y.handle()}});
  EXPECT_ERROR(draft.finish({{y.handle()}}), kWrongState, "[program_end]", "is done");
  EXPECT_ERROR(draft.input(y.handle()), kWrongState, "[program_input]", "is done");
  EXPECT_ERROR(draft.constant(y.handle()), kWrongState, "[program_constant]", "is done");
  EXPECT_ERROR(draft.replaces(x.handle()), kWrongState, "[program_replaces]", "is done");
  expect_same(run(program, {x}), {y});
}

TEST_F(RefusedPrograms, NoneIsNoArgument) {
  auto fast = record([](const Tensor& x, const Tensor& y) { return x + y; });
  const Tensor x = numbers({3}, 1);
  EXPECT_ERROR(fast(x, Tensor()), kInvalidArgument, "[record] argument 2 of 2 is none");
  static_cast<void>(fast(x, x));
  EXPECT_ERROR(fast(Tensor(), x), kInvalidArgument, "[record] argument 1 of 2 is none");
  EXPECT_EQ(bits(fast(x, x)), bits(x + x));
}

// What comes of inputs or variables may be something else in the next call.
TEST_F(RefusedPrograms, ValuesAreNotLookedAt) {
  const Tensor x = numbers({3}, 1);
  Variable w(numbers({3}, 2));
  const auto expect_refused = [&](const auto& look) {
    auto fast = record(
        [&](const Tensor& given) {
          look(given);
          return given + w.value();
        },
        {&w});
    for (int i = 0; i < 2; ++i) {
      EXPECT_ERROR(fast(x), kWrongState, "[record] the values of a float32 tensor of shape",
                   "look at them outside");
    }
    EXPECT_EQ(fast.info().recorded, 0u);
  };
  expect_refused([](const Tensor& in) { static_cast<void>(in.to_vector<float>()); });
  expect_refused([](const Tensor& in) { static_cast<void>(Tensor(in).to_vector<float>()); });
  expect_refused([](const Tensor& in) { static_cast<void>(ops::sum(in, {0}).item<float>()); });
  expect_refused([&](const Tensor&) { static_cast<void>(w.value().to_vector<float>()); });
  expect_refused([&](const Tensor& in) {
    w.assign(in * 2.0);
    static_cast<void>(w.value().to_vector<float>());
  });
  expect_refused([&](const Tensor&) { static_cast<void>(numbers({3}, 0).to_vector<float>()); });
  expect_refused([&](const Tensor& in) { const AsyncRead read(in.context(), in.handle()); });
  expect_refused([&](const Tensor& in) {
    std::vector<std::byte> bytes(12);
    ops::read(in.context(), in.handle(), bytes);
  });
  expect_refused([&](const Tensor& in) {
    static_cast<void>(Tensor(in.context(), ops::copy_to(session_.place(), in.handle()).handle));
  });
  // Also within a tape, and in a function that is a part of another.
  expect_refused([&](const Tensor& in) {
    const auto loss = [&](const Tensor& a) {
      const Tensor made = ops::sum(a * w.value(), {0});
      static_cast<void>(made.item<float>());
      return made;
    };
    static_cast<void>(grad(loss)(in));
  });
  auto inner = record([](const Tensor& a) { return a * 3.0; }, {}, {.looks = true});
  expect_refused([&](const Tensor& in) { static_cast<void>(inner(in).to_vector<float>()); });
  expect_refused([&](const Tensor& in) { static_cast<void>(inner(in).to_vector<float>()); });
}

// Constants are the same in each call: what was seen of them holds.
TEST_F(RefusedPrograms, ValuesOfConstantsMayBeLookedAt) {
  const Tensor x = numbers({3}, 1), outside = numbers({3}, 2), large = numbers({200, 200}, 3);
  float seen = 0;
  auto fast = record([&](const Tensor& given) {
    seen += outside.to_vector<float>()[1];
    seen += ops::sum(outside * scalar(2.0F), {0}).item<float>();
    seen += ops::relu(large * large).to_vector<float>()[7];
    seen += ops::ones_like(given).to_vector<float>()[0];
    return given * double(seen);
  });
  const std::vector<float> first = fast(x).to_vector<float>();
  EXPECT_EQ(fast(x).to_vector<float>(), first);
  EXPECT_EQ(fast.info().replayed, 1u);
  EXPECT_FLOAT_EQ(first[0], x.to_vector<float>()[0] * seen);
}

TEST_F(RefusedPrograms, ValuesMayBeLookedAtWhereThatIsAskedFor) {
  float seen = 0;
  auto fast = record(
      [&](const Tensor& given) {
        seen += given.item<float>();
        return given * double(seen);
      },
      {}, {.looks = true});
  EXPECT_EQ(fast(scalar(2.0F)).item<float>(), 4);
  EXPECT_EQ(fast(scalar(3.0F)).item<float>(), 6);  // as it was seen
  EXPECT_EQ(seen, 2);
}

// Another thread's reads are its own.
TEST_F(RefusedPrograms, OtherThreadsMayLook) {
  const Tensor x = numbers({3}, 1);
  auto fast = record([&](const Tensor& given) {
    std::thread([&] { EXPECT_EQ(given.to_vector<float>(), x.to_vector<float>()); }).join();
    return given * 2.0;
  });
  EXPECT_EQ(bits(fast(x)), bits(x * 2.0));
  EXPECT_EQ(x.to_vector<float>().size(), 3u);  // nobody minds any more
}

TEST_F(RefusedPrograms, NoneIsNoResult) {
  bool gives = false;
  auto fast = record([&](const Tensor& x) -> Tensors { return {x, gives ? x : Tensor()}; });
  const Tensor x = numbers({3}, 1);
  EXPECT_ERROR(fast(x), kInvalidArgument, "[record] result 2 of 2 is none");
  gives = true;
  expect_same(fast(x), {x, x});
}

}  // namespace
}  // namespace ebb::test
