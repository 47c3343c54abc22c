/*
 * The cryptography this protocol needs, and all of it: four functions that a vendor brings, from the controller's own
 * library or hardware. portable/ has them in plain C, for tests and for a first day.
 *
 * All must take the same time whatever the secrets are. None may allocate or fail but as said.
 */
#ifndef KL_CRYPTO_H
#define KL_CRYPTO_H

#include "kl_bytes.h"

#define KL_KEY 32
#define KL_TAG 16
#define KL_NONCE 12

typedef struct {
    const uint8_t *bytes;
    size_t length;
} kl_part;

/* SHA-256 (FIPS 180-4) of the parts one after the other. `digest` may be one of them. */
void kl_sha256(uint8_t digest[32], const kl_part *parts, size_t count);

/* X25519 (RFC 7748). False where the result is all zero: the point was of small order. */
bool kl_x25519(uint8_t result[KL_KEY], const uint8_t scalar[KL_KEY], const uint8_t point[KL_KEY]);

/* ChaCha20-Poly1305 (RFC 8439). Writes length + 16 bytes, which must not overlap `clear`. */
void kl_seal(uint8_t *sealed, const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], kl_part associated, kl_part clear);

/* Writes sealed.length - 16 bytes, and true, where the tag holds; nothing is to be used of them otherwise. */
bool kl_open(uint8_t *clear, const uint8_t key[KL_KEY], const uint8_t nonce[KL_NONCE], kl_part associated, kl_part sealed);

#endif
