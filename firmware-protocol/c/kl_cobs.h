/* Consistent overhead byte stuffing: bytes without a zero, so that a zero can end a frame. */
#ifndef KL_COBS_H
#define KL_COBS_H

#include "kl_bytes.h"

/* The most that stuffing makes of `length` bytes, without the ending zero. */
#define KL_STUFFED(length) ((length) + 1 + (length) / 254)

/* Writes the stuffed bytes without the ending zero. `out` must not overlap `in`. */
size_t kl_stuff(uint8_t *out, const uint8_t *in, size_t length);

/* False where it is no stuffing. Writes less than `length` bytes; `out` may be `in`. */
bool kl_unstuff(uint8_t *out, size_t *written, const uint8_t *in, size_t length);

#endif
