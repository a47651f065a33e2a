#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/wire/frames.h"
#include "dataplane/transport/wire/header.h"

namespace tictac::fakes {

// What an endpoint sent, by frame. Texts and bytes inside borrow from `datagrams`.
struct Seen {
  std::deque<std::vector<uint8_t>> datagrams;
  std::vector<wire::Header> headers;
  std::vector<uint64_t> acked;  // every number of every ACK
  std::vector<wire::HelloFrame> hellos;
  std::vector<wire::OpenFrame> opens;
  std::vector<wire::StreamFrame> streams;
  std::vector<wire::ResetFrame> resets;
  std::vector<wire::StopSendingFrame> stops;
  std::vector<wire::RerankFrame> reranks;
  std::vector<wire::MaxDataFrame> max_data;
  std::vector<wire::MaxStreamDataFrame> max_stream_data;
  std::vector<wire::CloseFrame> closes;
  int pings = 0;

  bool acks(uint64_t number) const { return std::find(acked.begin(), acked.end(), number) != acked.end(); }
  void add(ByteSpan datagram);

 private:
  template <typename Frame>
  static void take(ByteReader& in, std::vector<Frame>& frames) {
    Frame frame;
    ASSERT_TRUE(wire::read(in, &frame));
    frames.push_back(frame);
  }
  void add_frame(wire::FrameType type, ByteReader& in);
};

// The far end of a session, written by hand: sends whatever frames the test wants, in packets of valid form.
class RawPeer {
 public:
  static constexpr uint32_t kSession = 0x5eed;
  using Write = std::function<void(ByteWriter&)>;

  RawPeer(Endpoint& endpoint, const Address& address, std::string name)
      : endpoint_(endpoint), address_(address), name_(std::move(name)) {}

  // HELLO both ways, as `incarnation`.
  void connect(Time now, uint64_t incarnation) {
    const Seen seen = drain(now);
    ASSERT_FALSE(seen.hellos.empty());
    const wire::HelloFrame& theirs = seen.hellos.back();
    their_session = theirs.session;
    hello(now, {.lowest_version = 1,
                .highest_version = 1,
                .incarnation = incarnation,
                .echoed_incarnation = theirs.incarnation,
                .session = kSession,
                .max_datagram = 1472,
                .name = name_});
    drain(now);
  }

  void hello(Time now, const wire::HelloFrame& frame) {
    send_header(now, {.flags = wire::kHello, .session = their_session},
                [&](ByteWriter& out) { wire::write(out, frame); });
  }

  // One packet of the session; returns its number.
  uint64_t send(Time now, const Write& write) { return send_as(now, next_number++, write); }
  uint64_t send_as(Time now, uint64_t number, const Write& write) {
    send_header(now,
                {.flags = wire::kAckEliciting,
                 .session = their_session,
                 .number = number,
                 .send_time_us = static_cast<uint32_t>(now.time_since_epoch() / 1us)},
                write);
    return number;
  }
  void send_header(Time now, const wire::Header& header, const Write& write) {
    std::vector<uint8_t> datagram(9000);
    ByteWriter out(MutableByteSpan(datagram).subspan(wire::kHeaderSize));
    write(out);
    ASSERT_TRUE(out.ok());
    datagram.resize(wire::kHeaderSize + out.size());
    wire::seal(datagram, header);
    endpoint_.on_datagram(now, address_, datagram);
  }
  // Acknowledges [first, last].
  uint64_t ack(Time now, uint64_t first, uint64_t last) {
    return send(now, [&](ByteWriter& out) {
      bool given = false;
      wire::AckFrame::write(out, 100, 0, [&](wire::NumberRange* range) {
        *range = {first, last};
        return !std::exchange(given, true);
      });
    });
  }

  // Everything that the endpoint wants to send now.
  Seen drain(Time now) {
    Seen seen;
    std::array<uint8_t, 9000> buffer{};
    for (int i = 0; i < 10'000; ++i) {
      const auto datagram = endpoint_.next_datagram(now, buffer);
      if (!datagram) return seen;
      EXPECT_EQ(datagram->to, address_);
      seen.add(ByteSpan(buffer).first(datagram->size));
    }
    ADD_FAILURE() << "the endpoint never stops sending";
    return seen;
  }

  uint32_t their_session = 0;
  uint64_t next_number = 1;

 private:
  Endpoint& endpoint_;
  Address address_;
  std::string name_;
};

inline void Seen::add(ByteSpan datagram) {
  datagrams.emplace_back(datagram.begin(), datagram.end());
  wire::Header header;
  ASSERT_EQ(wire::parse_header(datagrams.back(), &header), wire::HeaderResult::kOk);
  ASSERT_TRUE(wire::checksum_matches(datagrams.back()));
  headers.push_back(header);
  ByteReader in(ByteSpan(datagrams.back()).subspan(wire::kHeaderSize));
  while (in.remaining() > 0) add_frame(static_cast<wire::FrameType>(in.u8()), in);
  EXPECT_TRUE(in.ok());
}

inline void Seen::add_frame(wire::FrameType type, ByteReader& in) {
  switch (type) {
    case wire::FrameType::kPing:
      ++pings;
      return;
    case wire::FrameType::kAck: {
      wire::AckFrame frame;
      ASSERT_TRUE(wire::AckFrame::read(in, &frame));
      frame.for_each([&](const wire::NumberRange& range) {
        for (uint64_t n = range.first; n <= range.last; ++n) acked.push_back(n);
      });
      return;
    }
    case wire::FrameType::kMaxData:
      return take(in, max_data);
    case wire::FrameType::kMaxStreamData:
      return take(in, max_stream_data);
    case wire::FrameType::kOpen:
      return take(in, opens);
    case wire::FrameType::kStream:
      return take(in, streams);
    case wire::FrameType::kReset:
      return take(in, resets);
    case wire::FrameType::kStopSending:
      return take(in, stops);
    case wire::FrameType::kRerank:
      return take(in, reranks);
    case wire::FrameType::kClose:
      return take(in, closes);
    case wire::FrameType::kHello:
      return take(in, hellos);
    case wire::FrameType::kLeastAwaited: {
      std::vector<wire::LeastAwaitedFrame> ignored;
      return take(in, ignored);
    }
    case wire::FrameType::kPadding:
      return;
  }
  FAIL() << "unknown frame " << static_cast<int>(type);
}

}  // namespace tictac::fakes
