#include "kl_cobs.h"

enum { LONGEST_RUN = 254 };

size_t kl_stuff(uint8_t *out, const uint8_t *in, size_t length)
{
    size_t code_at = 0, at = 1;
    uint8_t run = 0;
    for (size_t from = 0; from < length; from += 1) {
        if (in[from] != 0) {
            out[at++] = in[from];
            run += 1;
        }
        /* A full run stands for no zero; at the very end nothing follows it. */
        bool is_full = run == LONGEST_RUN && from + 1 < length;
        if (in[from] != 0 && !is_full) continue;
        out[code_at] = run + 1;
        code_at = at++;
        run = 0;
    }
    out[code_at] = run + 1;
    return at;
}

bool kl_unstuff(uint8_t *out, size_t *written, const uint8_t *in, size_t length)
{
    size_t at = 0, from = 0;
    if (length == 0) return false;
    while (from < length) {
        uint8_t code = in[from];
        if (code == 0 || code > length - from) return false;
        for (size_t end = from + code, next = from + 1; next < end; next += 1) {
            if (in[next] == 0) return false;
            out[at++] = in[next];
        }
        from += code;
        if (code <= LONGEST_RUN && from < length) out[at++] = 0;
    }
    *written = at;
    return true;
}
