/*
 * fuzz <vectors.txt> <seed> <count>: takes the bytes of the vectors, damages them, and gives them to everything that reads
 * bytes from outside. Built with sanitizers it ends at the first read or write that is not allowed. It also ends where a
 * message is taken that is not its own only encoding, or where something is carried out that no session ever said.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kl_lock.h"
#include "../kl_pieces.h"
#include "../kl_serial.h"
#include "lines.h"

#define CORPUS 1024

typedef struct {
    octets items[CORPUS];
    size_t count;
} corpus;

static corpus messages, frames, pieces, packets;
static uint32_t dice_state;
static unsigned long taken, refused, executed, asked;
static bool may_execute;
/* Numbers that were carried out in this session: the small ones, of which there are enough. */
#define SMALL_NUMBERS 200
static bool was_executed[SMALL_NUMBERS];

static uint32_t dice(uint32_t below)
{
    dice_state += 0x6d2b79f5u;
    uint32_t mixed = (dice_state ^ (dice_state >> 15)) * (dice_state | 1);
    mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61);
    mixed ^= mixed >> 14;
    return mixed % below;
}

static void fail(const char *why, uint32_t round)
{
    fprintf(stderr, "round %" PRIu32 ": %s\n", round, why);
    abort();
}

static void keep(corpus *into, char *hex)
{
    if (into->count < CORPUS && next_octets(&hex, &into->items[into->count])) into->count += 1;
}

static void read_vectors(const char *name)
{
    static char line[LONGEST_LINE];
    FILE *file = fopen(name, "r");
    if (file == NULL) fail("no vectors", 0);
    while (fgets(line, sizeof line, file) != NULL) {
        char *rest = line;
        if (strcmp(next_word(&rest), ">") != 0) continue;
        const char *act = next_word(&rest);
        if (strcmp(act, "decode") == 0) {
            next_word(&rest);
            keep(&messages, rest);
        }
        if (strcmp(act, "unframe") == 0) keep(&frames, rest);
        if (strcmp(act, "piece") == 0) keep(&pieces, rest);
        if (strcmp(act, "packet") == 0) {
            next_word(&rest);
            next_word(&rest);
            keep(&packets, rest);
        }
    }
    fclose(file);
    if (messages.count == 0 || frames.count == 0 || pieces.count == 0 || packets.count == 0) fail("vectors without bytes", 0);
}

/* Up to four changes: a bit, a byte, a byte less, a byte more, the end gone, a part of another one behind. */
static void damage(const corpus *from, octets *out)
{
    *out = from->items[dice((uint32_t)from->count)];
    for (uint32_t changes = dice(5); changes > 0; changes -= 1) {
        uint32_t at = out->length > 0 ? dice((uint32_t)out->length) : 0;
        const octets *other = &from->items[dice((uint32_t)from->count)];
        switch (dice(6)) {
        case 0:
            if (out->length > 0) out->bytes[at] ^= (uint8_t)(1u << dice(8));
            break;
        case 1:
            if (out->length > 0) out->bytes[at] = (uint8_t)dice(256);
            break;
        case 2:
            if (out->length == 0) break;
            memmove(out->bytes + at, out->bytes + at + 1, out->length - at - 1);
            out->length -= 1;
            break;
        case 3:
            if (out->length + 1 > sizeof out->bytes) break;
            memmove(out->bytes + at + 1, out->bytes + at, out->length - at);
            out->bytes[at] = (uint8_t)dice(256);
            out->length += 1;
            break;
        case 4:
            out->length = at;
            break;
        default:
            if (out->length + other->length > 1024) break;
            memcpy(out->bytes + out->length, other->bytes, other->length);
            out->length += other->length;
        }
    }
}

/* Exactly as long as it is, so that a byte too far is noticed. */
static uint8_t *exact(const octets *from)
{
    uint8_t *copy = malloc(from->length > 0 ? from->length : 1);
    if (copy == NULL) abort();
    memcpy(copy, from->bytes, from->length);
    return copy;
}

static void try_message(uint32_t round, const octets *damaged)
{
    uint8_t *bytes = exact(damaged), again[KL_LONGEST_MAP];
    kl_map map;
    for (int direction = 0; direction < 2; direction += 1) {
        if (kl_message_decode((kl_direction)direction, &map, bytes, damaged->length) != KL_OK) {
            refused += 1;
            continue;
        }
        taken += 1;
        size_t length = kl_message_encode((kl_direction)direction, &map, again, sizeof again);
        if (length != damaged->length || memcmp(again, bytes, length) != 0) fail("a message with two encodings", round);
    }
    free(bytes);
}

static void try_frame(uint32_t round, const octets *damaged, kl_serial *serial)
{
    uint8_t *bytes = exact(damaged);
    uint8_t stuffed[KL_LONGEST_STUFFED + 1], packet[KL_LONGEST_PACKET];
    kl_frame frame, same;
    for (size_t at = 0; at < damaged->length; at += 1) kl_serial_byte(serial, bytes[at], &frame);
    if (kl_serial_byte(serial, 0, &frame) == KL_CALL) kl_serial_answer(serial, &frame, frame.packet, frame.length);
    if (kl_frame_decode(&frame, bytes, damaged->length) == KL_FRAME) {
        taken += 1;
        memcpy(packet, frame.packet, frame.length);
        frame.packet = packet;
        size_t length = kl_frame_encode(stuffed, &frame);
        bool is_same = kl_frame_decode(&same, stuffed, length - 1) == KL_FRAME && same.length == frame.length;
        if (!is_same || memcmp(same.packet, packet, same.length) != 0) fail("a frame that does not come back", round);
    } else {
        refused += 1;
    }
    free(bytes);
}

