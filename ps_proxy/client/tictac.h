/* TicTac's client interface: an application fetches tensors by name from applications behind other sidecars,
 * and serves tensors of its own, through shared memory with the tictac-proxy of its host.
 *
 *   requester                                             server
 *   tictac_name, tictac_peer                              tictac_name, tictac_serve
 *   tictac_fetch(name, peer, buffer, tag)  -------------> TICTAC_EVENT_REQUEST(request, name)
 *                                                         tictac_answer(request, buffer)
 *   TICTAC_EVENT_COMPLETE(tag, size)       <------------- TICTAC_EVENT_ANSWER_DONE(request)
 *
 * The interface is symmetric: a gradient is a fetch that the parameter server directs at the worker.
 *
 * Rules that hold for every call:
 * - Threads: a client belongs to one thread at a time. For more threads, connect more clients.
 * - Blocking: only tictac_connect, tictac_stats, tictac_wait and tictac_wait_peer may block, all with a limit
 *   that the caller gives or that is written there. Nothing else makes a system call, unless the proxy
 *   sleeps: then one that wakes it.
 * - Errors: a call that fails says why in its status and, in words, in tictac_error().
 * - Operations end exactly once: each tictac_fetch that returned TICTAC_OK gives one COMPLETE event, each
 *   tictac_answer one ANSWER_DONE event, whatever happens to the peer. When the proxy itself ends,
 *   tictac_wait returns TICTAC_PROXY_GONE, nothing more arrives, and only tictac_close remains.
 *
 * Compiles as C11 and C++17. Link with libtictac.so. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C has no namespaces. */

#define TICTAC_MAX_NAME 1000       /* bytes of a tensor's name */
#define TICTAC_MAX_JOB 128         /* bytes of a job's name */
#define TICTAC_MAX_APPLICATION 128 /* bytes of an application's name */
#define TICTAC_ALIGNMENT 64        /* bytes; every buffer begins at a multiple */

/* A connection to the proxy. */
typedef struct tictac_client tictac_client;

/* A number for a name or a peer, valid in the client that gave it. */
typedef uint32_t tictac_name_id;
typedef uint32_t tictac_peer_id;

typedef enum tictac_status {
  TICTAC_OK = 0,
  /* What a call itself may return. */
  TICTAC_BAD_ARGUMENT = 1, /* null, empty, too long, an unknown number, memory outside of the arena */
  TICTAC_NO_PROXY = 2,     /* nothing answers at the socket's path, or it may not be used */
  TICTAC_REFUSED = 3,      /* the proxy refused the connection: version, limits, names */
  TICTAC_NO_MEMORY = 4,    /* the arena has no free piece of that size, or the host has no memory */
  TICTAC_FULL = 5,         /* too much is under way: take events with tictac_wait, then try again */
  TICTAC_PROXY_GONE = 6,   /* the proxy ended or closed the connection: close this client, connect again */
  TICTAC_SYSTEM = 7,       /* a system call failed; tictac_error() says which */
  TICTAC_TIMEOUT = 8,      /* tictac_wait_peer, tictac_stats, tictac_connect */
  TICTAC_NO_SUCH_PEER = 9, /* the proxy's configuration has no peer of that name */
  /* How an operation may end: `status` of COMPLETE and ANSWER_DONE. */
  TICTAC_PEER_DOWN = 10,    /* the peer is not connected now; try again after PEER_UP */
  TICTAC_PEER_LOST = 11,    /* the peer died, restarted or became unreachable while the operation ran */
  TICTAC_CANCELLED = 12,    /* tictac_cancel, or for an answer: the requester wants it no more */
  TICTAC_BUFFER_SMALL = 13, /* the tensor is larger than the buffer; `size` is enough (it is rounded up) */
  TICTAC_DECLINED = 14,     /* the serving application called tictac_decline */
  TICTAC_APP_GONE = 15,     /* the application that was to answer has gone */
  TICTAC_PARKED_FULL = 16,  /* nobody serves the name, and too many requests wait for a server already */
  TICTAC_PROTOCOL = 17      /* the peer's proxy refused the request as malformed (versions differ?) */
} tictac_status;

/* A short constant text for a status. */
const char* tictac_status_text(int status);

/* Why the last failed call of this thread failed: one line that names the thing and the cure. */
const char* tictac_error(void);

/* Connection. */

typedef struct tictac_options {
  /* The proxy's native socket; NULL: $TICTAC_SOCKET, else native.sock in /run/tictac (root),
   * $XDG_RUNTIME_DIR/tictac or /tmp/tictac-UID. */
  const char* socket;
  const char* application; /* who connects, for logs and statistics: "worker0" */
  const char* job;         /* whose schedule ranks the fetches; requests meet servers of the same job only */
  uint64_t arena_bytes;    /* memory for tensors; 0: 64 MiB. The proxy's limit is in its configuration. */
  uint32_t max_operations; /* fetches at once, and requests at once; 0: 4096, at most 65536 */
  uint32_t spin_us;        /* tictac_wait looks for this long before it sleeps; 0: it sleeps at once */
} tictac_options;

/* Connects; waits at most 5 s for the proxy. The proxy makes the shared memory and touches it, so that no
 * page fault hits a transfer. On success *out is the client. */
int tictac_connect(const tictac_options* options, tictac_client** out);

/* Ends everything: fetches are cancelled, served names end, the arena's memory goes away. NULL is allowed. */
void tictac_close(tictac_client* client);

/* Memory. */

/* A buffer in the arena, aligned to 64 bytes, not cleared; null (and tictac_error()) when no piece is free.
 * Memory that was just freed is given out again first: it is still in the cache. */
