#include "kl_pieces.h"

#include <string.h>

enum { FIRST = 0x80, LAST = 0x40, COUNT = 0x3f };

size_t kl_next_piece(kl_cutting *cutting, uint8_t *piece)
{
    size_t left = cutting->length - cutting->at;
    size_t part = left < cutting->size - 1 ? left : cutting->size - 1;
    if (part == 0) return 0;
    piece[0] = (uint8_t)((cutting->at == 0 ? FIRST : 0) | (part == left ? LAST : 0) | cutting->sequence);
    memcpy(piece + 1, cutting->packet + cutting->at, part);
    cutting->at += part;
    cutting->sequence = (cutting->sequence + 1) & COUNT;
    return 1 + part;
}

static kl_piece give_up(kl_joining *joining)
{
    joining->is_holding = false;
    return KL_PIECE_DROPPED;
}

kl_piece kl_take_piece(kl_joining *joining, const uint8_t *piece, size_t length)
{
    if (length < 2) return give_up(joining);
    bool is_first = (piece[0] & FIRST) != 0;
    if (!is_first && (!joining->is_holding || (piece[0] & COUNT) != joining->next)) return give_up(joining);
    if (is_first) joining->length = 0;
    if (joining->length + length - 1 > sizeof joining->packet) return give_up(joining);
    memcpy(joining->packet + joining->length, piece + 1, length - 1);
    joining->length += length - 1;
    joining->next = (uint8_t)((piece[0] + 1) & COUNT);
    joining->is_holding = (piece[0] & LAST) == 0;
    return joining->is_holding ? KL_MORE : KL_WHOLE;
}
