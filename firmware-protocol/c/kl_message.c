#include "kl_message.h"

/* Text of digits, and of the keys of a keypad; the other types are an item's. */
enum { DIGITS = 16, KEYPAD };

typedef struct {
    uint8_t key;
    uint8_t type;
    bool is_optional;
    /* Of a number its value, of bytes and text the length. */
    uint64_t least, most;
} field;

typedef struct {
    uint8_t kind;
    const field *fields;
    uint8_t count;
} shape;

#define U32 0xffffffffu
#define HOUR 3600000
#define MEBIBYTE 1048576

#define NUMBER(key, least, most) {key, KL_NUMBER, false, least, most}
#define MAYBE_NUMBER(key, least, most) {key, KL_NUMBER, true, least, most}
#define BYTES(key, least, most) {key, KL_BYTES, false, least, most}
#define TEXT(key, least, most) {key, KL_TEXT, false, least, most}
#define FLAG(key) {key, KL_FLAG, false, 0, 1}
/* The last place of a list of names. */
#define CHOICE(key, last) {key, KL_NUMBER, false, 0, last}

#define COMMAND NUMBER(1, 1, U32), NUMBER(2, 0, KL_HIGHEST_NUMBER)
#define TOLD NUMBER(1, 0, KL_HIGHEST_NUMBER)
#define ANSWERED TOLD, NUMBER(2, 1, U32)
#define HAPPENED TOLD, NUMBER(2, 0, HOUR)

static const field release_fields[] = {COMMAND, NUMBER(3, 100, 600000)};
static const field plain_fields[] = {COMMAND};
static const field configure_fields[] = {COMMAND, CHOICE(3, 4), NUMBER(4, 0, U32)};
static const field time_fields[] = {COMMAND, NUMBER(3, 0, U32)};
static const field slots_set_fields[] = {COMMAND, NUMBER(3, 0, 999), {4, DIGITS, false, 4, 10}, MAYBE_NUMBER(5, 0, U32), MAYBE_NUMBER(6, 0, U32)};
static const field slot_fields[] = {COMMAND, NUMBER(3, 0, 999)};
static const field key_rotate_fields[] = {COMMAND, BYTES(3, 32, 32)};
static const field firmware_begin_fields[] = {COMMAND, NUMBER(3, 1, 16 * MEBIBYTE), BYTES(4, 32, 32), TEXT(5, 1, 32), BYTES(6, 64, 72)};
static const field firmware_chunk_fields[] = {COMMAND, NUMBER(3, 0, 16 * MEBIBYTE), BYTES(4, 1, 384)};

static const field identity_fields[] = {TOLD, TEXT(2, 1, 32), TEXT(3, 1, 32), TEXT(4, 1, 32), TEXT(5, 1, 32), NUMBER(6, 0, U32)};
static const field ack_fields[] = {ANSWERED, CHOICE(3, KL_FAULT), FLAG(4)};
static const field status_fields[] = {TOLD, MAYBE_NUMBER(2, 1, U32), CHOICE(3, 3), CHOICE(4, 2), MAYBE_NUMBER(5, 0, 100), FLAG(6), FLAG(7), TEXT(8, 1, 32)};
static const field card_fields[] = {HAPPENED, BYTES(3, 1, 32), NUMBER(4, 0, 7)};
static const field keys_fields[] = {HAPPENED, {3, KEYPAD, false, 1, 16}};
static const field token_fields[] = {HAPPENED, BYTES(3, 1, 400)};
static const field event_fields[] = {HAPPENED, CHOICE(3, 12), MAYBE_NUMBER(4, 0, U32)};
static const field log_fields[] = {TOLD, CHOICE(2, 2), TEXT(3, 0, 200)};
static const field slot_answer_fields[] = {ANSWERED, NUMBER(3, 0, 999), FLAG(4), {5, DIGITS, true, 4, 10}, MAYBE_NUMBER(6, 0, U32), MAYBE_NUMBER(7, 0, U32)};

#define SHAPE(kind, fields) {kind, fields, sizeof fields / sizeof *fields}

