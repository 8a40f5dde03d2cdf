// Writes JSON text, front to back, at the end of a string. Whoever owns the string may take away
// what is there at any time, so a large document needs little memory.
//
//   JsonWriter json(text);
//   json.begin_object();
//   json.member("bytes", 12u);
//   json.end_object();
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  // Any bytes: what is not UTF-8 becomes U+FFFD.
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool flag) { plain(flag ? "true" : "false"); }
  void value(std::nullptr_t) { plain("null"); }
  void value(double number);
  void value(std::unsigned_integral auto number) { integer(std::uint64_t{number}); }
  void value(std::signed_integral auto number) { integer(std::int64_t{number}); }

  template <typename T>
  void member(std::string_view name, const T& what) {
    key(name);
    value(what);
  }

  // The next element starts a line.
  void new_line() { new_line_ = true; }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);
  void plain(std::string_view text);
  void quote(std::string_view text);
  void integer(std::uint64_t number);
  void integer(std::int64_t number);

  std::string& out_;
  bool comma_ = false;  // something stands before, on this level
  bool new_line_ = false;
};

// Whether `value` writes the text as it is.
bool is_utf8(std::string_view text) noexcept;

}  // namespace ebb
