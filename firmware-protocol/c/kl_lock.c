#include "kl_lock.h"

#include <string.h>

#include "kl_noise.h"

#define WRONG_KEY_PAUSE_MS 60000
/* Event `wrong-key`. */
#define WRONG_KEY_EVENT 12

static const char label[] = "kannuki-link/1";

static void drop(const kl_lock *lock, kl_drop reason)
{
    if (lock->config.hooks.dropped != NULL) lock->config.hooks.dropped(lock->config.hooks.context, reason);
}

static void untold(const kl_lock *lock)
{
    if (lock->config.hooks.untold != NULL) lock->config.hooks.untold(lock->config.hooks.context);
}

static void transmit(const kl_lock *lock, const uint8_t *packet, size_t length)
{
    lock->config.hooks.transmit(lock->config.hooks.context, packet, length);
}

static void refuse(const kl_lock *lock, kl_drop reason, kl_say word)
{
    const uint8_t packet[3] = {KL_VERSION, KL_PACKET_REFUSAL, (uint8_t)word};
    drop(lock, reason);
    transmit(lock, packet, sizeof packet);
}

/* One record in the proven session. False where the map is no message. */
static bool say(kl_lock *lock, const kl_map *message)
{
    uint8_t clear[KL_LONGEST_MAP];
    size_t length = kl_message_encode(KL_FROM_LOCK, message, clear, sizeof clear);
    if (length == 0) return false;
    if (!lock->current.is_standing) {
        untold(lock);
        return true;
    }
    size_t sealed = kl_record_seal(&lock->current.channel, lock->packet, (kl_part){clear, length});
    transmit(lock, lock->packet, sealed);
    return true;
}

static void acknowledge(kl_lock *lock, uint64_t uptime, uint32_t request, kl_result result, bool is_repeated)
{
    kl_map ack = {0};
    kl_put_number(&ack, KL_KEY_KIND, KL_ACK);
    kl_put_number(&ack, KL_KEY_UPTIME, uptime);
    kl_put_number(&ack, KL_KEY_ANSWERED, request);
    kl_put_number(&ack, 3, result);
    kl_put_flag(&ack, 4, is_repeated);
    say(lock, &ack);
}

static size_t encode_identity(const kl_lock *lock, uint64_t uptime, uint8_t out[KL_LONGEST_MAP])
{
    kl_map identity = {0};
    kl_put_number(&identity, KL_KEY_KIND, KL_IDENTITY);
    kl_put_number(&identity, KL_KEY_UPTIME, uptime);
    kl_put_text(&identity, 2, lock->config.vendor);
    kl_put_text(&identity, 3, lock->config.model);
    kl_put_text(&identity, 4, lock->config.serial);
    kl_put_text(&identity, 5, lock->config.firmware);
    kl_put_number(&identity, 6, lock->config.abilities);
    return kl_message_encode(KL_FROM_LOCK, &identity, out, KL_LONGEST_MAP);
}

bool kl_lock_init(kl_lock *lock, const kl_config *config)
{
    size_t length = strlen(config->device_id);
    if (length == 0 || length > KL_LONGEST_ID || config->hooks.transmit == NULL) return false;
    if (config->hooks.execute == NULL || config->hooks.ask == NULL) return false;
    memset(lock, 0, sizeof *lock);
    lock->config = *config;
    return encode_identity(lock, KL_HIGHEST_NUMBER, lock->clear) > 0;
}

void kl_lock_keys(kl_lock *lock, const uint8_t key[KL_KEY], const uint8_t *candidate)
{
    memcpy(lock->config.key, key, KL_KEY);
    lock->config.has_candidate = candidate != NULL;
    if (candidate != NULL) memcpy(lock->config.candidate, candidate, KL_KEY);
    else kl_wipe(lock->config.candidate, KL_KEY);
}

/* ---- handshakes ---- */

static bool read_hello(const kl_lock *lock, kl_noise *noise, const uint8_t key[KL_KEY], kl_part message)
{
    uint8_t prologue[sizeof label - 1 + KL_LONGEST_ID];
    size_t length = strlen(lock->config.device_id);
    memcpy(prologue, label, sizeof label - 1);
    memcpy(prologue + sizeof label - 1, lock->config.device_id, length);
    return kl_noise_read_hello(noise, key, (kl_part){prologue, sizeof label - 1 + length}, message, NULL);
}

