#include "kl_map.h"

#include <string.h>

enum { MAJOR_UNSIGNED = 0, MAJOR_BYTES = 2, MAJOR_TEXT = 3, MAJOR_MAP = 5, FALSE_BYTE = 0xf4, TRUE_BYTE = 0xf5 };

typedef struct {
    const uint8_t *bytes;
    size_t length;
    size_t at;
} reading;

static bool is_printable(const uint8_t *text, size_t length)
{
    for (size_t at = 0; at < length; at += 1) {
        if (text[at] < 0x20 || text[at] > 0x7e) return false;
    }
    return true;
}

/* The number in a head, whose first byte is there. */
static kl_refusal read_head(reading *in, uint64_t *value)
{
    static const uint64_t held_by_shorter[4] = {23, 0xff, 0xffff, 0xffffffff};
    uint8_t low = in->bytes[in->at] & 0x1f;
    in->at += 1;
    *value = low;
    if (low < 24) return KL_OK;
    if (low > 27) return KL_BAD_TYPE;
    size_t width = (size_t)1 << (low - 24);
    if (in->length - in->at < width) return KL_TRUNCATED;
    *value = 0;
    for (size_t end = in->at + width; in->at < end; in->at += 1) *value = (*value << 8) | in->bytes[in->at];
    if (*value <= held_by_shorter[low - 24]) return KL_NOT_SHORTEST;
    return *value > KL_HIGHEST_NUMBER ? KL_TOO_BIG : KL_OK;
}

static kl_refusal read_item(reading *in, kl_item *item)
{
    if (in->at == in->length) return KL_TRUNCATED;
    uint8_t first = in->bytes[in->at];
    item->length = 0;
    if (first == FALSE_BYTE || first == TRUE_BYTE) {
        item->type = KL_FLAG;
        item->as.number = first == TRUE_BYTE;
        in->at += 1;
        return KL_OK;
    }
    uint8_t major = first >> 5;
    if (major != MAJOR_UNSIGNED && major != MAJOR_BYTES && major != MAJOR_TEXT) return KL_BAD_TYPE;
    uint64_t value;
    kl_refusal refusal = read_head(in, &value);
    if (refusal != KL_OK) return refusal;
    if (major == MAJOR_UNSIGNED) {
        item->type = KL_NUMBER;
        item->as.number = value;
        return KL_OK;
    }
    if (value > in->length - in->at) return KL_TRUNCATED;
    item->type = major == MAJOR_BYTES ? KL_BYTES : KL_TEXT;
    item->length = (uint16_t)value;
    item->as.bytes = in->bytes + in->at;
    in->at += (size_t)value;
    return item->type == KL_TEXT && !is_printable(item->as.bytes, item->length) ? KL_BAD_TEXT : KL_OK;
}

kl_refusal kl_map_decode(kl_map *map, const uint8_t *bytes, size_t length)
{
    map->count = 0;
    if (length > KL_LONGEST_MAP) return KL_TOO_LONG;
    if (length == 0) return KL_TRUNCATED;
    if (bytes[0] >> 5 != MAJOR_MAP) return KL_NOT_A_MAP;
    uint8_t count = bytes[0] & 0x1f;
    if (count > KL_ENTRIES) return KL_TOO_MANY;
    reading in = {bytes, length, 1};
    int last = -1;
    while (map->count < count) {
        if (in.at == length) return KL_TRUNCATED;
        uint8_t key = bytes[in.at];
        if (key > KL_HIGHEST_KEY) return KL_BAD_KEY;
        if (key <= last) return KL_BAD_ORDER;
        in.at += 1;
        kl_item *item = &map->items[map->count];
        item->key = key;
        kl_refusal refusal = read_item(&in, item);
        if (refusal != KL_OK) return refusal;
        map->count += 1;
        last = key;
    }
    return in.at == length ? KL_OK : KL_TRAILING;
}

const kl_item *kl_map_find(const kl_map *map, uint8_t key)
{
    for (uint8_t at = 0; at < map->count; at += 1) {
        if (map->items[at].key == key) return &map->items[at];
    }
    return NULL;
}

