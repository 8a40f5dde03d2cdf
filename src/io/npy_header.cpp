#include "io/npy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "ebb/base/error.hpp"
#include "io/excerpt.hpp"

namespace ebb::io {
namespace {

using std::string_view;

constexpr string_view kMagic("\x93NUMPY", 6);

struct Name {
  DType dtype;
  string_view descr;
};
// The first name of a dtype is the one that is written.
constexpr auto kNames = std::to_array<Name>({{DType::kFloat32, "<f4"},
                                             {DType::kInt32, "<i4"},
                                             {DType::kBool, "|b1"},
                                             {DType::kComplex64, "<c8"},
                                             {DType::kFloat64, "<f8"},
                                             {DType::kInt64, "<i8"},
                                             {DType::kUint8, "|u1"},
                                             {DType::kFloat16, "<f2"},
                                             {DType::kInt8, "|i1"},
                                             {DType::kUint8, "<u1"},
                                             {DType::kInt8, "<i1"},
                                             {DType::kBool, "<b1"}});

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  raise(ErrorKind::kInvalidArgument, "[npy] {}", fmt::format(format, std::forward<Args>(args)...));
}

DType dtype_of(string_view descr) {
  for (const Name& name : kNames) {
    if (name.descr == descr) return name.dtype;
  }
  raise(ErrorKind::kUnsupported,
        "[npy] dtype '{}' was given, <f4 <i4 |b1 <c8 <f8 <i8 |u1 <f2 |i1 are allowed",
        excerpt(descr));
}

// As much of Python's grammar as the dictionary needs.
class Dictionary {
 public:
  explicit Dictionary(string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true)) {
        header.dtype = dtype_of(quoted());
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        header.shape = shape();
      } else {
        refuse("key '{}' is in the header, descr, fortran_order and shape are allowed once",
               excerpt(key));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) refuse("the header goes on after its dictionary");
    if (!has_descr || !has_order || !has_shape) {
      refuse("the header lacks one of descr, fortran_order and shape");
    }
    return header;
  }

 private:
  void skip_space() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) noexcept {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse("'{}' is missing at {} of the header", c, at_);
  }

  string_view quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') refuse("a string is missing at {} of the header", at_);
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == string_view::npos) refuse("a string does not end in the header");
    const string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  bool boolean() {
    skip_space();
    for (const string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();  // arithmetic: within the text
        return word == "True";
      }
    }
    refuse("fortran_order is neither True nor False");
  }

  Shape shape() {
    std::array<std::int64_t, kMaxRank> dims{};
    std::size_t rank = 0;
    expect('(');
    while (!take(')')) {
      if (rank == kMaxRank) refuse("the shape has more than {} extents", kMaxRank);
      dims[rank++] = number();
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return Shape(std::span<const std::int64_t>(dims.data(), rank));
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = -1;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) {
      refuse("an extent is missing or not allowed at {} of the header", at_);
    }
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  string_view text_;
  std::size_t at_ = 0;
};

std::size_t little_endian(string_view bytes) noexcept {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

NpyHeader parse_npy_header(Source& file) {
  constexpr std::size_t kShortest = 10, kWide = 12;  // magic, version, length in 2 or 4 bytes
  const auto text_at = [&](std::size_t at, std::size_t count) {
    const auto bytes = file.bytes(at, count);
    return string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const string_view head = text_at(0, std::min<std::uint64_t>(file.size(), kWide));
  if (!head.starts_with(kMagic) || head.size() < kShortest) {
    refuse("the file has {} bytes and does not begin as a .npy file", file.size());
  }
  const int version = head[6];
  if (version < 1 || version > 3) refuse("version {} was given, 1 to 3 are allowed", version);
  const std::size_t begin = version == 1 ? kShortest : kWide;
  if (head.size() < begin) refuse("the file ends in its header");
  const std::size_t length = little_endian(head.substr(8, begin - 8));
  if (length > file.size() - begin) refuse("the header has {} bytes, the file ends before", length);
  NpyHeader header = Dictionary(text_at(begin, length)).parse();
  header.data_at = begin + length;  // arithmetic: within the file
  return header;
}

std::string format_npy_header(DType dtype, const Shape& shape) {
  string_view descr;
  for (std::size_t i = kNames.size(); i-- > 0;) {
    if (kNames[i].dtype == dtype) descr = kNames[i].descr;
  }
  if (descr.empty()) {
    raise(ErrorKind::kUnsupported, "[npy] NumPy has no name for dtype {}", name_of(dtype));
  }
  std::string dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    dims += fmt::format("{}{}", i == 0 ? "" : ", ", shape.dims()[i]);
  }
  if (shape.rank() == 1) dims += ",";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  // NumPy leaves room to grow: the first extent could become as long as 21 digits.
  if (shape.rank() > 0) text.append(21 - std::to_string(shape.dims()[0]).size(), ' ');
  constexpr std::size_t kBefore = 10, kAlignment = 64;
  const std::size_t padding = kAlignment - (kBefore + text.size() + 1) % kAlignment;
  text.append(padding, ' ');
  text += '\n';
  std::string header(kMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;  // arithmetic: of texts
}

}  // namespace ebb::io
