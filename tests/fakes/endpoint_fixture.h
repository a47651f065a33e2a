#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <random>
#include <string>

#include "tests/fakes/endpoint_pair.h"
#include "tests/fakes/transfers.h"

namespace tictac::fakes {

// Bytes that are alike only for the same size and seed.
inline std::string content(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// a asks b; b answers every request from `answers` in the order of arrival, at once or when told.
struct EndpointFixture : ::testing::Test {
  void serve(bool at_once = true) {
    pair.b->events.on_open_do = [this, at_once](StreamRef stream) {
      if (at_once) answer(stream);
      requests.emplace_back(1 << 20);
      return &requests.back();
    };
  }
  void answer(StreamRef stream) {
    ASSERT_LT(answered, answers.size());
    EXPECT_TRUE(pair.b->endpoint.answer(pair.now, stream, &answers[answered++]));
  }
  StreamRef fetch(Rank rank, BufferSink& sink, ScheduleVersion version = ScheduleVersion(1)) {
    return pair.a->endpoint.open(pair.now, EndpointPair::kPeer,
                                 {.job = "job", .rank = rank, .version = version}, nullptr, &sink);
  }
  uint32_t streams_left() {
    return pair.a->endpoint.session_stats(EndpointPair::kPeer).open_streams +
           pair.b->endpoint.session_stats(EndpointPair::kPeer).open_streams;
  }

  EndpointPair pair;
  std::deque<BufferSource> answers;
  size_t answered = 0;
  std::list<BufferSink> requests;
};

}  // namespace tictac::fakes