uint64_t kl_map_number(const kl_map *map, uint8_t key, uint64_t otherwise)
{
    const kl_item *item = kl_map_find(map, key);
    return item != NULL && (item->type == KL_NUMBER || item->type == KL_FLAG) ? item->as.number : otherwise;
}

/* The place of a new key among the ascending ones. Too many, or a key twice, leave a map that no decoder would take. */
static kl_item *make_place(kl_map *map, uint8_t key)
{
    if (map->count >= KL_ENTRIES) {
        map->count = KL_ENTRIES + 1;
        return NULL;
    }
    uint8_t at = map->count;
    while (at > 0 && map->items[at - 1].key > key) {
        map->items[at] = map->items[at - 1];
        at -= 1;
    }
    map->count += 1;
    map->items[at].key = key;
    return &map->items[at];
}

void kl_put_number(kl_map *map, uint8_t key, uint64_t number)
{
    kl_item *item = make_place(map, key);
    if (item == NULL) return;
    item->type = KL_NUMBER;
    item->length = 0;
    item->as.number = number;
}

void kl_put_flag(kl_map *map, uint8_t key, bool flag)
{
    kl_put_number(map, key, flag);
    if (map->count > KL_ENTRIES) return;
    for (uint8_t at = 0; at < map->count; at += 1) {
        if (map->items[at].key == key) map->items[at].type = KL_FLAG;
    }
}

static void put_string(kl_map *map, uint8_t key, kl_type type, const void *bytes, size_t length)
{
    kl_item *item = make_place(map, key);
    if (item == NULL) return;
    item->type = (uint8_t)type;
    item->length = length > KL_LONGEST_MAP ? KL_LONGEST_MAP + 1 : (uint16_t)length;
    item->as.bytes = bytes;
}

void kl_put_bytes(kl_map *map, uint8_t key, const void *bytes, size_t length)
{
    put_string(map, key, KL_BYTES, bytes, length);
}

void kl_put_text(kl_map *map, uint8_t key, const char *text)
{
    put_string(map, key, KL_TEXT, text, strlen(text));
}

/* The head of an item, 1 to 9 bytes. */
static size_t write_head(uint8_t out[9], uint8_t major, uint64_t value)
{
    uint8_t big[8];
    kl_put_be64(big, value);
    if (value < 24) {
        out[0] = (uint8_t)(major << 5 | value);
        return 1;
    }
    int power = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
    size_t width = (size_t)1 << power;
    out[0] = (uint8_t)(major << 5 | (24 + power));
    memcpy(out + 1, big + 8 - width, width);
    return 1 + width;
}

size_t kl_map_encode(const kl_map *map, uint8_t *out, size_t room)
{
    if (map->count > KL_ENTRIES || room == 0) return 0;
    if (room > KL_LONGEST_MAP) room = KL_LONGEST_MAP;
    size_t at = 0;
    int last = -1;
    out[at++] = (uint8_t)(MAJOR_MAP << 5 | map->count);
    for (uint8_t entry = 0; entry < map->count; entry += 1) {
        const kl_item *item = &map->items[entry];
        bool is_string = item->type == KL_BYTES || item->type == KL_TEXT;
        uint8_t head[9] = {item->as.number ? TRUE_BYTE : FALSE_BYTE};
        size_t head_length = 1;
        if (item->type == KL_NUMBER && item->as.number > KL_HIGHEST_NUMBER) return 0;
        if (item->type == KL_TEXT && item->length <= KL_LONGEST_MAP && !is_printable(item->as.bytes, item->length)) return 0;
        if (item->type == KL_NUMBER) head_length = write_head(head, MAJOR_UNSIGNED, item->as.number);
        if (is_string) head_length = write_head(head, item->type == KL_BYTES ? MAJOR_BYTES : MAJOR_TEXT, item->length);
        if (item->key > KL_HIGHEST_KEY || item->key <= last) return 0;
        if (room - at < 1 + head_length + item->length) return 0;
        out[at++] = item->key;
        memcpy(out + at, head, head_length);
        at += head_length;
        if (is_string && item->length > 0) memcpy(out + at, item->as.bytes, item->length);
        at += item->length;
        last = item->key;
    }
    return at;
}
