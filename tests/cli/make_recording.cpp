// make_recording leak|clean|hostile|three|foreign|EVENTS FILE
#include <cstdlib>
#include <string_view>

#include "cli/made_recording.hpp"

int main(int argc, char** argv) {
  using namespace ebb::test;
  if (argc != 3) return 2;
  const std::string_view what = argv[1];
  MadeRecording recording(argv[2], ebb::observe::Mode::kFull, what == "foreign");
  if (what == "three" || what == "foreign") {
    play_three_leaks(recording);
  } else if (const std::uint64_t events = std::strtoull(argv[1], nullptr, 10); events != 0) {
    play_many(recording, events);
  } else {
    play_server(recording, what == "leak" ? kLeak : what == "hostile" ? kHostileFrame : "");
  }
  return 0;
}
