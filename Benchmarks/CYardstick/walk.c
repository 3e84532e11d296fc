// SPDX-License-Identifier: Apache-2.0
#include "CYardstick.h"

long cyardstick_walk(const uint8_t *bytes, size_t count, uint64_t *sum) {
    size_t ends[12], offset = 0, end = count;
    int depth = 0;
    long objects = 0;
    for (;;) {
        while (offset >= end) {
            if (depth == 0) return objects;
            end = ends[--depth];
        }
        const uint8_t first = bytes[offset];
        if (first == 0x00 || first == 0xFF) {
            offset++;
            continue;
        }
        const size_t start = offset;
        uint32_t tag = bytes[offset++];
        if ((tag & 0x1F) == 0x1F) {
            uint8_t next;
            do {
                if (offset >= end || offset - start >= 4) return -1;
                next = bytes[offset++];
                tag = tag << 8 | next;
            } while (next & 0x80);
        }
        if (offset >= end) return -1;
        size_t length = bytes[offset++];
        if (length > 0x7F) {
            size_t octets = length & 0x7F;
            if (octets < 1 || octets > 3 || end - offset < octets) return -1;
            for (length = 0; octets > 0; octets--) length = length << 8 | bytes[offset++];
        }
        if (end - offset < length) return -1;
        objects++;
        *sum += tag + offset;
        if (first & 0x20) {
            if (depth >= 11) return -1;
            ends[depth++] = end;
            end = offset + length;
        } else {
            offset += length;
        }
    }
}
