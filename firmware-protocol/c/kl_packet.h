/* What one transport unit carries, and the records of a session. */
#ifndef KL_PACKET_H
#define KL_PACKET_H

#include "kl_crypto.h"
#include "kl_map.h"

#define KL_VERSION 1
enum { KL_PACKET_HELLO = 1, KL_PACKET_WELCOME, KL_PACKET_RECORD, KL_PACKET_REFUSAL };
/* Anybody can say so; it ends nothing. */
typedef enum { KL_SAY_NO_SESSION, KL_SAY_WRONG_KEY, KL_SAY_TOO_SOON } kl_say;

/* Version, type, counter. */
#define KL_RECORD_HEAD 10
#define KL_LONGEST_PACKET (KL_RECORD_HEAD + KL_LONGEST_MAP + KL_TAG)

/* Keys and counters of one session. */
typedef struct {
    uint8_t send_key[KL_KEY];
    uint8_t receive_key[KL_KEY];
    uint64_t send_counter;
    /* One above the last received: no lower one is taken. */
    uint64_t receive_counter;
} kl_channel;

/* Writes clear.length + 26 bytes. */
size_t kl_record_seal(kl_channel *channel, uint8_t *packet, kl_part clear);

typedef enum { KL_OPENED, KL_NOT_AUTHENTIC, KL_OLD } kl_opening;

/* `packet` is a record in shape. Writes packet.length - 26 bytes where it is opened. */
kl_opening kl_record_open(kl_channel *channel, uint8_t *clear, kl_part packet);

/* The type of what is a packet of this version in shape; 0 for anything else. */
int kl_packet_type(kl_part packet);

#endif
