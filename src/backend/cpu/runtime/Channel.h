#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::cpu {

/// One request or answer between this process and a worker: a JSON header and binary parts; a file descriptor
/// may ride along (for shared memory).
struct WireMessage {
  std::string header;
  std::vector<std::string> blobs;
  int descriptor = -1; ///< sent: stays the sender's; received: the receiver's to close
};

enum class ReceiveStatus : uint8_t { Ok, Closed, TimedOut, Malformed };

/// One end of a socket pair. Messages are length-prefixed; both ends are the same program, so there is no
/// versioning. Not thread-safe: one conversation at a time.
class Channel {
public:
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(Channel &&other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Channel &operator=(Channel &&other) noexcept;

  int socket() const { return socket_; }
  /// False when the other end is gone. Never raises SIGPIPE.
  bool send(const WireMessage &message);
  struct Received {
    ReceiveStatus status = ReceiveStatus::Closed;
    WireMessage message;
  };
  /// Waits until `deadline` (forever without one).
  Received receive(std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt);

private:
  ReceiveStatus readExactly(char *bytes, size_t count, int *descriptor,
                            std::optional<std::chrono::steady_clock::time_point> deadline);
  int socket_ = -1;
};

} // namespace tilewright::cpu
