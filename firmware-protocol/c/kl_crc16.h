/* CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF; "123456789" gives 0x29B1. It finds noise, not people. */
#ifndef KL_CRC16_H
#define KL_CRC16_H

#include "kl_bytes.h"

uint16_t kl_crc16(const uint8_t *bytes, size_t length);

#endif
