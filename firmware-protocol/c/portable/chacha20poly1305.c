/* ChaCha20-Poly1305 as RFC 8439 describes it. */
#include <string.h>

#include "../kl_crypto.h"

static uint32_t get_le32(const uint8_t in[4])
{
    return in[0] | ((uint32_t)in[1] << 8) | ((uint32_t)in[2] << 16) | ((uint32_t)in[3] << 24);
}

static void put_le32(uint8_t out[4], uint32_t value)
{
    for (int at = 0; at < 4; at += 1) out[at] = (uint8_t)(value >> (8 * at));
}

static uint32_t turn(uint32_t word, int bits)
{
    return (word << bits) | (word >> (32 - bits));
}

static void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b, *d = turn(*d ^ *a, 16);
    *c += *d, *b = turn(*b ^ *c, 12);
    *a += *b, *d = turn(*d ^ *a, 8);
    *c += *d, *b = turn(*b ^ *c, 7);
}

static void stream_block(uint8_t out[64], const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], uint32_t counter)
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int at = 0; at < 8; at += 1) start[4 + at] = get_le32(key + 4 * at);
    start[12] = counter;
    for (int at = 0; at < 3; at += 1) start[13 + at] = get_le32(nonce + 4 * at);
    uint32_t x[16];
    memcpy(x, start, sizeof x);
    for (int round = 0; round < 10; round += 1) {
        for (int at = 0; at < 4; at += 1) quarter(x + at, x + 4 + at, x + 8 + at, x + 12 + at);
        for (int at = 0; at < 4; at += 1) quarter(x + at, x + 4 + (at + 1) % 4, x + 8 + (at + 2) % 4, x + 12 + (at + 3) % 4);
    }
    for (int at = 0; at < 16; at += 1) put_le32(out + 4 * at, x[at] + start[at]);
}

static void cipher(uint8_t *out, const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], const uint8_t *in, size_t length)
{
    uint8_t block[64];
    for (size_t at = 0; at < length; at += 1) {
        if (at % 64 == 0) stream_block(block, key, nonce, 1 + (uint32_t)(at / 64));
        out[at] = in[at] ^ block[at % 64];
    }
    kl_wipe(block, sizeof block);
}

/* An accumulator modulo 2^130 - 5, in five limbs of 26 bits. */
typedef struct {
    uint32_t r[5], sum[5];
    uint8_t block[16];
    size_t held;
} mac_state;

static void add_block(mac_state *mac, const uint8_t block[16], uint32_t top)
{
    uint32_t *h = mac->sum;
    const uint32_t *r = mac->r;
    h[0] += get_le32(block) & 0x3ffffff;
    h[1] += (get_le32(block + 3) >> 2) & 0x3ffffff;
    h[2] += (get_le32(block + 6) >> 4) & 0x3ffffff;
    h[3] += (get_le32(block + 9) >> 6) & 0x3ffffff;
    h[4] += (get_le32(block + 12) >> 8) | (top << 24);
    uint64_t product[5] = {0};
    for (int i = 0; i < 5; i += 1) {
        for (int j = 0; j < 5; j += 1) {
            /* What reaches 2^130 comes back five times. */
            uint64_t factor = i + j < 5 ? r[j] : 5 * (uint64_t)r[j];
            product[(i + j) % 5] += h[i] * factor;
        }
    }
    uint64_t carry = 0;
    for (int at = 0; at < 5; at += 1) {
        product[at] += carry;
        carry = product[at] >> 26;
        h[at] = (uint32_t)product[at] & 0x3ffffff;
    }
    carry = h[0] + 5 * carry;
    h[0] = (uint32_t)carry & 0x3ffffff;
    h[1] += (uint32_t)(carry >> 26);
}

static void mac_take(mac_state *mac, const uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += 1) {
        mac->block[mac->held++] = bytes[at];
        if (mac->held < 16) continue;
        add_block(mac, mac->block, 1);
        mac->held = 0;
    }
}

/* Zeros up to a whole block. */
static void mac_pad(mac_state *mac)
{
    const uint8_t zero = 0;
    while (mac->held != 0) mac_take(mac, &zero, 1);
}

static void mac_end(const mac_state *mac, const uint8_t pad[16], uint8_t tag[KL_TAG])
{
    uint32_t h[5];
    memcpy(h, mac->sum, sizeof h);
    for (int pass = 0; pass < 2; pass += 1) {
        uint32_t carry = 0;
        for (int at = 0; at < 5; at += 1) {
            h[at] += carry;
            carry = h[at] >> 26;
            h[at] &= 0x3ffffff;
        }
        h[0] += 5 * carry;
    }
    /* h - p, taken where it is not negative. */
    uint32_t less[5];
    uint32_t carry = 5;
    for (int at = 0; at < 5; at += 1) {
        carry += h[at];
        less[at] = carry & 0x3ffffff;
        carry >>= 26;
    }
    uint32_t choose = 0u - carry;
    for (int at = 0; at < 5; at += 1) h[at] = (h[at] & ~choose) | (less[at] & choose);
    uint32_t words[4] = {h[0] | (h[1] << 26), (h[1] >> 6) | (h[2] << 20), (h[2] >> 12) | (h[3] << 14), (h[3] >> 18) | (h[4] << 8)};
    uint64_t sum = 0;
    for (int at = 0; at < 4; at += 1) {
        sum += (uint64_t)words[at] + get_le32(pad + 4 * at);
        put_le32(tag + 4 * at, (uint32_t)sum);
        sum >>= 32;
    }
}

static void authenticate(uint8_t tag[KL_TAG], const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], kl_part associated, kl_part sealed)
{
    uint8_t once[64];
    stream_block(once, key, nonce, 0);
    mac_state mac = {
        .r = {
            get_le32(once) & 0x3ffffff,
            (get_le32(once + 3) >> 2) & 0x3ffff03,
            (get_le32(once + 6) >> 4) & 0x3ffc0ff,
            (get_le32(once + 9) >> 6) & 0x3f03fff,
            (get_le32(once + 12) >> 8) & 0x00fffff,
        },
    };
    uint8_t lengths[16] = {0};
    put_le32(lengths, (uint32_t)associated.length);
    put_le32(lengths + 8, (uint32_t)sealed.length);
    mac_take(&mac, associated.bytes, associated.length);
    mac_pad(&mac);
    mac_take(&mac, sealed.bytes, sealed.length);
    mac_pad(&mac);
    mac_take(&mac, lengths, sizeof lengths);
    mac_end(&mac, once + 16, tag);
    kl_wipe(once, sizeof once);
    kl_wipe(&mac, sizeof mac);
}

void kl_seal(uint8_t *sealed, const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], kl_part associated, kl_part clear)
{
    cipher(sealed, key, nonce, clear.bytes, clear.length);
    authenticate(sealed + clear.length, key, nonce, associated, (kl_part){sealed, clear.length});
}

bool kl_open(uint8_t *clear, const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], kl_part associated, kl_part sealed)
{
    if (sealed.length < KL_TAG) return false;
    size_t length = sealed.length - KL_TAG;
    uint8_t tag[KL_TAG];
    authenticate(tag, key, nonce, associated, (kl_part){sealed.bytes, length});
    uint8_t difference = 0;
    for (int at = 0; at < KL_TAG; at += 1) difference |= tag[at] ^ sealed.bytes[length + at];
    if (difference != 0) return false;
    cipher(clear, key, nonce, sealed.bytes, length);
    return true;
}
