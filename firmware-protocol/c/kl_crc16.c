#include "kl_crc16.h"

uint16_t kl_crc16(const uint8_t *bytes, size_t length)
{
    uint16_t crc = 0xffff;
    for (size_t at = 0; at < length; at += 1) {
        crc ^= (uint16_t)(bytes[at] << 8);
        for (int bit = 0; bit < 8; bit += 1) crc = (uint16_t)(crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1);
    }
    return crc;
}
