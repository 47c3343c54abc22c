/*
 * The one shape of CBOR on this link: a map from small integers to numbers, bytes, text and flags, in its only encoding.
 * Decoding allocates nothing: bytes and text point into what was decoded.
 */
#ifndef KL_MAP_H
#define KL_MAP_H

#include "kl_bytes.h"

#define KL_ENTRIES 15
#define KL_HIGHEST_KEY 23
#define KL_LONGEST_MAP 480
/* Numbers are 0 to 2^53 - 1. */
#define KL_HIGHEST_NUMBER ((((uint64_t)1) << 53) - 1)

typedef enum { KL_NUMBER, KL_BYTES, KL_TEXT, KL_FLAG } kl_type;

typedef struct {
    uint8_t key;
    uint8_t type;
    /* Of bytes and text. */
    uint16_t length;
    union {
        /* A flag is 0 or 1. */
        uint64_t number;
        const uint8_t *bytes;
    } as;
} kl_item;

typedef struct {
    uint8_t count;
    kl_item items[KL_ENTRIES];
} kl_map;

/* What is wrong with a message; the first thing, in the order of its bytes and then of its keys. */
typedef enum {
    KL_OK,
    KL_TOO_LONG,
    KL_TRUNCATED,
    KL_TRAILING,
    KL_NOT_A_MAP,
    KL_TOO_MANY,
    KL_BAD_KEY,
    KL_BAD_ORDER,
    KL_BAD_TYPE,
    KL_NOT_SHORTEST,
    KL_TOO_BIG,
    KL_BAD_TEXT,
    KL_UNKNOWN_KIND,
    KL_UNKNOWN_FIELD,
    KL_MISSING_FIELD,
    KL_WRONG_TYPE,
    KL_OUT_OF_RANGE,
} kl_refusal;

/* `map` is whole only where the answer is KL_OK. */
kl_refusal kl_map_decode(kl_map *map, const uint8_t *bytes, size_t length);

/* Writes at most `room` bytes; 0 where the map cannot be encoded or does not fit. */
size_t kl_map_encode(const kl_map *map, uint8_t *out, size_t room);

/* NULL where there is none. */
const kl_item *kl_map_find(const kl_map *map, uint8_t key);

/* The number or flag under a key, or `otherwise`. */
uint64_t kl_map_number(const kl_map *map, uint8_t key, uint64_t otherwise);

/* Building a map: keys may be put in any order, each once; more than fit are not taken, and the map is refused later. */
void kl_put_number(kl_map *map, uint8_t key, uint64_t number);
void kl_put_flag(kl_map *map, uint8_t key, bool flag);
void kl_put_bytes(kl_map *map, uint8_t key, const void *bytes, size_t length);
void kl_put_text(kl_map *map, uint8_t key, const char *text);

#endif
