/*
 * A lock on standard input and output: one line in, the lines of its answer out, then a line with a dot. What may be said
 * is what vectors.txt has after `> `.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kl_lock.h"
#include "../kl_noise.h"
#include "../kl_pieces.h"
#include "../kl_serial.h"
#include "lines.h"

static kl_lock lock;
static char texts[5][128];
static kl_joining joining;

static const char *const refusals[] = {
    "ok", "too-long", "truncated", "trailing", "not-a-map", "too-many", "bad-key", "bad-order", "bad-type", "not-shortest",
    "too-big", "bad-text", "unknown-kind", "unknown-field", "missing-field", "wrong-type", "out-of-range",
};
static const char *const drops[] = {
    "no-packet", "not-for-locks", "wrong-key", "too-soon", "no-session", "old", "malformed", "repeated", "too-old",
};
static const char *const faults[] = {"frame", "stuffing", "length", "check", "control"};

/* ---- the lock's hooks say what they were told ---- */

static void say_bytes(const char *what, const uint8_t *bytes, size_t length)
{
    printf("%s ", what);
    print_hex(bytes, length);
    puts("");
}

static void say_command(const char *what, kl_ticket ticket, const kl_map *command)
{
    printf("%s %" PRIu32 " %" PRIu32 " ", what, ticket.session, ticket.request);
    print_items(command);
    puts("");
}

static void on_transmit(void *context, const uint8_t *packet, size_t length)
{
    (void)context;
    say_bytes("transmit", packet, length);
}

static void on_execute(void *context, kl_ticket ticket, const kl_map *command)
{
    (void)context;
    say_command("execute", ticket, command);
}

static void on_ask(void *context, kl_ticket ticket, const kl_map *question)
{
    (void)context;
    say_command("ask", ticket, question);
}

static void on_session(void *context, uint32_t number)
{
    (void)context;
    printf("session %" PRIu32 "\n", number);
}

static void on_key_confirmed(void *context, const uint8_t key[KL_KEY])
{
    (void)context;
    say_bytes("key-confirmed", key, KL_KEY);
}

static void on_dropped(void *context, kl_drop reason)
{
    (void)context;
    printf("dropped %s\n", drops[reason]);
}

static void on_untold(void *context)
{
    (void)context;
    puts("untold");
}

/* ---- one line each ---- */

static void do_lock(char *line)
{
    octets word;
    kl_config config = {
        .device_id = texts[0], .vendor = texts[1], .model = texts[2], .serial = texts[3], .firmware = texts[4],
        .hooks = {NULL, on_transmit, on_execute, on_ask, on_session, on_key_confirmed, on_dropped, on_untold},
    };
    for (int at = 0; at < 5; at += 1) {
        if (!next_octets(&line, &word) || word.length >= sizeof texts[at]) goto failed;
        memcpy(texts[at], word.bytes, word.length);
        texts[at][word.length] = 0;
        if (at > 0) continue;
        if (!next_octets(&line, &word) || word.length != KL_KEY) goto failed;
        memcpy(config.key, word.bytes, KL_KEY);
        if (!next_octets(&line, &word)) goto failed;
        config.has_candidate = word.length == KL_KEY;
        if (config.has_candidate) memcpy(config.candidate, word.bytes, KL_KEY);
    }
    config.abilities = (uint32_t)next_number(&line);
    if (kl_lock_init(&lock, &config)) return;
failed:
    puts("failed");
}

static void do_packet(char *line)
{
    octets entropy, packet;
    uint64_t uptime = next_number(&line);
    if (next_octets(&line, &entropy) && entropy.length == KL_KEY && next_octets(&line, &packet)) {
        kl_lock_packet(&lock, uptime, entropy.bytes, packet.bytes, packet.length);
    } else {
        puts("failed");
    }
}

static kl_ticket next_ticket(char **line)
{
    uint32_t session = (uint32_t)next_number(line);
    return (kl_ticket){session, (uint32_t)next_number(line)};
}

static void do_done(char *line)
{
    uint64_t uptime = next_number(&line);
    kl_ticket ticket = next_ticket(&line);
    kl_lock_done(&lock, uptime, ticket, (kl_result)next_number(&line));
}

