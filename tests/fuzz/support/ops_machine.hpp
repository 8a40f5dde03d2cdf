// Bytes -> calls of ebb_op_run: an operation of the table, small operands, attributes that mostly
// fit their types; now and then a call of a tape or of a program that hears them. Whatever they say: results that are
// what they are described as, or an error that begins with the operation's name; books that balance
// after each call; and a call whose operands and results are small does not take long.
#pragma once

#include <array>
#include <span>

#include "ebb/ops/table.hpp"
#include "fuzz/support/input.hpp"

namespace ebb::fuzz {

class OpsMachine {
 public:
  explicit OpsMachine(Input in);
  void run();
  // Ends everything, and finds nothing in use.
  void finish();
  std::uint64_t calls() const { return calls_; }
  std::uint64_t succeeded() const { return succeeded_; }
  // Ways back over a tape, and gradients that they gave.
  std::uint64_t passed() const { return passed_; }
  std::uint64_t gradients() const { return gradients_; }
  // Runs of programs.
  std::uint64_t ran() const { return ran_; }

 private:
  void step();

  // ---- tapes, in ops_tapes.cpp
  struct OpenTape {
    ebb_tape name;
    std::uint64_t opened_at;  // calls before it
    std::array<ebb_handle, 4> watched{};
    std::size_t watches = 0;
  };
  void tape_step();
  void open_tape();
  void close_tape(std::size_t which);
  void pass_tape(const OpenTape& tape);
  void check_gradient(ebb_handle wanted, ebb_handle gradient);
  void misuse_tape();
  void watch_some(OpenTape& tape);
  ebb_handle known_tensor();
  ebb_handle late_tensor();
  ebb_handle noted_tensor();
  OpenTape& some_tape();

  // ---- programs, in ops_programs.cpp
  struct Value {
    ebb_tensor_info info{};
    std::vector<unsigned char> bytes;
  };
  struct OpenProgram {
    ebb_program name = 0;
    std::uint32_t flags = 0;
    bool is_recorded = false;
    std::uint64_t begun_at = 0, calls = 0;
    bool draws = false;             // random numbers
    std::vector<ebb_handle> given;  // inputs, then captured ones
    std::vector<Value> outputs;     // as they were when it was recorded
  };
  void program_step();
  void begin_program();
  void declare_some(OpenProgram& program);
  void end_program(OpenProgram& program);
  void run_program(OpenProgram& program);
  void check_output(const Value& recorded, const ebb_op_result& result, bool is_same);
  void free_program(std::size_t which);
  void misuse_program();
  void note_draws(const ops::OpSpec* spec);
  Value value_of(ebb_handle handle);

  // ---- operands
  ebb_handle operand();
  ebb_handle make_tensor();
  void read_shape();
  void read_empty_shape();
  void fill(ebb_handle handle, ebb_dtype dtype);
  void keep(ebb_handle handle);

  // ---- attributes
  void add_attributes(const ops::OpSpec& spec);
  void add_attribute(ops::AttributeType type);
  double integer();
  std::uint64_t edge(unsigned most);
  double number();

  // ---- what came of it
  void check_error(const ops::OpSpec* spec, ebb_status status) const;
  std::uint64_t bytes_of_inputs() const;
  std::uint64_t check_result(const ebb_op_result& result);

  Input in_;
  ebb_device device_ = 0;
  ebb_context context_ = 0;
  std::vector<ebb_handle> tensors_;  // live, but for a few that were disposed
  std::size_t next_ = 0;
  std::vector<std::int64_t> shape_;
  std::vector<ebb_handle> inputs_;
  std::vector<double> attributes_;
  std::vector<unsigned char> bytes_;
  std::uint64_t calls_ = 0;
  std::uint64_t succeeded_ = 0, passed_ = 0, gradients_ = 0, ran_ = 0;
  std::vector<OpenTape> tapes_;
  ebb_tape closed_ = 0;  // the last
  std::vector<OpenProgram> programs_;
  ebb_program freed_ = 0;  // the last
  std::uint64_t overwritings_ = 0;
};

}  // namespace ebb::fuzz