/* Somebody without a key of ours; the gateway is told in the running session, once a minute. */
static void refuse_key(kl_lock *lock, uint64_t uptime)
{
    lock->wrong_keys += 1;
    refuse(lock, KL_DROP_WRONG_KEY, KL_SAY_WRONG_KEY);
    bool is_due = !lock->has_told_wrong_key || uptime - lock->wrong_key_told_at >= WRONG_KEY_PAUSE_MS;
    if (!lock->current.is_standing || !is_due) return;
    lock->has_told_wrong_key = true;
    lock->wrong_key_told_at = uptime;
    kl_map event = {0};
    kl_put_number(&event, KL_KEY_KIND, KL_EVENT);
    kl_put_number(&event, 2, 0);
    kl_put_number(&event, 3, WRONG_KEY_EVENT);
    kl_put_number(&event, 4, lock->wrong_keys);
    kl_lock_tell(lock, uptime, event);
}

/* Curve arithmetic once a second at the most, and only for a message made with a key of ours. */
static void answer_hello(kl_lock *lock, uint64_t uptime, const uint8_t entropy[KL_KEY], kl_part message)
{
    kl_noise noise;
    kl_noise_keys keys;
    bool is_under_key = read_hello(lock, &noise, lock->config.key, message);
    bool is_ours = is_under_key || (lock->config.has_candidate && read_hello(lock, &noise, lock->config.candidate, message));
    if (!is_ours) {
        refuse_key(lock, uptime);
        return;
    }
    if (uptime < lock->not_before) {
        refuse(lock, KL_DROP_TOO_SOON, KL_SAY_TOO_SOON);
        return;
    }
    size_t length = encode_identity(lock, uptime, lock->clear);
    lock->packet[0] = KL_VERSION;
    lock->packet[1] = KL_PACKET_WELCOME;
    if (!kl_noise_write_welcome(&noise, entropy, (kl_part){lock->clear, length}, lock->packet + 2, &keys)) {
        refuse_key(lock, uptime);
        return;
    }
    lock->sessions += 1;
    lock->not_before = uptime + KL_HANDSHAKE_PAUSE_MS;
    memset(&lock->pending, 0, sizeof lock->pending);
    lock->pending.number = lock->sessions;
    lock->pending.is_standing = true;
    lock->pending.is_under_candidate = !is_under_key;
    memcpy(lock->pending.channel.send_key, keys.to_initiator, KL_KEY);
    memcpy(lock->pending.channel.receive_key, keys.to_responder, KL_KEY);
    kl_wipe(&noise, sizeof noise);
    kl_wipe(&keys, sizeof keys);
    transmit(lock, lock->packet, 2 + KL_NOISE_SHORTEST + length);
}

/* The first record of the pending session: the one before it ends. */
static void prove(kl_lock *lock)
{
    const kl_hooks *hooks = &lock->config.hooks;
    bool is_confirmed = lock->pending.is_under_candidate && lock->config.has_candidate;
    lock->current = lock->pending;
    kl_wipe(&lock->pending, sizeof lock->pending);
    if (is_confirmed) kl_lock_keys(lock, lock->config.candidate, NULL);
    if (hooks->session != NULL) hooks->session(hooks->context, lock->current.number);
    if (is_confirmed && hooks->key_confirmed != NULL) hooks->key_confirmed(hooks->context, lock->config.key);
}

/* ---- commands ---- */

static bool is_question(const kl_map *command)
{
    uint64_t kind = kl_map_number(command, KL_KEY_KIND, 0);
    return kind == KL_QUERY || kind == KL_SLOTS_READ;
}

static void begin(kl_lock *lock, uint64_t uptime, const kl_map *command)
{
    const kl_hooks *hooks = &lock->config.hooks;
    const kl_ticket ticket = {lock->current.number, (uint32_t)kl_map_number(command, KL_KEY_REQUEST, 0)};
    bool is_late = uptime > kl_map_number(command, KL_KEY_NOT_AFTER, 0);
    if (is_question(command)) {
        if (is_late) acknowledge(lock, uptime, ticket.request, KL_EXPIRED, false);
        else hooks->ask(hooks->context, ticket, command);
        return;
    }
    kl_result result;
    switch (kl_once_begin(&lock->current.once, ticket.request, &result)) {
    case KL_NEW:
        if (is_late) kl_lock_done(lock, uptime, ticket, KL_EXPIRED);
        else hooks->execute(hooks->context, ticket, command);
        break;
    case KL_UNDER_WAY:
        drop(lock, KL_DROP_REPEATED);
        break;
    case KL_ANSWERED:
        drop(lock, KL_DROP_REPEATED);
        acknowledge(lock, uptime, ticket.request, result, true);
        break;
    case KL_TOO_OLD:
        drop(lock, KL_DROP_TOO_OLD);
        break;
    }
}

