// PNG, by libpng. As in jpeg.cc errors come as jumps.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "pictures.hpp"

namespace ebb::node {
namespace {

constexpr double kRed = 0.299, kGreen = 0.587;

struct Text {
  char text[256] = "";
};

void leave(png_structp png, png_const_charp message) {
  auto& error = *static_cast<Text*>(png_get_error_ptr(png));
  std::strncpy(error.text, message, sizeof error.text - 1);
  png_longjmp(png, 1);
}
void ignore(png_structp, png_const_charp) {}

class PngReader final : public PictureReader {
 public:
  PngReader(Samples bytes, std::uint32_t channels) : bytes_(std::move(bytes)) {
    if (setjmp(png_jmpbuf(png_)) != 0) throw PictureError(error_.text);
    png_set_read_fn(png_, this, take);
    png_read_info(png_, info_);
    prepare(channels);
  }

  void decode(std::int32_t* out) override {
    const std::size_t row = extents.row();
    // An interlaced picture comes in passes over all rows.
    samples_.resize(passes_ == 1 ? row : extents.size());
    if (setjmp(png_jmpbuf(png_)) != 0) throw PictureError(error_.text);
    for (int pass = 1; pass <= passes_; pass++) {
      for (std::size_t y = 0; y < extents.height; y++) {
        png_bytep line = samples_.data() + (passes_ == 1 ? 0 : y * row);
        png_read_row(png_, line, nullptr);
        if (pass < passes_) continue;
        for (std::size_t i = 0; i < row; i++) out[y * row + i] = line[i];
      }
    }
    png_read_end(png_, nullptr);
  }

 private:
  static void take(png_structp png, png_bytep into, std::size_t count) {
    auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader.bytes_.size() - reader.at_) png_error(png, "it is truncated");
    std::memcpy(into, reader.bytes_.data() + reader.at_, count);
    reader.at_ += count;
  }

  // As TensorFlow's decode_png has it: eight bits, and the channels that are wanted.
  void prepare(std::uint32_t wanted) {
    const int color = png_get_color_type(png_, info_);
    const bool is_palette = color == PNG_COLOR_TYPE_PALETTE;
    const bool is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
    const bool has_key = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    const bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
    std::uint32_t channels = wanted;
    if (wanted == 0) channels = is_palette ? (has_key ? 4 : 3) : png_get_channels(png_, info_);
    const bool wants_alpha = channels % 2 == 0;
    png_set_strip_16(png_);
    png_set_packing(png_);
    if (is_palette) png_set_palette_to_rgb(png_);
    if (is_gray) png_set_expand_gray_1_2_4_to_8(png_);
    if (wants_alpha && has_key) png_set_tRNS_to_alpha(png_);
    if (wants_alpha && !has_key && !has_alpha) png_set_add_alpha(png_, 0xff, PNG_FILLER_AFTER);
    if (!wants_alpha && (has_alpha || has_key)) png_set_strip_alpha(png_);
    if (channels < 3 && !is_gray)
      png_set_rgb_to_gray_fixed(png_, 1, kRed * 100000, kGreen * 100000);
    if (channels >= 3 && is_gray) png_set_gray_to_rgb(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_channels(png_, info_) != channels)
      png_error(png_, "its channels cannot be converted");
    extents = {png_get_image_width(png_, info_), png_get_image_height(png_, info_), channels};
  }

  // A member, so that a constructor that throws ends it as well.
  struct Owner {
    explicit Owner(Text& error)
        : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &error, leave, ignore)),
          info(png_create_info_struct(png)) {}
    ~Owner() { png_destroy_read_struct(&png, &info, nullptr); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    png_structp png;
    png_infop info;
  };

  Samples bytes_;
  std::size_t at_ = 0;
  Text error_;
  Owner owner_{error_};
  const png_structp png_ = owner_.png;
  const png_infop info_ = owner_.info;
  int passes_ = 1;
  Samples samples_;
};

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error_, leave, ignore);
    info_ = png_create_info_struct(png_);
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  Samples write(const std::uint8_t* samples, Extents extents, int compression) {
    static constexpr int kColors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                      PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(png_)) != 0) throw PictureError(error_.text);
    png_set_write_fn(png_, this, put, nullptr);
    if (compression >= 0) png_set_compression_level(png_, compression);
    png_set_IHDR(png_, info_, extents.width, extents.height, 8, kColors[extents.channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (std::size_t y = 0; y < extents.height; y++)
      png_write_row(png_, samples + y * extents.row());
    png_write_end(png_, info_);
    return std::move(out_);
  }

 private:
  static void put(png_structp png, png_bytep bytes, std::size_t count) {
    auto& writer = *static_cast<PngWriter*>(png_get_io_ptr(png));
    try {
      writer.out_.insert(writer.out_.end(), bytes, bytes + count);
    } catch (const std::bad_alloc&) {  // must not pass through C
      png_error(png, "out of memory");
    }
  }

  Text error_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  Samples out_;
};

}  // namespace

std::unique_ptr<PictureReader> open_png(Samples bytes, std::uint32_t channels) {
  return std::make_unique<PngReader>(std::move(bytes), channels);
}

Samples encode_png(std::span<const std::uint8_t> samples, Extents extents, int compression) {
  return PngWriter().write(samples.data(), extents, compression);
}

}  // namespace ebb::node