static void do_refuse(char *line)
{
    uint64_t uptime = next_number(&line);
    kl_ticket ticket = next_ticket(&line);
    kl_lock_refuse(&lock, uptime, ticket, (kl_result)next_number(&line));
}

static void do_answer(char *line)
{
    octets room;
    kl_map map;
    uint64_t uptime = next_number(&line);
    kl_ticket ticket = next_ticket(&line);
    if (!parse_items(next_word(&line), &map, &room) || !kl_lock_answer(&lock, uptime, ticket, map)) puts("failed");
}

static void do_tell(char *line)
{
    octets room;
    kl_map map;
    uint64_t uptime = next_number(&line);
    if (!parse_items(next_word(&line), &map, &room) || !kl_lock_tell(&lock, uptime, map)) puts("failed");
}

static void do_keys(char *line)
{
    octets key, candidate;
    if (!next_octets(&line, &key) || key.length != KL_KEY || !next_octets(&line, &candidate)) puts("failed");
    else kl_lock_keys(&lock, key.bytes, candidate.length == KL_KEY ? candidate.bytes : NULL);
}

static kl_direction next_direction(char **line)
{
    return strcmp(next_word(line), "to") == 0 ? KL_TO_LOCK : KL_FROM_LOCK;
}

static void do_decode(char *line)
{
    octets bytes;
    kl_map map;
    kl_direction direction = next_direction(&line);
    if (!next_octets(&line, &bytes)) bytes.length = 0;
    kl_refusal refusal = kl_message_decode(direction, &map, bytes.bytes, bytes.length);
    printf(refusal == KL_OK ? "ok " : "refused %s", refusals[refusal]);
    if (refusal == KL_OK) print_items(&map);
    puts("");
}

static void do_encode(char *line)
{
    octets room;
    kl_map map;
    uint8_t out[KL_LONGEST_MAP];
    kl_direction direction = next_direction(&line);
    size_t length = parse_items(next_word(&line), &map, &room) ? kl_message_encode(direction, &map, out, sizeof out) : 0;
    if (length == 0) puts("failed");
    else say_bytes("ok", out, length);
}

static void do_stuff(char *line)
{
    octets bytes;
    uint8_t out[KL_STUFFED(LONGEST_WORD)];
    if (next_octets(&line, &bytes)) say_bytes("ok", out, kl_stuff(out, bytes.bytes, bytes.length));
}

static void do_unstuff(char *line)
{
    octets bytes;
    size_t length;
    if (next_octets(&line, &bytes) && kl_unstuff(bytes.bytes, &length, bytes.bytes, bytes.length)) say_bytes("ok", bytes.bytes, length);
    else puts("failed");
}

static void do_frame(char *line)
{
    octets packet;
    uint8_t out[KL_LONGEST_STUFFED + 1];
    kl_frame frame = {.address = (uint8_t)next_number(&line)};
    frame.turn = (uint8_t)next_number(&line);
    frame.is_fresh = next_number(&line) == 1;
    frame.is_answer = next_number(&line) == 1;
    next_octets(&line, &packet);
    frame.packet = packet.bytes;
    frame.length = packet.length;
    say_bytes("ok", out, kl_frame_encode(out, &frame));
}

static void do_unframe(char *line)
{
    octets bytes;
    kl_frame frame;
    next_octets(&line, &bytes);
    kl_frame_fault fault = kl_frame_decode(&frame, bytes.bytes, bytes.length);
    if (fault != KL_FRAME) {
        printf("dropped %s\n", faults[fault]);
        return;
    }
    printf("ok %u %u %d %d ", frame.address, frame.turn, frame.is_fresh, frame.is_answer);
    print_hex(frame.packet, frame.length);
    puts("");
}

static void do_cut(char *line)
{
    octets packet;
    uint8_t piece[LONGEST_WORD];
    kl_cutting cutting = {.size = (size_t)next_number(&line)};
    cutting.sequence = (uint8_t)next_number(&line);
    next_octets(&line, &packet);
    cutting.packet = packet.bytes;
    cutting.length = packet.length;
    for (size_t length = kl_next_piece(&cutting, piece); length > 0; length = kl_next_piece(&cutting, piece)) say_bytes("piece", piece, length);
}