static const shape to_lock[] = {
    SHAPE(KL_RELEASE, release_fields),
    SHAPE(KL_SECURE, plain_fields),
    SHAPE(KL_FREE, plain_fields),
    SHAPE(KL_QUERY, plain_fields),
    SHAPE(KL_CONFIGURE, configure_fields),
    SHAPE(KL_TIME, time_fields),
    SHAPE(KL_SLOTS_SET, slots_set_fields),
    SHAPE(KL_SLOTS_CLEAR, slot_fields),
    SHAPE(KL_SLOTS_READ, slot_fields),
    SHAPE(KL_KEY_ROTATE, key_rotate_fields),
    SHAPE(KL_FIRMWARE_BEGIN, firmware_begin_fields),
    SHAPE(KL_FIRMWARE_CHUNK, firmware_chunk_fields),
    SHAPE(KL_FIRMWARE_COMMIT, plain_fields),
    SHAPE(KL_REBOOT, plain_fields),
};

static const shape from_lock[] = {
    SHAPE(KL_IDENTITY, identity_fields),
    SHAPE(KL_ACK, ack_fields),
    SHAPE(KL_STATUS, status_fields),
    SHAPE(KL_CARD, card_fields),
    SHAPE(KL_KEYS, keys_fields),
    SHAPE(KL_TOKEN, token_fields),
    SHAPE(KL_EVENT, event_fields),
    SHAPE(KL_LOG, log_fields),
    SHAPE(KL_SLOT, slot_answer_fields),
};

static const shape *find_shape(kl_direction direction, const kl_map *map)
{
    const kl_item *kind = kl_map_find(map, KL_KEY_KIND);
    const shape *shapes = direction == KL_TO_LOCK ? to_lock : from_lock;
    size_t count = direction == KL_TO_LOCK ? sizeof to_lock / sizeof *to_lock : sizeof from_lock / sizeof *from_lock;
    if (kind == NULL || kind->type != KL_NUMBER) return NULL;
    for (size_t at = 0; at < count; at += 1) {
        if (shapes[at].kind == kind->as.number) return &shapes[at];
    }
    return NULL;
}

static bool has_field(const shape *message, uint8_t key)
{
    for (uint8_t at = 0; at < message->count; at += 1) {
        if (message->fields[at].key == key) return true;
    }
    return key == KL_KEY_KIND;
}

static bool is_of_alphabet(const kl_item *item, uint8_t type)
{
    if (type != DIGITS && type != KEYPAD) return true;
    for (uint16_t at = 0; at < item->length; at += 1) {
        uint8_t c = item->as.bytes[at];
        bool is_key = type == KEYPAD && (c == '*' || c == '#');
        if (!is_key && (c < '0' || c > '9')) return false;
    }
    return true;
}

static kl_refusal judge_item(const field *wanted, const kl_item *item)
{
    uint8_t type = wanted->type == DIGITS || wanted->type == KEYPAD ? KL_TEXT : wanted->type;
    if (item->type != type) return KL_WRONG_TYPE;
    if (!is_of_alphabet(item, wanted->type)) return KL_OUT_OF_RANGE;
    uint64_t measure = type == KL_NUMBER || type == KL_FLAG ? item->as.number : item->length;
    return measure >= wanted->least && measure <= wanted->most ? KL_OK : KL_OUT_OF_RANGE;
}

kl_refusal kl_message_judge(kl_direction direction, const kl_map *map)
{
    const shape *message = find_shape(direction, map);
    if (message == NULL) return KL_UNKNOWN_KIND;
    for (uint8_t at = 0; at < map->count; at += 1) {
        if (!has_field(message, map->items[at].key)) return KL_UNKNOWN_FIELD;
    }
    for (uint8_t at = 0; at < message->count; at += 1) {
        const field *wanted = &message->fields[at];
        const kl_item *item = kl_map_find(map, wanted->key);
        if (item == NULL && wanted->is_optional) continue;
        kl_refusal refusal = item == NULL ? KL_MISSING_FIELD : judge_item(wanted, item);
        if (refusal != KL_OK) return refusal;
    }
    return KL_OK;
}

kl_refusal kl_message_decode(kl_direction direction, kl_map *map, const uint8_t *bytes, size_t length)
{
    kl_refusal refusal = kl_map_decode(map, bytes, length);
    return refusal == KL_OK ? kl_message_judge(direction, map) : refusal;
}

size_t kl_message_encode(kl_direction direction, const kl_map *map, uint8_t *out, size_t room)
{
    if (map->count > KL_ENTRIES) return 0;
    return kl_message_judge(direction, map) == KL_OK ? kl_map_encode(map, out, room) : 0;
}
