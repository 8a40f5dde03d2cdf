// Pictures as rows of numbers: JPEG by libjpeg-turbo, PNG by libpng. Nothing here knows of JavaScript, so that it can run
// on any thread: a reader is made and asked for its extents on one, and decodes on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace ebb::node {

// What a library says of bytes that it cannot read, or of settings that it does not have.
struct PictureError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Samples = std::vector<std::uint8_t>;

struct Extents {
  std::uint32_t width = 0, height = 0, channels = 0;
  std::size_t row() const { return std::size_t{width} * channels; }
  std::size_t size() const { return row() * height; }
};

struct JpegDecode {
  std::uint32_t channels = 0;  // 0: as the file has them
  std::uint32_t ratio = 1;     // 1, 2, 4, 8: so much smaller
  bool fancy_upscaling = true;
  bool recover_truncated = false;
  double acceptable_fraction = 1;  // of the rows, where what is truncated is recovered
  bool fast_dct = false;
};

struct JpegEncode {
  bool grayscale = false;
  int quality = 95;
  bool progressive = false, optimize = false, downsample_chroma = true;
  bool per_centimetre = false;  // the unit of the densities; otherwise inches
  std::uint32_t x_density = 300, y_density = 300;
  std::span<const std::uint8_t> xmp;
};

class PictureReader {
 public:
  virtual ~PictureReader() = default;
  Extents extents;
  // Fills extents.size() numbers. Once.
  virtual void decode(std::int32_t* out) = 0;
};

// They keep the bytes that they are given.
std::unique_ptr<PictureReader> open_jpeg(Samples bytes, const JpegDecode& options);
std::unique_ptr<PictureReader> open_png(Samples bytes, std::uint32_t channels);

Samples encode_jpeg(std::span<const std::uint8_t> samples, Extents extents,
                    const JpegEncode& options);
Samples encode_png(std::span<const std::uint8_t> samples, Extents extents, int compression);

}  // namespace ebb::node
