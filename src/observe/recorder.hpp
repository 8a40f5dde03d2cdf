// The recording of this process, if there is one: a thread that reads the event rings as they fill
// and writes what they say. It takes no part in anything: no thread of the program ever waits for
// it, except one that starts, switches or stops it.
//
// Losses. A ring that fills faster than it is read is overwritten. The recorder sees that, reads all
// rings until none has lost anything, writes LOST, and then who lives, from the books. Whatever was
// born before the last reading and whose end was lost is not in that list, and nothing that comes
// after it can bring it back: each birth that was pushed before its lost end was read by then. So a
// loss invents no leak. Where even eight readings lose, the checkpoint comes at the next turn.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "observe/live_server.hpp"
#include "observe/recording_writer.hpp"

namespace ebb::observe {

struct RecorderState {
  Mode mode = Mode::kOff;
  std::uint64_t bytes = 0;  // written
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::uint32_t segments = 0;
  std::uint64_t sample_bytes = 0;
  std::string error;  // why it has stopped by itself
};

class RecorderSession;

class Recorder {
 public:
  static Recorder& instance();

  // What is live and what the books say is written before it returns. No path: the file is in the
  // user's own folder, bounded, and goes with the recording. Throws Error: kWrongState
  // while there is a recording, kDevice where the file cannot be written.
  void start(RecordingOptions options, LiveSource& source);
  // Throws Error(kWrongState) without a recording.
  void set_mode(Mode mode);
  void mark(std::string_view text);
  // What holds the tensors of a site, as the host found out.
  void holder(std::uint32_t site, std::string_view text);
  // Viewers may attach, until the recording ends. Throws Error: kWrongState without one or where
  // they may already, kDevice where the user's folder is not the user's own. When stop_live
  // returns, `asked` is called no more.
  void start_live(const LiveOptions& options);
  void stop_live();
  LiveState live();
  // As of when it was called; false if there was none. Throws Error(kDevice) where the recording
  // had failed before.
  bool stop();
  RecorderState state();
  // What the host's collector manages. Any thread.
  void set_host_heap(std::uint64_t bytes) noexcept;

 private:
  struct Fork;

  Recorder();
  RecorderSession& running();
  std::unique_lock<std::mutex> locked();

  std::mutex mutex_;
  std::unique_ptr<RecorderSession> session_;
};

}  // namespace ebb::observe
