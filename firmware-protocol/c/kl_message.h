/* The messages of ../link/link.cddl: what each may hold, checked in both directions. */
#ifndef KL_MESSAGE_H
#define KL_MESSAGE_H

#include "kl_map.h"

/* Key 0. */
enum {
    KL_RELEASE = 1, KL_SECURE, KL_FREE, KL_QUERY, KL_CONFIGURE, KL_TIME, KL_SLOTS_SET, KL_SLOTS_CLEAR, KL_SLOTS_READ,
    KL_KEY_ROTATE, KL_FIRMWARE_BEGIN, KL_FIRMWARE_CHUNK, KL_FIRMWARE_COMMIT, KL_REBOOT,
    KL_IDENTITY = 32, KL_ACK, KL_STATUS, KL_CARD, KL_KEYS, KL_TOKEN, KL_EVENT, KL_LOG, KL_SLOT,
};

/* The keys that many messages share. */
enum { KL_KEY_KIND = 0, KL_KEY_REQUEST = 1, KL_KEY_NOT_AFTER = 2, KL_KEY_UPTIME = 1, KL_KEY_ANSWERED = 2 };

/* What became of a command. */
typedef enum { KL_DONE, KL_EXPIRED, KL_JAMMED, KL_BUSY, KL_LOW_BATTERY, KL_UNSUPPORTED, KL_FAULT } kl_result;

typedef enum { KL_TO_LOCK, KL_FROM_LOCK } kl_direction;

/* The map points into `bytes`. What is wrong with a whole map leaves the map readable. */
kl_refusal kl_message_decode(kl_direction direction, kl_map *map, const uint8_t *bytes, size_t length);

/* Whether a map is a message. */
kl_refusal kl_message_judge(kl_direction direction, const kl_map *map);

/* Writes at most `room` bytes; 0 where the map is no message or does not fit. */
size_t kl_message_encode(kl_direction direction, const kl_map *map, uint8_t *out, size_t room);

#endif
