/*
 * The lock's side of the link: handshakes answered, commands carried out once and in time, and what is told back.
 *
 * It allocates nothing, waits for nothing and calls nothing but kl_crypto.h and the hooks. All times are milliseconds of
 * the lock's uptime. Nothing is carried out but a new command of a proven session that has not expired; a restart forgets
 * every session, so that nothing sent before it can act after it.
 */
#ifndef KL_LOCK_H
#define KL_LOCK_H

#include "kl_message.h"
#include "kl_once.h"
#include "kl_packet.h"

/* Longest device id, bytes. */
#define KL_LONGEST_ID 64
/* Between two handshakes, ms. */
#define KL_HANDSHAKE_PAUSE_MS 1000

/* Why a packet had no effect. */
typedef enum {
    KL_DROP_NO_PACKET,
    KL_DROP_NOT_FOR_LOCKS,
    KL_DROP_WRONG_KEY,
    KL_DROP_TOO_SOON,
    KL_DROP_NO_SESSION,
    KL_DROP_OLD,
    KL_DROP_MALFORMED,
    KL_DROP_REPEATED,
    KL_DROP_TOO_OLD,
} kl_drop;

/* Which command an answer belongs to: a late answer of an ended session goes nowhere. */
typedef struct {
    uint32_t session;
    uint32_t request;
} kl_ticket;

/*
 * What the lock's program does. `execute` and `ask` come last in a step, and may call back into the lock; the others may
 * not. Maps and bytes stand until the hook returns.
 */
typedef struct {
    void *context;
    void (*transmit)(void *context, const uint8_t *packet, size_t length);
    /* To be carried out now, once; kl_lock_done follows, now or later. */
    void (*execute)(void *context, kl_ticket ticket, const kl_map *command);
    /* A question, to be answered now by kl_lock_answer or kl_lock_refuse. */
    void (*ask)(void *context, kl_ticket ticket, const kl_map *question);
    /* A new session is proven, and the one before it over. May be NULL, as those below. */
    void (*session)(void *context, uint32_t number);
    /* A session under the candidate is proven: store it as the only key. */
    void (*key_confirmed)(void *context, const uint8_t key[KL_KEY]);
    void (*dropped)(void *context, kl_drop reason);
    /* There was no session to say it in. */
    void (*untold)(void *context);
} kl_hooks;

typedef struct {
    uint32_t number;
    bool is_standing;
    bool is_under_candidate;
    kl_channel channel;
    kl_once once;
} kl_session;

typedef struct {
    const char *device_id;
    uint8_t key[KL_KEY];
    bool has_candidate;
    uint8_t candidate[KL_KEY];
    /* Keys 2 to 6 of the message `identity`; texts must outlive the lock. */
    const char *vendor, *model, *serial, *firmware;
    uint32_t abilities;
    kl_hooks hooks;
} kl_config;

typedef struct {
    kl_config config;
    kl_session current, pending;
    uint32_t sessions;
    uint64_t not_before;
    uint32_t wrong_keys;
    bool has_told_wrong_key;
    uint64_t wrong_key_told_at;
    uint8_t clear[KL_LONGEST_MAP];
    uint8_t packet[KL_LONGEST_PACKET];
} kl_lock;

/* A lock that has just started. False where the configuration cannot be. */
bool kl_lock_init(kl_lock *lock, const kl_config *config);

/* A packet arrived. `entropy`: 32 fresh random bytes, used only by a handshake. */
void kl_lock_packet(kl_lock *lock, uint64_t uptime, const uint8_t entropy[KL_KEY], const uint8_t *packet, size_t length);

/* What became of a command. */
void kl_lock_done(kl_lock *lock, uint64_t uptime, kl_ticket ticket, kl_result result);

/* Answers a question with KL_STATUS or KL_SLOT; uptime and number are filled in. False where the map is no such message. */
bool kl_lock_answer(kl_lock *lock, uint64_t uptime, kl_ticket ticket, kl_map answer);

/* To a question that this lock cannot answer; KL_UNSUPPORTED, or why it cannot now. */
void kl_lock_refuse(kl_lock *lock, uint64_t uptime, kl_ticket ticket, kl_result result);

/* Says something by itself: KL_STATUS, KL_CARD, KL_KEYS, KL_TOKEN, KL_EVENT, KL_LOG; uptime is filled in. */
bool kl_lock_tell(kl_lock *lock, uint64_t uptime, kl_map message);

/* The keys as they now stand in the memory that survives a power cut. `candidate` may be NULL. */
void kl_lock_keys(kl_lock *lock, const uint8_t key[KL_KEY], const uint8_t *candidate);

#endif
