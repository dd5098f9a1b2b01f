#include "Channel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tilewright::cpu {

namespace {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

constexpr uint32_t kMaxBlobs = 16;
constexpr uint64_t kMaxPartBytes = uint64_t{1} << 32;

/// What precedes the parts on the wire.
struct Prefix {
  uint32_t magic = kMagic;
  uint32_t blobs = 0;
  uint64_t headerBytes = 0;
  uint64_t blobBytes[kMaxBlobs] = {};
  static constexpr uint32_t kMagic = 0x54574d31;
};

int millisecondsLeft(Deadline deadline) {
  if (!deadline)
    return -1;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now())
          .count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1'000'000'000));
}

bool sendAll(int socket, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    bytes += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

/// The prefix goes out in one piece with the descriptor attached to its first byte.
bool sendPrefix(int socket, Prefix &prefix, int descriptor) {
  if (descriptor < 0)
    return sendAll(socket, reinterpret_cast<const char *>(&prefix), sizeof prefix);
  iovec part{&prefix, sizeof prefix};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  ssize_t sent;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent <= 0)
    return false;
  return sendAll(socket, reinterpret_cast<const char *>(&prefix) + sent,
                 sizeof prefix - static_cast<size_t>(sent));
}

ssize_t receiveSome(int socket, char *bytes, size_t count, int *descriptor) {
  if (!descriptor)
    return ::recv(socket, bytes, count, 0);
  iovec part{bytes, count};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  for (cmsghdr *rights = CMSG_FIRSTHDR(&message); got > 0 && rights; rights = CMSG_NXTHDR(&message, rights)) {
    if (rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
      std::memcpy(descriptor, CMSG_DATA(rights), sizeof *descriptor);
  }
  return got;
}

} // namespace

Channel::~Channel() {
  if (socket_ >= 0)
    close(socket_);
}

Channel &Channel::operator=(Channel &&other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

bool Channel::send(const WireMessage &message) {
  Prefix prefix;
  prefix.blobs = static_cast<uint32_t>(message.blobs.size());
  prefix.headerBytes = message.header.size();
  if (message.blobs.size() > kMaxBlobs)
    return false;
  for (size_t i = 0; i < message.blobs.size(); ++i)
    prefix.blobBytes[i] = message.blobs[i].size();
  if (!sendPrefix(socket_, prefix, message.descriptor) ||
      !sendAll(socket_, message.header.data(), message.header.size()))
    return false;
  return std::all_of(message.blobs.begin(), message.blobs.end(),
                     [&](const std::string &blob) { return sendAll(socket_, blob.data(), blob.size()); });
}

ReceiveStatus Channel::readExactly(char *bytes, size_t count, int *descriptor, Deadline deadline) {
  while (count > 0) {
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = poll(&waiting, 1, millisecondsLeft(deadline));
    if (ready == 0)
      return ReceiveStatus::TimedOut;
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready < 0)
      return ReceiveStatus::Closed;
    const ssize_t got = receiveSome(socket_, bytes, count, descriptor);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return ReceiveStatus::Closed;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return ReceiveStatus::Ok;
}

Channel::Received Channel::receive(Deadline deadline) {
  Received out;
  Prefix prefix;
  int descriptor = -1;
  out.status = readExactly(reinterpret_cast<char *>(&prefix), sizeof prefix, &descriptor, deadline);
  out.message.descriptor = descriptor;
  if (out.status != ReceiveStatus::Ok)
    return out;
  const bool sane = prefix.magic == Prefix::kMagic && prefix.blobs <= kMaxBlobs &&
                    prefix.headerBytes <= kMaxPartBytes &&
                    std::all_of(prefix.blobBytes, prefix.blobBytes + prefix.blobs,
                                [](uint64_t bytes) { return bytes <= kMaxPartBytes; });
  if (!sane) {
    out.status = ReceiveStatus::Malformed;
    return out;
  }
  const auto readPart = [&](std::string &part, uint64_t bytes) {
    part.resize(bytes);
    return readExactly(part.data(), bytes, nullptr, deadline);
  };
  out.status = readPart(out.message.header, prefix.headerBytes);
  out.message.blobs.resize(prefix.blobs);
  for (uint32_t i = 0; i < prefix.blobs && out.status == ReceiveStatus::Ok; ++i)
    out.status = readPart(out.message.blobs[i], prefix.blobBytes[i]);
  return out;
}

} // namespace tilewright::cpu
