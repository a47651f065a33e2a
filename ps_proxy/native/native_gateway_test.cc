#include "ps_proxy/native/native_gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "ps_proxy/native/test_host.h"

namespace tictac::native {
namespace {

using ::testing::ElementsAre;

class Gateway : public ::testing::Test {
 protected:
  tictac_name_id name(tictac_client* client, const std::string& text) {
    tictac_name_id id = kNone;
    EXPECT_EQ(tictac_name(client, text.c_str(), &id), TICTAC_OK) << tictac_error();
    return id;
  }
  // A buffer filled from (seed, offset).
  static uint8_t* filled(tictac_client* client, size_t size, uint8_t seed) {
    auto* buffer = static_cast<uint8_t*>(tictac_alloc(client, size));
    for (size_t i = 0; i < size; ++i) buffer[i] = static_cast<uint8_t>(seed + i * 7);
    return buffer;
  }
  static uint8_t* empty(tictac_client* client, size_t size) {
    auto* buffer = static_cast<uint8_t*>(tictac_alloc(client, size));
    std::memset(buffer, 0, size);
    return buffer;
  }
  void fetch(const std::string& text, uint8_t* buffer, size_t size, uint64_t tag) {
    ASSERT_EQ(tictac_fetch(requester.get(), name(requester.get(), text), 0, buffer, size, tag), TICTAC_OK)
        << tictac_error();
  }
  void serve(const std::string& text) {
    ASSERT_EQ(tictac_serve(server.get(), name(server.get(), text)), TICTAC_OK);
  }
  tictac_event complete() { return pair.next(requester.get(), TICTAC_EVENT_COMPLETE); }
  tictac_event request() { return pair.next(server.get(), TICTAC_EVENT_REQUEST); }
  tictac_event answer_done() { return pair.next(server.get(), TICTAC_EVENT_ANSWER_DONE); }

