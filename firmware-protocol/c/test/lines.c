#include "lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *next_word(char **line)
{
    char *word = *line + strspn(*line, " \r\n");
    size_t length = strcspn(word, " \r\n");
    *line = word + length;
    if (word[length] != 0) {
        word[length] = 0;
        *line += 1;
    }
    return word;
}

uint64_t next_number(char **line)
{
    return strtoull(next_word(line), NULL, 10);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/* Appends hex up to its end. */
static bool append_hex(octets *out, const char *hex, size_t digits)
{
    if (digits % 2 != 0 || out->length + digits / 2 > sizeof out->bytes) return false;
    for (size_t at = 0; at < digits; at += 2) {
        int high = digit_of(hex[at]), low = digit_of(hex[at + 1]);
        if (high < 0 || low < 0) return false;
        out->bytes[out->length++] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool next_octets(char **line, octets *out)
{
    const char *word = next_word(line);
    out->length = 0;
    return strcmp(word, "-") == 0 || append_hex(out, word, strlen(word));
}

void print_hex(const uint8_t *bytes, size_t length)
{
    if (length == 0) fputs("-", stdout);
    for (size_t at = 0; at < length; at += 1) printf("%02x", bytes[at]);
}

bool parse_items(char *text, kl_map *map, octets *room)
{
    memset(map, 0, sizeof *map);
    room->length = 0;
    while (*text != 0) {
        char *end;
        uint8_t key = (uint8_t)strtoul(text, &end, 10);
        if (*end != '=') return false;
        char type = end[1];
        const char *value = end + 2;
        size_t length = strcspn(value, ",");
        size_t from = room->length;
        if (type == 'u') kl_put_number(map, key, strtoull(value, NULL, 10));
        else if (type == 'f') kl_put_flag(map, key, *value == '1');
        else if (!append_hex(room, value, length)) return false;
        if (type == 'b' || type == 't') kl_put_bytes(map, key, room->bytes + from, room->length - from);
        if (type == 't') {
            for (uint8_t at = 0; at < map->count; at += 1) {
                if (map->items[at].key == key) map->items[at].type = KL_TEXT;
            }
        }
        text = (char *)value + length + (value[length] == ',');
    }
    return true;
}

void print_items(const kl_map *map)
{
    for (uint8_t at = 0; at < map->count; at += 1) {
        const kl_item *item = &map->items[at];
        printf("%s%u=", at == 0 ? "" : ",", item->key);
        switch (item->type) {
        case KL_NUMBER:
            printf("u%" PRIu64, item->as.number);
            break;
        case KL_FLAG:
            printf("f%" PRIu64, item->as.number);
            break;
        default:
            fputs(item->type == KL_TEXT ? "t" : "b", stdout);
            for (uint16_t byte = 0; byte < item->length; byte += 1) printf("%02x", item->as.bytes[byte]);
        }
    }
}
