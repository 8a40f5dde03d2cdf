#include "observe/segment_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file_calls.hpp"
#include "ebb/base/bytes.hpp"
#include "ebb/base/error.hpp"
#include "observe/crc32c.hpp"

namespace ebb::observe {
namespace {

void put_little(std::uint8_t* to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> 8 * i);
}

[[noreturn]] void fail(const std::string& path, int error) {
  raise(ErrorKind::kDevice, "[record] cannot write {}: {}", path,
        std::generic_category().message(error));
}

}  // namespace

SegmentFile::SegmentFile(std::string path, std::uint64_t most)
    : path_(std::move(path)), most_(most) {
  if (most != 0 && most < kLeastBytes) {
    raise(ErrorKind::kInvalidArgument, "[record] a limit of {} was given, at least {} is needed",
          format_bytes(most), format_bytes(kLeastBytes));
  }
  open();
}

void SegmentFile::OpenFile::close() noexcept {
  if (descriptor >= 0) FileCalls::current().close(std::exchange(descriptor, -1));
}

// Whoever may write the folder could put a link there to have another file overwritten, or a pipe,
// which waits for somebody to read it.
void SegmentFile::open() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  FileCalls& calls = FileCalls::current();
  file_.descriptor = uninterrupted([&] { return calls.open(path_.c_str(), kFlags, 0600); });
  if (file_.descriptor < 0) fail(path_, errno);
  struct stat about {};
  if (calls.fstat(file_.descriptor, &about) != 0) fail(path_, errno);
  if (S_ISFIFO(about.st_mode)) fail(path_, ENXIO);
  std::array<std::uint8_t, kFileHeader> header{};
  std::copy(kMagic.begin(), kMagic.end(), header.begin());
  put_little(&header[8], kMajor, 2);
  put_little(&header[10], kMinor, 2);
  in_segment_ = 0;
  put(header.data(), header.size());
}

void SegmentFile::put(const std::uint8_t* bytes, std::size_t count) {
  in_segment_ += count;
  bytes_ += count;
  while (count != 0) {
    const ssize_t written =
        uninterrupted([&] { return FileCalls::current().write(file_.descriptor, bytes, count); });
    if (written <= 0) fail(path_, written < 0 ? errno : ENOSPC);
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

void SegmentFile::write(BlockType type, const WireWriter& payload) {
  const std::vector<std::uint8_t>& body = payload.bytes();
  std::vector<std::uint8_t> block(kBlockHeader);
  block[0] = static_cast<std::uint8_t>(type);
  put_little(&block[4], body.size(), 4);
  put_little(&block[8], body.size(), 4);  // as it is stored: nothing packs it further
  put_little(&block[12], crc32c(body, crc32c({block.data(), 12})), 4);
  block.insert(block.end(), body.begin(), body.end());
  put(block.data(), block.size());
}

void SegmentFile::opening_ends() {
  if (most_ == 0 || in_segment_ <= most_in_segment() / 2) return;
  raise(ErrorKind::kWrongState,
        "[record] the live tensors alone take {} in a recording of at most {}: give it more",
        format_bytes(in_segment_), format_bytes(most_));
}

std::size_t SegmentFile::block_bytes() const noexcept {
  constexpr std::size_t kUsual = 64u << 10;
  return most_ == 0 ? kUsual : std::min<std::size_t>(kUsual, most_in_segment() / 8);
}

std::string SegmentFile::name_of(const std::string& path, std::uint32_t segment) {
  return fmt::format("{}.{}", path, segment);
}

void SegmentFile::rotate() {
  FileCalls& calls = FileCalls::current();
  file_.close();
  const std::string kept = name_of(path_, segment_);
  if (calls.rename(path_.c_str(), kept.c_str()) != 0) fail(kept, errno);
  ++segment_;
  if (segment_ >= kSegments) calls.unlink(name_of(path_, segment_ - kSegments).c_str());
  open();
}

void SegmentFile::remove(const std::string& path, std::uint32_t segment) noexcept {
  FileCalls& calls = FileCalls::current();
  calls.unlink(path.c_str());
  for (std::uint32_t back = 1; back <= std::min(segment, kSegments); ++back) {
    calls.unlink(name_of(path, segment - back).c_str());
  }
}

}  // namespace ebb::observe
