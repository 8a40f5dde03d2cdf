#include "io/safetensors_header.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ebb/base/error.hpp"
#include "io/excerpt.hpp"

namespace ebb::io {
namespace {

using Json = nlohmann::json;

struct Name {
  DType dtype;
  std::string_view name;
};
constexpr auto kNames = std::to_array<Name>({{DType::kFloat32, "F32"},
                                             {DType::kInt32, "I32"},
                                             {DType::kBool, "BOOL"},
                                             {DType::kComplex64, "C64"},
                                             {DType::kFloat64, "F64"},
                                             {DType::kInt64, "I64"},
                                             {DType::kUint8, "U8"},
                                             {DType::kFloat16, "F16"},
                                             {DType::kBfloat16, "BF16"},
                                             {DType::kInt8, "I8"}});

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  raise(ErrorKind::kInvalidArgument, "[safetensors] {}",
        fmt::format(format, std::forward<Args>(args)...));
}

// A member of a tensor's object, or a note: what the format needs of it, and how an error shows it.
struct Field {
  bool given = false;
  std::optional<std::string> string{};
  std::optional<std::vector<std::uint64_t>> numbers{};  // an array of nothing but them
  std::string shown{};

  void show(std::string_view more) {
    constexpr std::size_t kEnough = 100;        // it is cut below that
    if (shown.size() < kEnough) shown += more;  // arithmetic: of texts
  }
};

DType dtype_of(const Field& field) {
  for (const Name& each : kNames) {
    if (field.string == each.name) return each.dtype;
  }
  raise(ErrorKind::kUnsupported,
        "[safetensors] dtype {} was given, F64 F32 F16 BF16 I64 I32 I8 U8 BOOL C64 are allowed",
        excerpt(field.shown));
}

Shape shape_of(const Field& field) {
  std::array<std::int64_t, kMaxRank> extents{};
  const auto& dims = field.numbers;
  bool allowed = dims && dims->size() <= kMaxRank;
  for (std::size_t i = 0; allowed && i < dims->size(); ++i) {
    allowed = (*dims)[i] <= INT64_MAX;
    extents[i] = static_cast<std::int64_t>((*dims)[i]);
  }
  if (!allowed) {
    refuse("shape {} was given, up to {} extents are allowed", excerpt(field.shown), kMaxRank);
  }
  return Shape(std::span<const std::int64_t>(extents.data(), dims->size()));
}

// Takes the header in as the parser reads it. No tree is made of it: the library's tree looks
// through all of an object again whenever a part of it ends, and needs memory to be given back.
//
// Two of a name in one object would let readers disagree on which one counts. An object is no
// deeper than a tensor's or the metadata's, an array no deeper than a shape.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { return scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(std::to_string(value), value);
  }
  bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
  bool binary(binary_t&) override { return scalar("binary"); }
  bool string(string_t& value) override {
    if (depth_ == kMember) field().string = value;
    return scalar(fmt::format("\"{}\"", excerpt(value)));
  }

  bool start_object(std::size_t) override {
    enter();
    keys_[depth_ - 1].clear();
    if (depth_ == kMember) is_object_ = true;
    if (depth_ == kDeepest) field().show("{...}");
    return true;
  }
  bool key(string_t& key) override {
    const auto [at, fresh] = keys_[depth_ - 1].insert(key);
    if (!fresh) refuse("key '{}' is twice in the header", excerpt(*at));
    if (depth_ == kRoot) begin_member(key);
    if (depth_ == kMember) begin_field(key);
    return true;
  }
  bool end_object() override { return leave(); }

  bool start_array(std::size_t) override {
    enter();
    if (depth_ == kDeepest) {
      field().numbers.emplace();
      field().show("[");
    }
    return true;
  }
  bool end_array() override {
    if (depth_ == kDeepest) field().show("]");
    return leave();
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    refuse("the header is not JSON: {}", excerpt(error.what()));
  }

 private:
  // Where the reader is, as the number of objects and arrays that are open.
  enum : std::size_t { kRoot = 1, kMember = 2, kDeepest = 3 };
  // Of a tensor's object; what is none of its three is not looked at, and kept nowhere else.
  enum : std::size_t { kDType, kShape, kOffsets, kOther, kFields };
  static constexpr std::array<std::string_view, kOther> kFieldNames{"dtype", "shape",
                                                                    "data_offsets"};

  bool in_metadata() const noexcept { return name_ == kSafetensorsNotes; }
  Field& field() noexcept { return fields_[field_]; }

  void enter() {
    if (depth_ == kDeepest) {
      refuse("the header is nested {} deep, {} is allowed", depth_ + 1, +kDeepest);
    }
    ++depth_;
  }
  bool leave() {
    --depth_;
    if (depth_ == kRoot) end_member();
    if (depth_ == kMember) end_field();
    return true;
  }
  bool scalar(std::string_view shown, std::optional<std::uint64_t> number = {}) {
    if (depth_ == kRoot) {
      end_member();
    } else if (depth_ == kMember) {
      field().show(shown);
      end_field();
    } else if (field().shown.starts_with('[')) {
      add_element(shown, number);
    }
    return true;
  }

  void begin_member(std::string_view name) {
    name_ = name;
    is_object_ = false;
    fields_ = {};
    field_ = kOther;
  }
  void end_member() {
    if (!is_object_ && in_metadata()) refuse("{} is not an object", kSafetensorsNotes);
    if (!in_metadata()) header_.entries.push_back(entry());
  }
  SafetensorsEntry entry() const {
    const bool whole = is_object_ && fields_[kDType].given && fields_[kShape].given &&
                       fields_[kOffsets].given && !fields_[kOther].given;
    if (!whole) {
      refuse("tensor '{}' has not just dtype, shape and data_offsets", excerpt(name_));
    }
    const Field& offsets = fields_[kOffsets];
    if (!offsets.numbers || offsets.numbers->size() != 2) {
      refuse("tensor '{}' has data_offsets {}, a begin and an end are allowed", excerpt(name_),
             excerpt(offsets.shown));
    }
    return {name_, dtype_of(fields_[kDType]), shape_of(fields_[kShape]), (*offsets.numbers)[0],
            (*offsets.numbers)[1]};
  }

  void begin_field(std::string_view key) {
    field_ = 0;
    while (field_ < kOther && kFieldNames[field_] != key) ++field_;
    if (in_metadata()) {
      note_ = key;
      field() = {};
    }
    field().given = true;
  }
  void end_field() {
    if (!is_object_ || !in_metadata()) return;
    if (!field().string) {
      refuse("note '{}' is {}, a string is allowed", excerpt(note_), excerpt(field().shown));
    }
    header_.metadata[note_] = std::move(*field().string);
  }
  void add_element(std::string_view shown, std::optional<std::uint64_t> number) {
    if (!field().shown.ends_with('[')) field().show(",");
    field().show(shown);
    auto& numbers = field().numbers;
    if (!number) numbers.reset();
    if (numbers && numbers->size() <= kMaxRank) numbers->push_back(*number);
  }

  std::size_t depth_ = 0;
  std::array<std::set<std::string>, kDeepest> keys_{};
  std::string name_{};  // of the root's member
  bool is_object_ = false;
  std::string note_{};
  std::array<Field, kFields> fields_{};
  std::size_t field_ = kOther;
  SafetensorsHeader header_{};
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> json) {
  const auto* text = reinterpret_cast<const char*>(json.data());
  if (json.empty() || *text != '{') refuse("the header does not begin with an object");
  HeaderReader reader;
  Json::sax_parse(text, text + json.size(), &reader);  // arithmetic: to its end
  return reader.take();
}

std::string_view safetensors_name(DType dtype) {
  for (const Name& each : kNames) {
    if (each.dtype == dtype) return each.name;
  }
  raise(ErrorKind::kUnsupported, "[safetensors] it has no name for dtype {}", name_of(dtype));
}

}  // namespace ebb::io