/* A command that is not understood is not carried out, and said so where its number can be read. */
static void take_message(kl_lock *lock, uint64_t uptime, size_t length)
{
    kl_map message;
    kl_refusal refusal = kl_message_decode(KL_TO_LOCK, &message, lock->clear, length);
    if (refusal == KL_OK) {
        begin(lock, uptime, &message);
        return;
    }
    drop(lock, KL_DROP_MALFORMED);
    const kl_item *request = refusal >= KL_UNKNOWN_KIND ? kl_map_find(&message, KL_KEY_REQUEST) : NULL;
    if (request == NULL || request->type != KL_NUMBER) return;
    if (request->as.number < 1 || request->as.number > 0xffffffffu) return;
    acknowledge(lock, uptime, (uint32_t)request->as.number, KL_UNSUPPORTED, false);
}

/* The pending session is tried first. */
static void take_record(kl_lock *lock, uint64_t uptime, kl_part packet)
{
    size_t length = packet.length - KL_RECORD_HEAD - KL_TAG;
    if (lock->pending.is_standing && kl_record_open(&lock->pending.channel, lock->clear, packet) == KL_OPENED) {
        prove(lock);
        take_message(lock, uptime, length);
        return;
    }
    kl_opening opening = KL_NOT_AUTHENTIC;
    if (lock->current.is_standing) opening = kl_record_open(&lock->current.channel, lock->clear, packet);
    if (opening == KL_OPENED) take_message(lock, uptime, length);
    else if (opening == KL_OLD) drop(lock, KL_DROP_OLD);
    else refuse(lock, KL_DROP_NO_SESSION, KL_SAY_NO_SESSION);
}

void kl_lock_packet(kl_lock *lock, uint64_t uptime, const uint8_t entropy[KL_KEY], const uint8_t *packet, size_t length)
{
    const kl_part whole = {packet, length};
    switch (kl_packet_type(whole)) {
    case KL_PACKET_HELLO:
        answer_hello(lock, uptime, entropy, (kl_part){packet + 2, length - 2});
        break;
    case KL_PACKET_RECORD:
        take_record(lock, uptime, whole);
        break;
    case KL_PACKET_WELCOME:
    case KL_PACKET_REFUSAL:
        drop(lock, KL_DROP_NOT_FOR_LOCKS);
        break;
    default:
        drop(lock, KL_DROP_NO_PACKET);
        break;
    }
}

/* ---- what is told ---- */

static bool is_current(const kl_lock *lock, kl_ticket ticket)
{
    return lock->current.is_standing && lock->current.number == ticket.session;
}

void kl_lock_done(kl_lock *lock, uint64_t uptime, kl_ticket ticket, kl_result result)
{
    if (is_current(lock, ticket) && kl_once_answer(&lock->current.once, ticket.request, result)) {
        acknowledge(lock, uptime, ticket.request, result, false);
    } else {
        untold(lock);
    }
}

bool kl_lock_answer(kl_lock *lock, uint64_t uptime, kl_ticket ticket, kl_map answer)
{
    kl_put_number(&answer, KL_KEY_UPTIME, uptime);
    kl_put_number(&answer, KL_KEY_ANSWERED, ticket.request);
    if (is_current(lock, ticket)) return say(lock, &answer);
    untold(lock);
    return true;
}

void kl_lock_refuse(kl_lock *lock, uint64_t uptime, kl_ticket ticket, kl_result result)
{
    if (is_current(lock, ticket)) acknowledge(lock, uptime, ticket.request, result, false);
    else untold(lock);
}

bool kl_lock_tell(kl_lock *lock, uint64_t uptime, kl_map message)
{
    kl_put_number(&message, KL_KEY_UPTIME, uptime);
    return say(lock, &message);
}