void* tictac_alloc(tictac_client* client, uint64_t size);
/* Only what tictac_alloc returned, and never while an operation uses it. NULL is allowed. */
void tictac_free(tictac_client* client, void* buffer);

/* Names and peers. */

/* Registers a tensor's name (its name on the wire, any bytes but 0) once; the same name gives the same
 * number. */
int tictac_name(tictac_client* client, const char* name, tictac_name_id* id);
/* The text of a registered name; null for an unknown number. */
const char* tictac_name_text(const tictac_client* client, tictac_name_id id);

/* The number of another host's sidecar, by its name in the proxy's configuration: 0 .. tictac_peer_count()
 * - 1. */
int tictac_peer(const tictac_client* client, const char* name, tictac_peer_id* id);
const char* tictac_peer_text(const tictac_client* client, tictac_peer_id id);
uint32_t tictac_peer_count(const tictac_client* client);
/* 1 when the peer is connected now. Reads memory only. */
int tictac_peer_is_up(const tictac_client* client, tictac_peer_id id);
/* Waits until the peer is connected: TICTAC_OK, TICTAC_TIMEOUT or TICTAC_PROXY_GONE. Takes no events. */
int tictac_wait_peer(tictac_client* client, tictac_peer_id id, int64_t timeout_ns);

/* Operations. */

/* Asks the application behind `peer` that serves `name` for the tensor. Up to `capacity` bytes (at least the
 * tensor's size) are written to `buffer`, which must lie in the arena and stay untouched until the COMPLETE
 * event. `tag` comes back in that event; it must differ from the tags of all fetches under way. A fetch has
 * no time limit: while nobody serves the name it waits, until the peer is lost or it is cancelled. */
int tictac_fetch(tictac_client* client, tictac_name_id name, tictac_peer_id peer, void* buffer,
                 uint64_t capacity, uint64_t tag);

/* Ends the fetch with this tag. Its COMPLETE event still comes, with TICTAC_CANCELLED, or with another status
 * if it ended before. A tag without a fetch is ignored. */
int tictac_cancel(tictac_client* client, uint64_t tag);

/* From now on this client gets the requests for `name` in its job, also those that wait already. When another
 * client of the job serves it, TICTAC_EVENT_SERVE_REFUSED follows. Idempotent. */
int tictac_serve(tictac_client* client, tictac_name_id name);
/* Stops; requests that were delivered may still be answered, later ones wait for the next server. */
int tictac_unserve(tictac_client* client, tictac_name_id name);

/* Answers a REQUEST with `size` bytes at `buffer` (in the arena; may be null if size is 0). The buffer must
 * stay as it is until ANSWER_DONE(request); several answers may share it. */
int tictac_answer(tictac_client* client, uint64_t request, const void* buffer, uint64_t size);
/* Ends a REQUEST without a tensor: the requester's fetch ends with TICTAC_DECLINED. No event follows. */
int tictac_decline(tictac_client* client, uint64_t request);

/* Events. */

typedef enum tictac_event_kind {
  TICTAC_EVENT_COMPLETE = 1,          /* tag, name, peer, status, size, time, schedule_version, rank */
  TICTAC_EVENT_REQUEST = 2,           /* request, name, peer (who asks), time, size (room at the requester) */
  TICTAC_EVENT_REQUEST_CANCELLED = 3, /* request, name, peer, status: answering it is harmless and useless */
  TICTAC_EVENT_ANSWER_DONE = 4, /* request, name, peer, status, time: the buffer is the application's again */
  TICTAC_EVENT_PEER_UP = 5,     /* peer, time; at connect also for the peers that are up already */
  TICTAC_EVENT_PEER_DOWN = 6,   /* peer, time; the ends of its operations came before */
  TICTAC_EVENT_SERVE_REFUSED = 7 /* name: another application of the job serves it */
} tictac_event_kind;

typedef struct tictac_event {
  uint32_t kind;    /* tictac_event_kind */
  int32_t status;   /* tictac_status */
  uint64_t tag;     /* of the fetch */
  uint64_t request; /* unique in this client for ever */
  uint64_t size;    /* bytes */
  uint64_t time_ns; /* CLOCK_MONOTONIC: when the last byte (or the request, the ack) reached the proxy */
  uint64_t schedule_version; /* of the schedule that ranked the fetch in the end; 0: none was in force */
  tictac_name_id name;
  tictac_peer_id peer;
  uint32_t rank; /* level that the schedule gave the fetch in the end */
  uint32_t reserved;
} tictac_event;

/* Takes up to `max` events, oldest first. Returns how many, 0 after `timeout_ns` (0: does not wait, below 0:
 * waits without limit), or a negative tictac_status (-TICTAC_PROXY_GONE). When events are there it makes no
 * system call. */
int tictac_wait(tictac_client* client, tictac_event* events, int max, int64_t timeout_ns);

/* Looking in. */

/* The proxy's statistics now as one JSON document (keys: ps_proxy/README.md), at most `capacity` - 1 bytes
 * and a 0. *size is what it needs, the 0 included; TICTAC_NO_MEMORY when that is more than `capacity`. Waits
 * at most 2 s. Counters only grow: take them before and after, and subtract. */
int tictac_stats(tictac_client* client, char* json, size_t capacity, size_t* size);

/* What this client did, to see that a busy one makes no system calls. */
typedef struct tictac_client_counters {
  uint64_t submissions;
  uint64_t events;
  uint64_t doorbells; /* times that the proxy slept and had to be woken: one system call each */
  uint64_t sleeps;    /* times that tictac_wait slept */
} tictac_client_counters;
void tictac_counters(const tictac_client* client, tictac_client_counters* out);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
} /* extern "C" */
#endif
