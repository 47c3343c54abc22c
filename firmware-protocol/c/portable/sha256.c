/* SHA-256 as FIPS 180-4 describes it. */
#include <string.h>

#include "../kl_crypto.h"

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

typedef struct {
    uint32_t words[8];
    uint8_t block[64];
    size_t held;
    uint64_t length;
} digesting;

static uint32_t turn(uint32_t word, int bits)
{
    return (word >> bits) | (word << (32 - bits));
}

static void take_block(digesting *state)
{
    uint32_t w[64];
    for (int at = 0; at < 16; at += 1) {
        const uint8_t *in = state->block + 4 * at;
        w[at] = ((uint32_t)in[0] << 24) | ((uint32_t)in[1] << 16) | ((uint32_t)in[2] << 8) | in[3];
    }
    for (int at = 16; at < 64; at += 1) {
        uint32_t low = turn(w[at - 15], 7) ^ turn(w[at - 15], 18) ^ (w[at - 15] >> 3);
        uint32_t high = turn(w[at - 2], 17) ^ turn(w[at - 2], 19) ^ (w[at - 2] >> 10);
        w[at] = w[at - 16] + low + w[at - 7] + high;
    }
    uint32_t v[8];
    memcpy(v, state->words, sizeof v);
    for (int at = 0; at < 64; at += 1) {
        uint32_t e = v[4], a = v[0];
        uint32_t one = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + round_constants[at] + w[at];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int at = 0; at < 8; at += 1) state->words[at] += v[at];
    state->held = 0;
}

static void take(digesting *state, const uint8_t *bytes, size_t length)
{
    state->length += length;
    for (size_t at = 0; at < length; at += 1) {
        state->block[state->held++] = bytes[at];
        if (state->held == sizeof state->block) take_block(state);
    }
}

void kl_sha256(uint8_t digest[32], const kl_part *parts, size_t count)
{
    digesting state = {
        .words = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
    };
    for (size_t at = 0; at < count; at += 1) take(&state, parts[at].bytes, parts[at].length);
    uint8_t bits[8];
    kl_put_be64(bits, state.length * 8);
    const uint8_t end = 0x80, zero = 0;
    take(&state, &end, 1);
    while (state.held != 56) take(&state, &zero, 1);
    take(&state, bits, sizeof bits);
    for (int at = 0; at < 32; at += 1) digest[at] = (uint8_t)(state.words[at / 4] >> (24 - 8 * (at % 4)));
    kl_wipe(&state, sizeof state);
}
