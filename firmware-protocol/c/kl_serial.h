/*
 * Frames on a serial line, and a lock's turns there: it speaks only when called by its address, takes each call once and
 * answers it as often as it is repeated.
 */
#ifndef KL_SERIAL_H
#define KL_SERIAL_H

#include "kl_cobs.h"
#include "kl_packet.h"

/* Address, control, packet, check. */
#define KL_LONGEST_FRAME (2 + KL_LONGEST_PACKET + 2)
#define KL_LONGEST_STUFFED KL_STUFFED(KL_LONGEST_FRAME)
/* An answer begins this long after the call's last byte at the latest. */
#define KL_ANSWER_WITHIN_MS 50

typedef struct {
    uint8_t address;
    uint8_t turn;
    bool is_fresh;
    bool is_answer;
    const uint8_t *packet;
    size_t length;
} kl_frame;

typedef enum { KL_FRAME, KL_BAD_STUFFING, KL_BAD_LENGTH, KL_BAD_CHECK, KL_BAD_CONTROL } kl_frame_fault;

/* Writes the stuffed frame and its zero, at most KL_LONGEST_STUFFED + 1 bytes; 0 where it does not fit. */
size_t kl_frame_encode(uint8_t *out, const kl_frame *frame);

/* Unstuffs in place; the frame points into `stuffed`. */
kl_frame_fault kl_frame_decode(kl_frame *frame, uint8_t *stuffed, size_t length);

typedef struct {
    uint8_t address;
    /* The last answer, to be said again. */
    bool has_answered;
    uint8_t turn;
    size_t answer_length;
    uint8_t answer[KL_LONGEST_STUFFED + 1];
    /* What came since the last zero. */
    bool is_overlong;
    size_t held;
    uint8_t line[KL_LONGEST_STUFFED];
} kl_serial;

typedef enum { KL_NO_CALL, KL_CALL, KL_REPEATED_CALL } kl_call;

void kl_serial_init(kl_serial *serial, uint8_t address);

/*
 * Takes one byte off the line. KL_CALL: take `packet`, which may be empty and stands until the next byte, and answer.
 * KL_REPEATED_CALL: send `answer` once more, and do nothing else.
 */
kl_call kl_serial_byte(kl_serial *serial, uint8_t byte, kl_frame *call);

/* Makes `answer` of what is to be said, or of nothing; it is then to be sent. */
void kl_serial_answer(kl_serial *serial, const kl_frame *call, const uint8_t *packet, size_t length);

#endif
