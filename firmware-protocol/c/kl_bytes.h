/* Small moves on bytes that every part makes. */
#ifndef KL_BYTES_H
#define KL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Overwrites secrets; a compiler may not leave it out. */
static inline void kl_wipe(void *memory, size_t length)
{
    volatile uint8_t *at = (volatile uint8_t *)memory;
    while (length > 0) {
        *at++ = 0;
        length -= 1;
    }
}

static inline void kl_put_be64(uint8_t out[8], uint64_t value)
{
    for (int at = 7; at >= 0; at -= 1) {
        out[at] = (uint8_t)value;
        value >>= 8;
    }
}

static inline uint64_t kl_get_be64(const uint8_t in[8])
{
    uint64_t value = 0;
    for (int at = 0; at < 8; at += 1) value = (value << 8) | in[at];
    return value;
}

#endif
