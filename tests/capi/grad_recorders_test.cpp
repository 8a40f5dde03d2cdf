// Tapes and recorded programs where the host's callbacks, and the end of a thread, call back into
// what they belong to.
#include <memory>
#include <thread>

#include "capi/capi_fixture.hpp"

namespace {

// Two contexts on a device with room for a few results, so that operations collect.
class Recorders : public CapiTest {
 protected:
  static constexpr int64_t kElements = 256 << 10;  // 1 MB

  void SetUp() override {
    CapiTest::SetUp();
    cpu = open_device(EBB_DEVICE_SYSTEM, "small", 0, 8 * kMegabyte);
    const ebb_context_options options = host.options("other");
    ASSERT_OK(ebb_context_create(&options, &other));
    ebb_reclaim_set(1);
    x = ones(context);
  }
  void TearDown() override {
    host.in_collect = nullptr;
    EXPECT_OK(ebb_context_destroy(other));
    EXPECT_OK(ebb_context_destroy(context));
    context = 0;
    EXPECT_OK(ebb_device_close(cpu));
    CapiTest::TearDown();
  }

  ebb_handle ones(ebb_context in) {
    ebb_op_result made{};
    const double attributes[] = {1, double(kElements), 1, EBB_FLOAT32};
    EXPECT_OK(
        ebb_op_run(in, cpu, ebb_op_find("Fill"), nullptr, 0, attributes, 4, &made, 1, nullptr));
    return made.handle;
  }
  // A tape keeps nothing for its gradient.
  ebb_handle negative(ebb_handle of) {
    ebb_op_result made{};
    EXPECT_OK(ebb_op_run(context, cpu, ebb_op_find("Neg"), &of, 1, nullptr, 0, &made, 1, nullptr));
    return made.handle;
  }
  // So that whatever is made next collects.
  void fill_with_garbage() {
    ebb_reclaim_set(0);
    ebb_op_result made{};
    while (ebb_op_run(context, cpu, ebb_op_find("Neg"), &x, 1, nullptr, 0, &made, 1, nullptr) ==
           EBB_OK) {
      host.garbage.push_back(made.handle);
    }
    ebb_reclaim_set(1);
  }
  // Operations until one has collected.
  void run_until_collected() {
    const int before = host.minor + host.major;
    for (int i = 0; i < 32 && host.minor + host.major == before; ++i) {
      host.garbage.push_back(negative(x));
    }
    EXPECT_GT(host.minor + host.major, before);
    host.in_collect = nullptr;
  }