static void do_piece(char *line)
{
    octets bytes;
    next_octets(&line, &bytes);
    kl_piece result = kl_take_piece(&joining, bytes.bytes, bytes.length);
    if (result == KL_WHOLE) say_bytes("packet", joining.packet, joining.length);
    else puts(result == KL_MORE ? "more" : "dropped");
}

static void do_seal(char *line)
{
    octets key, clear;
    uint8_t packet[KL_LONGEST_PACKET];
    kl_channel channel = {.send_counter = 0};
    next_octets(&line, &key);
    memcpy(channel.send_key, key.bytes, KL_KEY);
    channel.send_counter = next_number(&line);
    next_octets(&line, &clear);
    if (clear.length > KL_LONGEST_MAP) puts("failed");
    else say_bytes("ok", packet, kl_record_seal(&channel, packet, (kl_part){clear.bytes, clear.length}));
}

static void do_open(char *line)
{
    octets key, packet;
    uint8_t clear[KL_LONGEST_MAP];
    kl_channel channel = {.receive_counter = 0};
    next_octets(&line, &key);
    memcpy(channel.receive_key, key.bytes, KL_KEY);
    next_octets(&line, &packet);
    const kl_part whole = {packet.bytes, packet.length};
    if (kl_packet_type(whole) != KL_PACKET_RECORD || kl_record_open(&channel, clear, whole) != KL_OPENED) {
        puts("failed");
        return;
    }
    printf("ok %" PRIu64 " ", channel.receive_counter - 1);
    print_hex(clear, packet.length - KL_RECORD_HEAD - KL_TAG);
    puts("");
}

/* noise <key> <prologue> <ephemeral> <message> <payload>: the responder's side of one handshake. */
static void do_noise(char *line)
{
    octets key, prologue, ephemeral, hello, payload;
    kl_noise noise;
    kl_noise_keys keys;
    uint8_t clear[LONGEST_WORD], welcome[LONGEST_WORD + KL_NOISE_SHORTEST];
    bool is_good = next_octets(&line, &key) && next_octets(&line, &prologue) && next_octets(&line, &ephemeral);
    is_good = is_good && next_octets(&line, &hello) && next_octets(&line, &payload);
    is_good = is_good && kl_noise_read_hello(&noise, key.bytes, (kl_part){prologue.bytes, prologue.length}, (kl_part){hello.bytes, hello.length}, clear);
    is_good = is_good && kl_noise_write_welcome(&noise, ephemeral.bytes, (kl_part){payload.bytes, payload.length}, welcome, &keys);
    if (!is_good) {
        puts("failed");
        return;
    }
    say_bytes("payload", clear, hello.length - KL_NOISE_SHORTEST);
    say_bytes("message", welcome, payload.length + KL_NOISE_SHORTEST);
    say_bytes("hash", noise.hash, 32);
    say_bytes("to-responder", keys.to_responder, KL_KEY);
    say_bytes("to-initiator", keys.to_initiator, KL_KEY);
}

static void do_x25519(char *line)
{
    octets scalar, point;
    uint8_t result[KL_KEY];
    next_octets(&line, &scalar);
    next_octets(&line, &point);
    if (kl_x25519(result, scalar.bytes, point.bytes)) say_bytes("ok", result, KL_KEY);
    else puts("failed");
}

static const struct {
    const char *name;
    void (*act)(char *line);
} acts[] = {
    {"lock", do_lock}, {"packet", do_packet}, {"done", do_done}, {"answer", do_answer}, {"refuse", do_refuse}, {"tell", do_tell}, {"keys", do_keys},
    {"decode", do_decode}, {"encode", do_encode}, {"stuff", do_stuff}, {"unstuff", do_unstuff}, {"frame", do_frame},
    {"unframe", do_unframe}, {"cut", do_cut}, {"piece", do_piece}, {"seal", do_seal}, {"open", do_open}, {"noise", do_noise},
    {"x25519", do_x25519},
};

int main(void)
{
    static char line[LONGEST_LINE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line;
        const char *name = next_word(&rest);
        bool is_known = false;
        for (size_t at = 0; at < sizeof acts / sizeof *acts; at += 1) {
            if (strcmp(acts[at].name, name) != 0) continue;
            acts[at].act(rest);
            is_known = true;
        }
        if (!is_known) puts("unknown");
        puts(".");
        fflush(stdout);
    }
    return 0;
}