static void try_piece(const octets *damaged, kl_joining *joining)
{
    uint8_t *bytes = exact(damaged);
    if (kl_take_piece(joining, bytes, damaged->length) == KL_PIECE_DROPPED) refused += 1;
    free(bytes);
}

static void on_transmit(void *context, const uint8_t *packet, size_t length)
{
    (void)context;
    if (kl_packet_type((kl_part){packet, length}) == 0) abort();
}

static void on_execute(void *context, kl_ticket ticket, const kl_map *command)
{
    kl_lock *lock = context;
    if (!may_execute || kl_message_judge(KL_TO_LOCK, command) != KL_OK) abort();
    executed += 1;
    if (ticket.request < SMALL_NUMBERS) {
        if (was_executed[ticket.request]) abort();
        was_executed[ticket.request] = true;
    }
    if (dice(2) == 0) kl_lock_done(lock, 1000, ticket, (kl_result)dice(KL_FAULT + 1));
}

static void on_ask(void *context, kl_ticket ticket, const kl_map *question)
{
    (void)context;
    (void)ticket;
    if (!may_execute || kl_message_judge(KL_TO_LOCK, question) != KL_OK) abort();
    asked += 1;
}

/* A packet that nobody sealed: nothing may come of it. */
static void try_packet(kl_lock *lock, const octets *damaged)
{
    static const uint8_t entropy[KL_KEY] = {1, 2, 3};
    uint8_t *bytes = exact(damaged);
    may_execute = false;
    kl_lock_packet(lock, 1000, entropy, bytes, damaged->length);
    free(bytes);
}

/* Another number and lifetime, so that what is whole is also new, repeated, late or too old. */
static void renumber(octets *message)
{
    kl_map map;
    octets copy = *message;
    if (kl_map_decode(&map, copy.bytes, copy.length) != KL_OK) return;
    for (uint8_t at = 0; at < map.count; at += 1) {
        if (map.items[at].type != KL_NUMBER) continue;
        if (map.items[at].key == KL_KEY_REQUEST) map.items[at].as.number = dice(SMALL_NUMBERS);
        if (map.items[at].key == KL_KEY_NOT_AFTER) map.items[at].as.number = 900 + dice(1000);
    }
    size_t length = kl_map_encode(&map, message->bytes, KL_LONGEST_MAP);
    if (length > 0) message->length = length;
}

/* A message in the running session, well sealed, whatever it is. */
static void try_sealed(kl_lock *lock, kl_channel *gateway, octets *damaged)
{
    static const uint8_t entropy[KL_KEY] = {0};
    uint8_t packet[KL_LONGEST_PACKET];
    if (dice(3) != 0) renumber(damaged);
    if (damaged->length > KL_LONGEST_MAP) return;
    size_t length = kl_record_seal(gateway, packet, (kl_part){damaged->bytes, damaged->length});
    may_execute = true;
    kl_lock_packet(lock, 1000, entropy, packet, length);
}

/* A session whose keys both ends know, so that messages reach what is behind the tag. */
static void begin_session(kl_lock *lock, kl_channel *gateway)
{
    memset(gateway, 0, sizeof *gateway);
    memset(&lock->current, 0, sizeof lock->current);
    memset(was_executed, 0, sizeof was_executed);
    lock->sessions += 1;
    lock->current.number = lock->sessions;
    lock->current.is_standing = true;
    for (int at = 0; at < KL_KEY; at += 1) {
        gateway->send_key[at] = (uint8_t)(at + lock->sessions);
        gateway->receive_key[at] = (uint8_t)(at * 3 + 5);
    }
    memcpy(lock->current.channel.receive_key, gateway->send_key, KL_KEY);
    memcpy(lock->current.channel.send_key, gateway->receive_key, KL_KEY);
}

int main(int count_of_words, char **words)
{
    if (count_of_words != 4) return 2;
    read_vectors(words[1]);
    dice_state = (uint32_t)strtoul(words[2], NULL, 10);
    uint32_t rounds = (uint32_t)strtoul(words[3], NULL, 10);
    static kl_lock lock;
    static kl_serial serial;
    static kl_joining joining;
    static octets damaged;
    kl_channel gateway;
    const kl_config config = {
        .device_id = "fuzz", .vendor = "v", .model = "m", .serial = "s", .firmware = "f",
        .hooks = {.context = &lock, .transmit = on_transmit, .execute = on_execute, .ask = on_ask},
    };
    if (!kl_lock_init(&lock, &config)) return 2;
    kl_serial_init(&serial, 7);
    for (uint32_t round = 0; round < rounds; round += 1) {
        if (round % 4096 == 0) begin_session(&lock, &gateway);
        switch (dice(5)) {
        case 0:
            damage(&messages, &damaged);
            try_message(round, &damaged);
            break;
        case 1:
            damage(&frames, &damaged);
            try_frame(round, &damaged, &serial);
            break;
        case 2:
            damage(&pieces, &damaged);
            try_piece(&damaged, &joining);
            break;
        case 3:
            damage(&packets, &damaged);
            try_packet(&lock, &damaged);
            break;
        default:
            damage(&messages, &damaged);
            try_sealed(&lock, &gateway, &damaged);
        }
    }
    printf("%" PRIu32 " rounds: %lu taken, %lu refused, %lu carried out, %lu asked\n", rounds, taken, refused, executed, asked);
    return executed > 0 && asked > 0 && taken > 0 && refused > 0 ? 0 : 1;
}