  TestPair pair;
  uint64_t requester_id = 0;
  uint64_t server_id = 0;
  TestClient requester = pair.worker->connect("job", pair.now, 256, 1 << 20, &requester_id);
  TestClient server = pair.ps->connect("job", pair.now, 256, 1 << 20, &server_id);
};

TEST_F(Gateway, BringsATensorWhole) {
  constexpr size_t kSize = 100'000;
  serve("w");
  uint8_t* into = empty(requester.get(), kSize);
  fetch("w", into, kSize, 42);
  const tictac_event asked = request();
  EXPECT_STREQ(tictac_name_text(server.get(), asked.name), "w");
  EXPECT_EQ(asked.size, kSize);
  EXPECT_EQ(asked.peer, 0U);
  uint8_t* from = filled(server.get(), kSize, 3);
  ASSERT_EQ(tictac_answer(server.get(), asked.request, from, kSize), TICTAC_OK);
  const tictac_event done = complete();
  EXPECT_EQ(done.status, TICTAC_OK);
  EXPECT_EQ(done.tag, 42U);
  EXPECT_EQ(done.size, kSize);
  EXPECT_GT(done.time_ns, 0U);
  EXPECT_EQ(std::memcmp(into, from, kSize), 0);
  const tictac_event freed = answer_done();
  EXPECT_EQ(freed.status, TICTAC_OK);
  EXPECT_EQ(freed.request, asked.request);
}

TEST_F(Gateway, AnswersOfZeroBytesComplete) {
  serve("w");
  fetch("w", nullptr, 0, 1);
  ASSERT_EQ(tictac_answer(server.get(), request().request, nullptr, 0), TICTAC_OK);
  EXPECT_EQ(complete().status, TICTAC_OK);
  EXPECT_EQ(answer_done().status, TICTAC_OK);
}

TEST_F(Gateway, ARequestWaitsForItsServer) {
  uint8_t* into = empty(requester.get(), 10);
  fetch("w", into, 10, 1);
  pair.run(500ms);
  EXPECT_TRUE(pair.events(server.get()).size() <= 1);  // PEER_UP at most
  serve("w");
  const tictac_event asked = request();
  ASSERT_EQ(tictac_answer(server.get(), asked.request, filled(server.get(), 10, 1), 10), TICTAC_OK);
  EXPECT_EQ(complete().status, TICTAC_OK);
}

TEST_F(Gateway, JobsDoNotMeet) {
  const TestClient other = pair.ps->connect("another job", pair.now);
  ASSERT_EQ(tictac_serve(other.get(), name(other.get(), "w")), TICTAC_OK);
  fetch("w", empty(requester.get(), 10), 10, 1);
  for (const tictac_event& event : pair.events(other.get(), 200ms))
    EXPECT_EQ(event.kind, TICTAC_EVENT_PEER_UP);
}

TEST_F(Gateway, OnlyOneClientServesAName) {
  serve("w");
  const TestClient other = pair.ps->connect("job", pair.now);
  const tictac_name_id id = name(other.get(), "w");
  ASSERT_EQ(tictac_serve(other.get(), id), TICTAC_OK);
  EXPECT_EQ(pair.next(other.get(), TICTAC_EVENT_SERVE_REFUSED).name, id);
  ASSERT_EQ(tictac_unserve(server.get(), name(server.get(), "w")), TICTAC_OK);
  pair.run(1ms);
  ASSERT_EQ(tictac_serve(other.get(), id), TICTAC_OK);
  fetch("w", nullptr, 0, 1);
  EXPECT_EQ(pair.next(other.get(), TICTAC_EVENT_REQUEST).name, id);
}

TEST_F(Gateway, ATensorThatDoesNotFitSaysHowLargeItIs) {
  serve("w");
  fetch("w", empty(requester.get(), 100), 100, 1);
  const tictac_event asked = request();
  ASSERT_EQ(tictac_answer(server.get(), asked.request, filled(server.get(), 5000, 1), 5000), TICTAC_OK);
  const tictac_event done = complete();
  EXPECT_EQ(done.status, TICTAC_BUFFER_SMALL);
  EXPECT_EQ(done.size, 8192U);
  EXPECT_EQ(answer_done().status, TICTAC_BUFFER_SMALL);
}

TEST_F(Gateway, DeclinedFetchesEnd) {
  serve("w");
  fetch("w", nullptr, 0, 1);
  ASSERT_EQ(tictac_decline(server.get(), request().request), TICTAC_OK);
  EXPECT_EQ(complete().status, TICTAC_DECLINED);
}

TEST_F(Gateway, ACancelledFetchEndsAtBothSides) {
  serve("w");
  fetch("w", empty(requester.get(), 10), 10, 1);
  const tictac_event asked = request();
  ASSERT_EQ(tictac_cancel(requester.get(), 1), TICTAC_OK);
  EXPECT_EQ(complete().status, TICTAC_CANCELLED);
  const tictac_event gone = pair.next(server.get(), TICTAC_EVENT_REQUEST_CANCELLED);
  EXPECT_EQ(gone.request, asked.request);
  // An answer that was on its way gives its buffer back.
  ASSERT_EQ(tictac_answer(server.get(), asked.request, filled(server.get(), 10, 1), 10), TICTAC_OK);
  const tictac_event freed = answer_done();
  EXPECT_EQ(freed.request, asked.request);
  EXPECT_EQ(freed.status, TICTAC_CANCELLED);
}

TEST_F(Gateway, ACancelledParkedRequestIsNotDelivered) {
  fetch("w", nullptr, 0, 1);
  pair.run(10ms);
  ASSERT_EQ(tictac_cancel(requester.get(), 1), TICTAC_OK);
  EXPECT_EQ(complete().status, TICTAC_CANCELLED);
  pair.run(10ms);
  serve("w");
  for (const tictac_event& event : pair.events(server.get(), 50ms))
    EXPECT_EQ(event.kind, TICTAC_EVENT_PEER_UP);
}

TEST_F(Gateway, ACancelInMidTransferEndsTheAnswer) {
  constexpr size_t kSize = 900'000;
  serve("w");
  fetch("w", empty(requester.get(), kSize), kSize, 1);
  ASSERT_EQ(tictac_answer(server.get(), request().request, filled(server.get(), kSize, 1), kSize), TICTAC_OK);
  pair.run(150us);
  ASSERT_EQ(tictac_cancel(requester.get(), 1), TICTAC_OK);
  EXPECT_EQ(complete().status, TICTAC_CANCELLED);
  EXPECT_EQ(answer_done().status, TICTAC_CANCELLED);
}

TEST_F(Gateway, TooManyParkedRequestsAreRefused) {
  TestPair small({}, {.most_parked = 2});
  const TestClient client = small.worker->connect("job", small.now);
  for (uint64_t tag = 0; tag < 3; ++tag) {
    ASSERT_EQ(tictac_fetch(client.get(), name(client.get(), "w"), 0, nullptr, 0, tag), TICTAC_OK);
  }
  const tictac_event refused = small.next(client.get(), TICTAC_EVENT_COMPLETE);
  EXPECT_EQ(refused.status, TICTAC_PARKED_FULL);
  EXPECT_EQ(refused.tag, 2U);
  EXPECT_EQ(small.events(client.get(), 100ms).size(), 0U);
}

TEST_F(Gateway, APeerThatIsLostEndsItsOperations) {
  serve("w");
  fetch("w", nullptr, 0, 1);
  request();
  pair.cut = true;
  const Time start = pair.now;
  EXPECT_EQ(pair.next(requester.get(), TICTAC_EVENT_COMPLETE, 3s).status, TICTAC_PEER_LOST);
  EXPECT_LT(pair.now - start, 2s);
  pair.next(requester.get(), TICTAC_EVENT_PEER_DOWN);
  EXPECT_EQ(tictac_peer_is_up(requester.get(), 0), 0);
  EXPECT_EQ(pair.next(server.get(), TICTAC_EVENT_REQUEST_CANCELLED).status, TICTAC_PEER_LOST);
  fetch("w", nullptr, 0, 2);
  EXPECT_EQ(complete().status, TICTAC_PEER_DOWN);
  pair.cut = false;
  pair.next(requester.get(), TICTAC_EVENT_PEER_UP, 2s);
  EXPECT_EQ(tictac_peer_is_up(requester.get(), 0), 1);
}

TEST_F(Gateway, ManyRequestsThanSlotsAreDeliveredInTurn) {
  const TestClient narrow = pair.ps->connect("job", pair.now, 2);
  ASSERT_EQ(tictac_serve(narrow.get(), name(narrow.get(), "n")), TICTAC_OK);
  pair.run(1ms);
  for (uint64_t tag = 0; tag < 5; ++tag) fetch("n", nullptr, 0, tag);
  for (int i = 0; i < 5; ++i) {
    const tictac_event asked = pair.next(narrow.get(), TICTAC_EVENT_REQUEST);
    ASSERT_EQ(tictac_answer(narrow.get(), asked.request, nullptr, 0), TICTAC_OK);
    EXPECT_EQ(complete().tag, static_cast<uint64_t>(i));
  }
}

TEST_F(Gateway, ACrashedRequesterGivesEverythingBack) {
  constexpr size_t kSize = 900'000;
  serve("w");
  fetch("w", empty(requester.get(), kSize), kSize, 1);
  const tictac_event asked = request();
  ASSERT_EQ(tictac_answer(server.get(), asked.request, filled(server.get(), kSize, 1), kSize), TICTAC_OK);
  fetch("parked", nullptr, 0, 2);
  pair.run(150us);
  pair.worker->disconnect(requester_id);
  EXPECT_TRUE(pair.run_until([&] { return !pair.worker->detached.empty(); }, 1s));
  EXPECT_THAT(pair.worker->detached, ElementsAre(requester_id));
  EXPECT_EQ(answer_done().status, TICTAC_CANCELLED);
  pair.run(100ms);
  for (TestHost* host : {pair.worker.get(), pair.ps.get()}) {
    EXPECT_EQ(host->endpoint.session_stats(PeerId(0)).open_streams, 0U);
  }
}

TEST_F(Gateway, ACrashedServerEndsItsRequestersFetches) {
  constexpr size_t kSize = 900'000;
  serve("answering");
  serve("asked");
  fetch("answering", empty(requester.get(), kSize), kSize, 1);
  ASSERT_EQ(tictac_answer(server.get(), request().request, filled(server.get(), kSize, 1), kSize), TICTAC_OK);
  fetch("asked", nullptr, 0, 2);
  request();
  pair.ps->disconnect(server_id);
  EXPECT_EQ(complete().status, TICTAC_APP_GONE);
  EXPECT_EQ(complete().status, TICTAC_APP_GONE);
  EXPECT_TRUE(pair.run_until([&] { return !pair.ps->detached.empty(); }, 1s));
  // The next application of the job takes over.
  const TestClient next = pair.ps->connect("job", pair.now);
  ASSERT_EQ(tictac_serve(next.get(), name(next.get(), "asked")), TICTAC_OK);
  fetch("asked", nullptr, 0, 3);
  pair.next(next.get(), TICTAC_EVENT_REQUEST);
}

TEST_F(Gateway, EventsThatDoNotFitWaitAndNoneIsLost) {
  constexpr uint64_t kRounds = 3000;  // the ring has 256
  serve("w");
  uint64_t sent = 0;
  uint64_t answered = 0;
  uint64_t seen = 0;
  tictac_event event;
  // The requester takes no events at first.
  ASSERT_TRUE(pair.run_until([&] {
    while (sent < kRounds &&
           tictac_fetch(requester.get(), name(requester.get(), "w"), 0, nullptr, 0, sent) == TICTAC_OK) {
      ++sent;
    }
    while (tictac_wait(server.get(), &event, 1, 0) == 1) {
      if (event.kind != TICTAC_EVENT_REQUEST) continue;
      EXPECT_EQ(tictac_answer(server.get(), event.request, nullptr, 0), TICTAC_OK);
      ++answered;
    }
    if (sent == 256 && answered < 256) return false;
    while (tictac_wait(requester.get(), &event, 1, 0) == 1) {
      if (event.kind != TICTAC_EVENT_COMPLETE) continue;
      EXPECT_EQ(event.tag, seen++);
    }
    return seen == kRounds;
  }));
  EXPECT_EQ(answered, kRounds);
}

}  // namespace
}  // namespace tictac::native
