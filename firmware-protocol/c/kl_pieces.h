/* A packet in pieces, for transports whose units are shorter (BLE): one byte of head, 0x80 first, 0x40 last, a count. */
#ifndef KL_PIECES_H
#define KL_PIECES_H

#include "kl_packet.h"

/* Cuts one packet. Set `packet`, `length` and `size` (2 and more: on BLE the MTU less 3); `sequence` goes on by itself. */
typedef struct {
    const uint8_t *packet;
    size_t length;
    size_t size;
    size_t at;
    uint8_t sequence;
} kl_cutting;

/* Writes the next piece, at most `size` bytes; 0 after the last. */
size_t kl_next_piece(kl_cutting *cutting, uint8_t *piece);

typedef struct {
    bool is_holding;
    uint8_t next;
    size_t length;
    uint8_t packet[KL_LONGEST_PACKET];
} kl_joining;

typedef enum { KL_MORE, KL_WHOLE, KL_PIECE_DROPPED } kl_piece;

/* KL_WHOLE: `packet` and `length` are one packet, until the next piece. */
kl_piece kl_take_piece(kl_joining *joining, const uint8_t *piece, size_t length);

#endif
