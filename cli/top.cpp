#include "cli/top.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "cli/follower.hpp"

namespace ebb::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

volatile std::sig_atomic_t interrupted = 0;

// The terminal as it was, whatever happens: keys come one by one and are not shown, and what was on
// the screen comes back.
class Terminal {
 public:
  Terminal() {
    keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (keys_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
    put("\x1b[?1049h\x1b[?25l");
  }
  ~Terminal() {
    put("\x1b[?25h\x1b[?1049l");
    if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Over what was there, so that nothing flickers.
  void draw(const std::string& picture) {
    std::string text = "\x1b[H";
    for (const char c : picture) {
      if (c == '\n') text += "\x1b[K\r\n";
      if (c != '\n') text += c;
    }
    put(text + "\x1b[J");
  }
  // False: somebody wants to leave.
  bool wait(int milliseconds) {
    pollfd keys{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&keys, keys_ ? 1 : 0, milliseconds);
    if (interrupted != 0) return false;
    char key = 0;
    if (ready <= 0) return true;
    const ssize_t got = ::read(STDIN_FILENO, &key, 1);
    if (got <= 0) keys_ = false;  // nobody types any more
    return key != 'q' && key != 'Q' && key != '\x03';
  }

 private:
  static void put(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  termios before_{};
  bool keys_ = false;
};

// One line less than there are: the cursor stands on the last.
Screen screen_now() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {.columns = size.ws_col, .rows = std::max<std::size_t>(2, size.ws_row) - 1u};
}

}  // namespace

void run_top(const TopOptions& options) {
  Follower follower(chosen_process(options.pid));
  follower.wait_until_current(kPatience);
  const auto picture = [&](bool over) {
    return follower.analysed(
        [&](const Analysis& now) { return top_picture(now, screen_now(), over); });
  };
  if (options.once || ::isatty(STDOUT_FILENO) == 0) {
    const std::string text = picture(follower.over());
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  {
    Terminal terminal;
    do {
      terminal.draw(picture(follower.over()));
    } while (!follower.over() && terminal.wait(static_cast<int>(options.seconds * 1000)));
  }
  if (!follower.over()) return;
  const std::string last = picture(true);
  std::fwrite(last.data(), 1, last.size(), stdout);
}

}  // namespace ebb::cli
