#include "io/file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ebb/base/error.hpp"

namespace ebb::io {

Reader::Reader(std::string path) : path_(std::move(path)), stream_(path_, std::ios::binary) {
  stream_.seekg(0, std::ios::end);
  const auto end = stream_.tellg();
  if (!stream_ || end < 0) {
    raise(ErrorKind::kDevice, "[read] {}: {}", path_, std::strerror(errno));
  }
  size_ = static_cast<std::uint64_t>(end);
}

void Reader::read(std::uint64_t offset, std::span<std::byte> to) {
  if (offset > size_ || to.size() > size_ - offset) {
    fail("it ends early: " + std::to_string(size_) + " bytes");
  }
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (!stream_) raise(ErrorKind::kDevice, "[read] {}: {}", path_, std::strerror(errno));
}

std::string Reader::text(std::uint64_t offset, std::uint64_t count) {
  if (offset > size_ || count > size_ - offset) {
    fail("it ends early: " + std::to_string(size_) + " bytes");
  }
  std::string read_text(count, '\0');
  read(offset, std::as_writable_bytes(std::span(read_text)));
  return read_text;
}

void Reader::fail(const std::string& what) const {
  raise(ErrorKind::kInvalidArgument, "[read] {}: {}", path_, what);
}

Writer::Writer(std::string path)
    : path_(std::move(path)),
      draft_(path_ + ".draft" + std::to_string(::getpid())),
      stream_(draft_, std::ios::binary | std::ios::trunc) {
  if (!stream_) fail();
}

Writer::~Writer() {
  if (!finished_) std::remove(draft_.c_str());
}

void Writer::write(std::span<const std::byte> bytes) {
  stream_.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail();
}

void Writer::write(const std::string& text) { write(std::as_bytes(std::span(text))); }

void Writer::finish() {
  stream_.close();
  if (!stream_ || std::rename(draft_.c_str(), path_.c_str()) != 0) fail();
  finished_ = true;
}

void Writer::fail() { raise(ErrorKind::kDevice, "[write] {}: {}", path_, std::strerror(errno)); }

}  // namespace ebb::io
