/* The responder's side of Noise_NNpsk0_25519_ChaChaPoly_SHA256 (Noise Protocol Framework, revision 34). */
#ifndef KL_NOISE_H
#define KL_NOISE_H

#include "kl_crypto.h"

/* Public key and tag: a message whose payload is empty. */
#define KL_NOISE_SHORTEST (KL_KEY + KL_TAG)

typedef struct {
    uint8_t chain[32];
    uint8_t hash[32];
    /* Of the payload of the message under way. */
    uint8_t key[32];
    /* The initiator's public key. */
    uint8_t peer[KL_KEY];
} kl_noise;

typedef struct {
    uint8_t to_responder[KL_KEY];
    uint8_t to_initiator[KL_KEY];
} kl_noise_keys;

/*
 * Reads the initiator's message without any curve arithmetic, and writes its payload (length - 48 bytes). False unless it
 * was made with this key for this prologue.
 */
bool kl_noise_read_hello(kl_noise *noise, const uint8_t key[KL_KEY], kl_part prologue, kl_part message, uint8_t *payload);

/* Writes the answer, payload.length + 48 bytes, and the keys. False where the initiator's public key is of small order. */
bool kl_noise_write_welcome(kl_noise *noise, const uint8_t ephemeral[KL_KEY], kl_part payload, uint8_t *message, kl_noise_keys *keys);

/* The nonce of a counter: four zero bytes and the counter, little-endian. */
void kl_nonce(uint8_t nonce[KL_NONCE], uint64_t counter);

#endif