  ebb_device cpu = 0;
  ebb_context other = 0;
  ebb_handle x = 0;
};

TEST_F(Recorders, OfAnotherContextStayWhileAnOperationIsHeard) {
  ebb_tape tape = 0, within = 0;
  ebb_program program = 0;
  ASSERT_OK(ebb_tape_open(other, &tape));
  ASSERT_OK(ebb_program_begin(other, nullptr, 0, 0, &program));
  host.in_collect = [&] {
    EXPECT_STATUS(ebb_tape_close(tape), EBB_WRONG_STATE);
    EXPECT_STATUS(ebb_tape_backward(tape, cpu, nullptr, 0, nullptr, nullptr, 0, nullptr),
                  EBB_WRONG_STATE);
    EXPECT_STATUS(ebb_tape_open(other, &within), EBB_WRONG_STATE);
    EXPECT_STATUS(ebb_program_free(program), EBB_WRONG_STATE);
    EXPECT_STATUS(ebb_program_end(program, nullptr, 0, nullptr), EBB_WRONG_STATE);
    EXPECT_STATUS(ebb_program_begin(other, nullptr, 0, 0, &within), EBB_WRONG_STATE);
  };
  run_until_collected();
  ebb_program_info info = sized<ebb_program_info>();
  EXPECT_OK(ebb_program_end(program, nullptr, 0, &info));
  EXPECT_OK(ebb_program_free(program));
  EXPECT_OK(ebb_tape_close(tape));
  EXPECT_STATUS(ebb_tape_stop(tape), EBB_STALE_HANDLE);
}

TEST_F(Recorders, HearWhatIsUnderWayWhateverTheCallbackRuns) {
  const ebb_handle theirs = ones(other);
  ebb_tape tape = 0;
  ASSERT_OK(ebb_tape_open(context, &tape));
  ASSERT_OK(ebb_tape_watch(tape, x));
  ebb_handle last = 0;
  const int before = host.minor + host.major;
  host.in_collect = [&] {
    ebb_tape within = 0;
    static_cast<void>(ebb_tape_open(other, &within));
    ebb_op_result made{};
    static_cast<void>(
        ebb_op_run(other, cpu, ebb_op_find("Floor"), &theirs, 1, nullptr, 0, &made, 1, nullptr));
    static_cast<void>(ebb_tensor_dispose(other, made.handle));
    static_cast<void>(ebb_tape_close(within));
  };
  for (int i = 0; i < 32 && host.minor + host.major == before; ++i) {
    if (last != 0) host.garbage.push_back(last);
    last = negative(x);
  }
  ASSERT_GT(host.minor + host.major, before);
  host.in_collect = nullptr;
  ebb_handle gradient = 0;
  ASSERT_OK(ebb_tape_backward(tape, cpu, &last, 1, nullptr, &x, 1, &gradient));
  EXPECT_NE(gradient, 0u) << "the operation that collected was not noted";
  EXPECT_OK(ebb_tape_close(tape));
}

TEST_F(Recorders, MayBeClosedInsideTheirOwnWayBack) {
  ebb_tape tape = 0;
  ASSERT_OK(ebb_tape_open(context, &tape));
  ASSERT_OK(ebb_tape_watch(tape, x));
  const ebb_handle y = negative(x), z = negative(y);
  fill_with_garbage();
  bool closed = false;
  ebb_handle again = 7;
  host.in_collect = [&] {
    EXPECT_NE(ebb_tape_backward(tape, cpu, &z, 1, nullptr, &x, 1, &again), EBB_OK);
    EXPECT_OK(ebb_tape_close(tape));
    closed = true;
  };
  ebb_handle gradient = 0;
  const ebb_status status = ebb_tape_backward(tape, cpu, &z, 1, nullptr, &x, 1, &gradient);
  EXPECT_TRUE(status == EBB_OK || status == EBB_OUT_OF_MEMORY) << ebb_last_error();
  EXPECT_TRUE(closed);
  EXPECT_EQ(again, 7u);
  EXPECT_STATUS(ebb_tape_stop(tape), EBB_STALE_HANDLE);
}

// What a thread-local object of the program's does when its thread ends, before or after Ebb's own.
struct AtThreadEnd {
  ~AtThreadEnd() {
    if (work) work();
  }
  std::function<void()> work;
};
thread_local AtThreadEnd at_thread_end;

TEST_F(Recorders, AreNotOpenedByAThreadThatHasEnded) {
  ebb_tape tape = 0, late_tape = 0;
  ebb_program program = 0, late_program = 0;
  ebb_status statuses[6] = {};
  std::thread([&] {
    at_thread_end.work = [&] {  // made before Ebb has anything of this thread: it ends after
      statuses[0] = ebb_tape_open(context, &late_tape);
      statuses[1] = ebb_tape_watch(tape, x);
      statuses[2] = ebb_tape_close(tape);
      statuses[3] = ebb_program_begin(context, &x, 1, 0, &late_program);
      statuses[4] = ebb_program_input(program, x);
      statuses[5] = ebb_program_free(program);
    };
    ASSERT_OK(ebb_tape_open(context, &tape));
    ASSERT_OK(ebb_tape_watch(tape, x));
    ASSERT_OK(ebb_program_begin(context, &x, 1, 0, &program));
    host.garbage.push_back(negative(x));
  }).join();
  EXPECT_EQ(statuses[0], EBB_WRONG_STATE);
  EXPECT_EQ(statuses[1], EBB_STALE_HANDLE);
  EXPECT_EQ(statuses[2], EBB_OK);
  EXPECT_EQ(statuses[3], EBB_WRONG_STATE);
  EXPECT_EQ(statuses[4], EBB_STALE_HANDLE);
  EXPECT_EQ(statuses[5], EBB_OK);
}

}  // namespace
