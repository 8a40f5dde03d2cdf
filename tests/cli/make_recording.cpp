// make_recording leak|clean|hostile FILE
#include <string_view>

#include "cli/made_recording.hpp"

int main(int argc, char** argv) {
  using namespace ebb::test;
  if (argc != 3) return 2;
  const std::string_view what = argv[1];
  MadeRecording recording(argv[2]);
  play_server(recording, what == "leak" ? kLeak : what == "hostile" ? kHostileFrame : "");
  return 0;
}
