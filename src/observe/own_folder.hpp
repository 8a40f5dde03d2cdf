// The folder in which a user's processes can be found: nobody else's, however it came to be.
#pragma once

#include <string>

namespace ebb::observe {

// An open folder that has been looked at: what is done in it is done through the descriptor, so that
// nobody can put another in its place between the look and the deed.
class OwnFolder {
 public:
  // `ebb` in `runtime` (XDG_RUNTIME_DIR; null or not the user's own: not there), else `ebb-UID` in
  // `temporary`. Makes it. Throws Error(kDevice) where it is a link, another's, or open to others.
  OwnFolder(const char* runtime, const std::string& temporary);
  // The one of this user.
  static OwnFolder of_user();
  ~OwnFolder();
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&&) = delete;

  const std::string& path() const noexcept { return path_; }
  int descriptor() const noexcept { return folder_; }
  // A name in it that needs no more than 108 bytes, as the name of a socket must be.
  std::string through_descriptor(const std::string& name) const;

 private:
  static int opened(const std::string& path, std::string& why);

  std::string path_;
  int folder_ = -1;
};

}  // namespace ebb::observe
