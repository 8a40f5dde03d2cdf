// Bytes -> calls of ebb_op_run: an operation of the table, small operands, attributes that mostly
// fit their types. Whatever they say: results that are what they are described as, or an error that
// begins with the operation's name; books that balance after each call; and a call whose operands
// and results are small does not take long.
#pragma once

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

 private:
  void step();

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
  std::uint64_t succeeded_ = 0;
};

}  // namespace ebb::fuzz
