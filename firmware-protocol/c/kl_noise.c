#include "kl_noise.h"

#include <string.h>

static const char protocol_name[] = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";

void kl_nonce(uint8_t nonce[KL_NONCE], uint64_t counter)
{
    memset(nonce, 0, KL_NONCE);
    for (int at = 0; at < 8; at += 1) nonce[4 + at] = (uint8_t)(counter >> (8 * at));
}

/* HMAC-SHA-256 of two parts under a key of 32 bytes. */
static void hmac(uint8_t mac[32], const uint8_t key[32], kl_part first, kl_part second)
{
    uint8_t pad[64];
    memset(pad, 0x36, sizeof pad);
    for (int at = 0; at < 32; at += 1) pad[at] ^= key[at];
    const kl_part inner[] = {{pad, sizeof pad}, first, second};
    uint8_t digest[32];
    kl_sha256(digest, inner, 3);
    for (int at = 0; at < 64; at += 1) pad[at] ^= 0x36 ^ 0x5c;
    const kl_part outer[] = {{pad, sizeof pad}, {digest, sizeof digest}};
    kl_sha256(mac, outer, 2);
    kl_wipe(pad, sizeof pad);
    kl_wipe(digest, sizeof digest);
}

/* HKDF of the framework, section 4.3, two outputs; the first may be the chain itself. */
static void derive(uint8_t first[32], uint8_t second[32], const uint8_t chain[32], kl_part material)
{
    static const uint8_t one = 1, two = 2;
    const kl_part nothing = {NULL, 0};
    uint8_t secret[32];
    hmac(secret, chain, material, nothing);
    hmac(first, secret, (kl_part){&one, 1}, nothing);
    hmac(second, secret, (kl_part){first, 32}, (kl_part){&two, 1});
    kl_wipe(secret, sizeof secret);
}

static void mix_hash(kl_noise *noise, kl_part part)
{
    const kl_part parts[] = {{noise->hash, 32}, part};
    kl_sha256(noise->hash, parts, 2);
}

static void mix_key(kl_noise *noise, const uint8_t material[32])
{
    derive(noise->chain, noise->key, noise->chain, (kl_part){material, 32});
}

/* Name, prologue and the pre-shared key: token psk at the very beginning. */
static void begin(kl_noise *noise, const uint8_t key[KL_KEY], kl_part prologue)
{
    const kl_part name = {(const uint8_t *)protocol_name, sizeof protocol_name - 1};
    kl_sha256(noise->hash, &name, 1);
    memcpy(noise->chain, noise->hash, 32);
    mix_hash(noise, prologue);
    mix_key(noise, key);
    mix_hash(noise, (kl_part){noise->key, 32});
}

/* Token e: the public key enters hash and chain. */
static void mix_public(kl_noise *noise, const uint8_t public_key[KL_KEY])
{
    mix_hash(noise, (kl_part){public_key, KL_KEY});
    mix_key(noise, public_key);
}

bool kl_noise_read_hello(kl_noise *noise, const uint8_t key[KL_KEY], kl_part prologue, kl_part message, uint8_t *payload)
{
    if (message.length < KL_NOISE_SHORTEST) return false;
    uint8_t nonce[KL_NONCE];
    kl_nonce(nonce, 0);
    begin(noise, key, prologue);
    memcpy(noise->peer, message.bytes, KL_KEY);
    mix_public(noise, noise->peer);
    const kl_part sealed = {message.bytes + KL_KEY, message.length - KL_KEY};
    if (!kl_open(payload, noise->key, nonce, (kl_part){noise->hash, 32}, sealed)) return false;
    mix_hash(noise, sealed);
    return true;
}

bool kl_noise_write_welcome(kl_noise *noise, const uint8_t ephemeral[KL_KEY], kl_part payload, uint8_t *message, kl_noise_keys *keys)
{
    static const uint8_t base_point[KL_KEY] = {9};
    uint8_t secret[KL_KEY], nonce[KL_NONCE];
    kl_nonce(nonce, 0);
    if (!kl_x25519(secret, ephemeral, noise->peer)) return false;
    kl_x25519(message, ephemeral, base_point);
    mix_public(noise, message);
    mix_key(noise, secret);
    uint8_t *sealed = message + KL_KEY;
    kl_seal(sealed, noise->key, nonce, (kl_part){noise->hash, 32}, payload);
    mix_hash(noise, (kl_part){sealed, payload.length + KL_TAG});
    derive(keys->to_responder, keys->to_initiator, noise->chain, (kl_part){NULL, 0});
    kl_wipe(secret, sizeof secret);
    return true;
}
