/* A whole application: `example serve SOCKET` gives out one tensor, `example fetch SOCKET PEER` fetches it
 * once. Build it against an installed TicTac:  cc example.c $(pkg-config --cflags --libs tictac) -o example
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tictac.h>

enum { TENSOR_BYTES = 4000000 };

static void check(int status, const char* what) {
  if (status == TICTAC_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, tictac_status_text(status), tictac_error());
  exit(1);
}

/* Waits for one event; ends the program when the proxy has gone. */
static tictac_event next_event(tictac_client* client) {
  tictac_event event;
  const int count = tictac_wait(client, &event, 1, -1);
  if (count < 0) check(-count, "wait");
  return event;
}

static void serve(tictac_client* client, tictac_name_id name) {
  uint8_t* tensor = tictac_alloc(client, TENSOR_BYTES);
  if (tensor == NULL) check(TICTAC_NO_MEMORY, "alloc");
  memset(tensor, 7, TENSOR_BYTES);
  check(tictac_serve(client, name), "serve");
  for (;;) {
    const tictac_event event = next_event(client);
    /* Several answers may share the tensor; it must stay as it is until each one's ANSWER_DONE. */
    if (event.kind == TICTAC_EVENT_REQUEST)
      check(tictac_answer(client, event.request, tensor, TENSOR_BYTES), "answer");
    if (event.kind == TICTAC_EVENT_SERVE_REFUSED) {
      fprintf(stderr, "another application of this job serves %s\n", tictac_name_text(client, event.name));
      exit(1);
    }
  }
}

static void fetch(tictac_client* client, tictac_name_id name, const char* peer_name) {
  tictac_peer_id peer = 0;
  check(tictac_peer(client, peer_name, &peer), "peer");
  check(tictac_wait_peer(client, peer, INT64_C(5000000000)), "wait for the peer");
  uint8_t* buffer = tictac_alloc(client, TENSOR_BYTES);
  if (buffer == NULL) check(TICTAC_NO_MEMORY, "alloc");
  check(tictac_fetch(client, name, peer, buffer, TENSOR_BYTES, /*tag=*/1), "fetch");
  for (;;) {
    const tictac_event event = next_event(client);
    if (event.kind != TICTAC_EVENT_COMPLETE) continue;
    printf("%s: %s, %llu bytes, the first is %d; rank %u of schedule version %llu\n",
           tictac_name_text(client, event.name), tictac_status_text(event.status),
           (unsigned long long)event.size, buffer[0], event.rank, (unsigned long long)event.schedule_version);
    if (event.status != TICTAC_OK) exit(1);
    return;
  }
}

int main(int argc, char** argv) {
  const int serves = argc == 3 && strcmp(argv[1], "serve") == 0;
  const int fetches = argc == 4 && strcmp(argv[1], "fetch") == 0;
  if (!serves && !fetches) {
    fprintf(stderr, "usage: %s serve SOCKET | fetch SOCKET PEER\n", argv[0]);
    return 2;
  }
  tictac_options options = {0};
  options.socket = argv[2];
  options.application = serves ? "ps0" : "worker0";
  options.job = "demo"; /* the JOB of `tictac push --job JOB` */
  tictac_client* client = NULL;
  check(tictac_connect(&options, &client), "connect");
  tictac_name_id name = 0;
  check(tictac_name(client, "layer1/weights", &name), "name");
  if (serves) serve(client, name);
  fetch(client, name, argv[3]);
  tictac_close(client);
  return 0;
}
