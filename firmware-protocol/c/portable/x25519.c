/*
 * X25519 as RFC 7748 describes it: the Montgomery ladder over numbers modulo 2^255 - 19, in sixteen limbs of 16 bits.
 * Small and plain rather than fast; it takes the same steps whatever the scalar is.
 */
#include <string.h>

#include "../kl_crypto.h"

typedef int64_t number[16];

/* Brings every limb back below 2^16; what leaves the top comes back 38 times. */
static void carry(number n)
{
    for (int at = 0; at < 16; at += 1) {
        int64_t over = n[at] >> 16;
        n[at] -= over * 65536;
        if (at < 15) n[at + 1] += over;
        else n[0] += 38 * over;
    }
}

static void add(number out, const number a, const number b)
{
    for (int at = 0; at < 16; at += 1) out[at] = a[at] + b[at];
}

static void subtract(number out, const number a, const number b)
{
    for (int at = 0; at < 16; at += 1) out[at] = a[at] - b[at];
}

static void multiply(number out, const number a, const number b)
{
    int64_t wide[31] = {0};
    for (int i = 0; i < 16; i += 1) {
        for (int j = 0; j < 16; j += 1) wide[i + j] += a[i] * b[j];
    }
    for (int at = 0; at < 15; at += 1) wide[at] += 38 * wide[at + 16];
    memcpy(out, wide, sizeof(number));
    carry(out);
    carry(out);
}

/* a^(p - 2): all bits of the exponent are set but the second and the fourth. */
static void invert(number out, const number a)
{
    number power;
    memcpy(power, a, sizeof power);
    for (int bit = 253; bit >= 0; bit -= 1) {
        multiply(power, power, power);
        if (bit != 2 && bit != 4) multiply(power, power, a);
    }
    memcpy(out, power, sizeof power);
}

/* Exchanges the two where `bit` is 1. */
static void exchange(number a, number b, int64_t bit)
{
    for (int at = 0; at < 16; at += 1) {
        int64_t difference = -bit & (a[at] ^ b[at]);
        a[at] ^= difference;
        b[at] ^= difference;
    }
}

static void unpack(number out, const uint8_t in[KL_KEY])
{
    for (int at = 0; at < 16; at += 1) out[at] = in[2 * at] | ((int64_t)in[2 * at + 1] << 8);
    out[15] &= 0x7fff;
}

static void pack(uint8_t out[KL_KEY], const number in)
{
    number n, less;
    memcpy(n, in, sizeof n);
    for (int pass = 0; pass < 3; pass += 1) carry(n);
    for (int pass = 0; pass < 2; pass += 1) {
        /* n - p, taken where it is not negative. */
        less[0] = n[0] - 0xffed;
        for (int at = 1; at < 16; at += 1) {
            less[at] = n[at] - (at == 15 ? 0x7fff : 0xffff) + (less[at - 1] >> 16);
            less[at - 1] &= 0xffff;
        }
        int64_t is_negative = (less[15] >> 16) & 1;
        less[15] &= 0xffff;
        exchange(n, less, 1 - is_negative);
    }
    for (int at = 0; at < 16; at += 1) {
        out[2 * at] = (uint8_t)n[at];
        out[2 * at + 1] = (uint8_t)(n[at] >> 8);
    }
}

bool kl_x25519(uint8_t result[KL_KEY], const uint8_t scalar[KL_KEY], const uint8_t point[KL_KEY])
{
    static const number a24 = {0xdb41, 1};
    uint8_t bits[KL_KEY];
    memcpy(bits, scalar, sizeof bits);
    bits[0] &= 0xf8;
    bits[31] = (bits[31] & 0x7f) | 0x40;
    number x1, x2 = {1}, z2 = {0}, x3, z3 = {1}, a, b, c, d, e;
    unpack(x1, point);
    memcpy(x3, x1, sizeof x3);
    for (int at = 254; at >= 0; at -= 1) {
        int64_t bit = (bits[at / 8] >> (at % 8)) & 1;
        exchange(x2, x3, bit);
        exchange(z2, z3, bit);
        add(a, x2, z2);
        subtract(b, x2, z2);
        add(c, x3, z3);
        subtract(d, x3, z3);
        multiply(d, d, a);
        multiply(c, c, b);
        add(e, d, c);
        subtract(d, d, c);
        multiply(x3, e, e);
        multiply(z3, d, d);
        multiply(z3, z3, x1);
        multiply(a, a, a);
        multiply(b, b, b);
        multiply(x2, a, b);
        subtract(c, a, b);
        multiply(d, c, a24);
        add(d, d, a);
        multiply(z2, c, d);
        exchange(x2, x3, bit);
        exchange(z2, z3, bit);
    }
    invert(z2, z2);
    multiply(x2, x2, z2);
    pack(result, x2);
    kl_wipe(bits, sizeof bits);
    kl_wipe(x2, sizeof x2);
    uint8_t any = 0;
    for (int at = 0; at < KL_KEY; at += 1) any |= result[at];
    return any != 0;
}
