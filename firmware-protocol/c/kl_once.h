/*
 * Which commands of a session were begun, and what came of them: each is carried out once.
 *
 * A number's place is the number modulo 32. A number is new at most once, for ever: its place remembers it until a greater
 * number takes it, and then it is too old, which says nothing about whether it was carried out.
 */
#ifndef KL_ONCE_H
#define KL_ONCE_H

#include "kl_message.h"

#define KL_PLACES 32

typedef struct {
    /* 0 for a place never taken. */
    uint32_t request[KL_PLACES];
    /* A kl_result, or KL_BEGUN. */
    uint8_t result[KL_PLACES];
} kl_once;

#define KL_BEGUN 0xff

typedef enum { KL_NEW, KL_UNDER_WAY, KL_ANSWERED, KL_TOO_OLD } kl_standing;

/* KL_NEW: it is noted as begun, and may be carried out. KL_ANSWERED: `result` is what came of it. */
kl_standing kl_once_begin(kl_once *once, uint32_t request, kl_result *result);

/* False for a command that is not being carried out. */
bool kl_once_answer(kl_once *once, uint32_t request, kl_result result);

#endif
