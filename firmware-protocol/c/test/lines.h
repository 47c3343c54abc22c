/* Words of a line and bytes as hex, for the programs of this folder. */
#ifndef LINES_H
#define LINES_H

#include "../kl_map.h"

#define LONGEST_LINE 8192
#define LONGEST_WORD 2048

typedef struct {
    uint8_t bytes[LONGEST_WORD];
    size_t length;
} octets;

/* The next word of a line, which is cut up; an empty one where there is none. */
char *next_word(char **line);
uint64_t next_number(char **line);

/* Bytes as hex, or `-` for none. False where it is neither. */
bool next_octets(char **line, octets *out);

void print_hex(const uint8_t *bytes, size_t length);

/* `0=u1,1=bAABB,2=t41,3=f1`: number, bytes, text, flag. The map points into `room`. */
bool parse_items(char *text, kl_map *map, octets *room);
void print_items(const kl_map *map);

#endif
