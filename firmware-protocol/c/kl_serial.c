#include "kl_serial.h"

#include <string.h>

#include "kl_crc16.h"

enum { TURN = 0x01, FRESH = 0x02, ANSWER = 0x80, HEAD = 2, CHECK = 2, NO_ADDRESS = 0xff };

size_t kl_frame_encode(uint8_t *out, const kl_frame *frame)
{
    uint8_t bytes[KL_LONGEST_FRAME];
    if (frame->length > KL_LONGEST_PACKET) return 0;
    bytes[0] = frame->address;
    bytes[1] = (uint8_t)((frame->turn ? TURN : 0) | (frame->is_fresh ? FRESH : 0) | (frame->is_answer ? ANSWER : 0));
    if (frame->length > 0) memcpy(bytes + HEAD, frame->packet, frame->length);
    size_t end = HEAD + frame->length;
    uint16_t check = kl_crc16(bytes, end);
    bytes[end] = (uint8_t)(check >> 8);
    bytes[end + 1] = (uint8_t)check;
    size_t stuffed = kl_stuff(out, bytes, end + CHECK);
    out[stuffed] = 0;
    return stuffed + 1;
}

kl_frame_fault kl_frame_decode(kl_frame *frame, uint8_t *stuffed, size_t length)
{
    size_t written;
    if (length > KL_LONGEST_STUFFED || !kl_unstuff(stuffed, &written, stuffed, length)) return KL_BAD_STUFFING;
    if (written < HEAD + CHECK || written > KL_LONGEST_FRAME) return KL_BAD_LENGTH;
    size_t end = written - CHECK;
    if (kl_crc16(stuffed, end) != (stuffed[end] << 8 | stuffed[end + 1])) return KL_BAD_CHECK;
    uint8_t control = stuffed[1];
    if ((control & ~(TURN | FRESH | ANSWER)) != 0 || stuffed[0] == NO_ADDRESS) return KL_BAD_CONTROL;
    *frame = (kl_frame){
        .address = stuffed[0],
        .turn = control & TURN,
        .is_fresh = (control & FRESH) != 0,
        .is_answer = (control & ANSWER) != 0,
        .packet = stuffed + HEAD,
        .length = end - HEAD,
    };
    return KL_FRAME;
}

void kl_serial_init(kl_serial *serial, uint8_t address)
{
    memset(serial, 0, sizeof *serial);
    serial->address = address;
}

static kl_call judge_call(const kl_serial *serial, const kl_frame *frame)
{
    if (frame->is_answer || frame->address != serial->address) return KL_NO_CALL;
    bool is_repeat = serial->has_answered && serial->turn == frame->turn && !frame->is_fresh;
    return is_repeat ? KL_REPEATED_CALL : KL_CALL;
}

kl_call kl_serial_byte(kl_serial *serial, uint8_t byte, kl_frame *call)
{
    if (byte != 0) {
        if (serial->held == sizeof serial->line) serial->is_overlong = true;
        else serial->line[serial->held++] = byte;
        return KL_NO_CALL;
    }
    size_t length = serial->held;
    bool is_whole = !serial->is_overlong;
    serial->held = 0;
    serial->is_overlong = false;
    if (!is_whole || kl_frame_decode(call, serial->line, length) != KL_FRAME) return KL_NO_CALL;
    return judge_call(serial, call);
}

void kl_serial_answer(kl_serial *serial, const kl_frame *call, const uint8_t *packet, size_t length)
{
    const kl_frame frame = {.address = serial->address, .turn = call->turn, .is_answer = true, .packet = packet, .length = length};
    serial->has_answered = true;
    serial->turn = call->turn;
    serial->answer_length = kl_frame_encode(serial->answer, &frame);
}
