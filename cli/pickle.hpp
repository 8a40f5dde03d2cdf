// Writes Python's pickle, protocol 4: what plain dicts, lists, numbers and text need.
//
//   PickleWriter out;
//   out.begin_dict();
//   out.text("size");
//   out.number(12);
//   out.end_dict();
//   file << out.take();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ebb::cli {

class PickleWriter {
 public:
  PickleWriter() : bytes_("\x80\x04", 2) {}

  // Keys and values in turn.
  void begin_dict() { bytes_ += "}("; }
  void end_dict() { bytes_ += 'u'; }
  void begin_list();
  // Before each item of a list that may be long: readers take them in batches.
  void item();
  void end_list();
  void number(std::uint64_t value);
  void flag(bool value) { bytes_ += value ? '\x88' : '\x89'; }
  // Pre: UTF-8.
  void text(std::string_view value);
  // The value written last gets a number, by which it can be had again: readers keep one object.
  std::uint32_t remember();
  void again(std::uint32_t remembered);

  std::string take() { return std::move(bytes_) + '.'; }

 private:
  void little(std::uint64_t value, int bytes);

  std::string bytes_;
  std::vector<std::uint32_t> items_;  // in the batches of the lists that are open
  std::uint32_t remembered_ = 0;
};

}  // namespace ebb::cli
