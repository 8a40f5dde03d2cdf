// JPEG, by libjpeg-turbo. Its errors come as a jump out of C: between setjmp and the calls it guards nothing with a
// destructor is made.
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "pictures.hpp"

// jpeglib.h does not include what it uses.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace ebb::node {
namespace {

// libjpeg's errors, as jumps to where the call was made.
struct Errors {
  jpeg_error_mgr manager;  // first: libjpeg knows this address
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
  bool truncated = false;
  bool stop_if_truncated = false;

  jpeg_error_mgr* begin() {
    jpeg_std_error(&manager);
    manager.error_exit = leave;
    manager.emit_message = note;
    return &manager;
  }

 private:
  static Errors& of(j_common_ptr info) { return *reinterpret_cast<Errors*>(info->err); }
  static void leave(j_common_ptr info) {
    info->err->format_message(info, of(info).text);
    std::longjmp(of(info).jump, 1);
  }
  // What is only doubtful is decoded as far as it goes; the end of the data is the caller's to judge.
  static void note(j_common_ptr info, int level) {
    if (level >= 0) return;
    info->err->num_warnings++;
    if (info->err->msg_code != JWRN_JPEG_EOF) return;
    of(info).truncated = true;
    if (of(info).stop_if_truncated) leave(info);
  }
};

void widen(const std::uint8_t* from, std::size_t count, std::int32_t* out) {
  for (std::size_t i = 0; i < count; i++) out[i] = from[i];
}

// Adobe's CMYK is the wrong way round.
void cmyk_to_rgb(const std::uint8_t* from, std::uint32_t width, bool inverted, std::int32_t* out) {
  for (std::uint32_t i = 0; i < width; i++, from += 4, out += 3) {
    const int k = inverted ? from[3] : 255 - from[3];
    for (int part = 0; part < 3; part++) {
      const int ink = inverted ? from[part] : 255 - from[part];
      out[part] = k * ink / 255;
    }
  }
}

class JpegReader final : public PictureReader {
 public:
  JpegReader(Samples bytes, const JpegDecode& options)
      : bytes_(std::move(bytes)), options_(options) {
    errors_.stop_if_truncated = !options_.recover_truncated;
    if (setjmp(errors_.jump) != 0) fail();
    jpeg_mem_src(&info_, bytes_.data(), bytes_.size());
    jpeg_read_header(&info_, TRUE);
    prepare();
  }

  void decode(std::int32_t* out) override {
    line_.resize(std::size_t{info_.output_width} * 4);
    if (setjmp(errors_.jump) != 0) fail();
    jpeg_start_decompress(&info_);
    JSAMPROW line = line_.data();
    while (info_.output_scanline < info_.output_height) {
      jpeg_read_scanlines(&info_, &line, 1);
      if (!errors_.truncated) whole_rows_++;
      if (info_.out_color_space == JCS_CMYK)
        cmyk_to_rgb(line, extents.width, info_.saw_Adobe_marker != 0, out);
      else
        widen(line, extents.row(), out);
      out += extents.row();
    }
    jpeg_abort_decompress(&info_);
    if (errors_.truncated && whole_rows_ < options_.acceptable_fraction * extents.height)
      throw PictureError("it is truncated");
  }

 private:
  [[noreturn]] void fail() {
    throw PictureError(errors_.truncated ? "it is truncated" : errors_.text);
  }

  void prepare() {
    const bool has_ink = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    const std::uint32_t found = info_.num_components == 1 ? 1 : 3;
    extents.channels = options_.channels == 0 ? found : options_.channels;
    if (has_ink)
      info_.out_color_space = JCS_CMYK;
    else
      info_.out_color_space = extents.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info_.do_fancy_upsampling = options_.fancy_upscaling ? TRUE : FALSE;
    info_.scale_num = 1;
    info_.scale_denom = options_.ratio;
    info_.dct_method = options_.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    jpeg_calc_output_dimensions(&info_);
    extents.width = info_.output_width;
    extents.height = info_.output_height;
    if (has_ink && extents.channels == 1) {
      std::strcpy(errors_.text, "it is in CMYK, of which there is no grayscale");
      std::longjmp(errors_.jump, 1);
    }
  }

  // A member, so that a constructor that throws ends it as well.
  struct Decompress : jpeg_decompress_struct {
    explicit Decompress(Errors& errors) : jpeg_decompress_struct{} {
      err = errors.begin();
      jpeg_create_decompress(this);
    }
    ~Decompress() { jpeg_destroy_decompress(this); }
    Decompress(const Decompress&) = delete;
    Decompress& operator=(const Decompress&) = delete;
  };

  Samples bytes_;
  JpegDecode options_;
  Errors errors_;
  Decompress info_{errors_};
  Samples line_;
  double whole_rows_ = 0;
};

// Where libjpeg writes: memory of its own that grows.
class JpegWriter {
 public:
  JpegWriter() {
    info_.err = errors_.begin();
    jpeg_create_compress(&info_);
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(memory_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  Samples write(const std::uint8_t* samples, Extents extents, const JpegEncode& options) {
    if (setjmp(errors_.jump) != 0) throw PictureError(errors_.text);
    jpeg_mem_dest(&info_, &memory_, &size_);
    set(extents, options);
    jpeg_start_compress(&info_, TRUE);
    write_xmp(options);
    while (info_.next_scanline < info_.image_height) {
      auto* row = const_cast<JSAMPROW>(samples + info_.next_scanline * extents.row());
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return {memory_, memory_ + size_};
  }

 private:
  void set(Extents extents, const JpegEncode& options) {
    info_.image_width = extents.width;
    info_.image_height = extents.height;
    info_.input_components = static_cast<int>(extents.channels);
    info_.in_color_space = extents.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    if (options.grayscale) jpeg_set_colorspace(&info_, JCS_GRAYSCALE);
    jpeg_set_quality(&info_, options.quality, TRUE);
    if (options.progressive) jpeg_simple_progression(&info_);
    info_.optimize_coding = options.optimize ? TRUE : FALSE;
    if (!options.downsample_chroma)
      info_.comp_info[0].h_samp_factor = info_.comp_info[0].v_samp_factor = 1;
    info_.density_unit = options.per_centimetre ? 2 : 1;
    info_.X_density = static_cast<UINT16>(options.x_density);
    info_.Y_density = static_cast<UINT16>(options.y_density);
  }

  void write_xmp(const JpegEncode& options) {
    static constexpr char kName[] = "http://ns.adobe.com/xap/1.0/";  // with the zero at its end
    if (options.xmp.empty()) return;
    jpeg_write_m_header(&info_, JPEG_APP0 + 1,
                        static_cast<unsigned>(sizeof kName + options.xmp.size()));
    for (const char each : kName) jpeg_write_m_byte(&info_, each);
    for (const std::uint8_t each : options.xmp) jpeg_write_m_byte(&info_, each);
  }

  jpeg_compress_struct info_{};
  Errors errors_;
  unsigned char* memory_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::unique_ptr<PictureReader> open_jpeg(Samples bytes, const JpegDecode& options) {
  return std::make_unique<JpegReader>(std::move(bytes), options);
}

Samples encode_jpeg(std::span<const std::uint8_t> samples, Extents extents,
                    const JpegEncode& options) {
  return JpegWriter().write(samples.data(), extents, options);
}

}  // namespace ebb::node
