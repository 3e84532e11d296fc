// SPDX-License-Identifier: Apache-2.0
#ifndef CYARDSTICK_H
#define CYARDSTICK_H

#include <stddef.h>
#include <stdint.h>

/* Visits every BER-TLV object of `bytes`, templates and what is in them, by the rules of the Swift walk: tags of one to four
   bytes, lengths up to 83, bytes 00 and FF skipped where a tag is expected, twelve templates deep.

   Returns the number of objects, or -1 for bytes that are no such objects. Adds each tag and the offset of its value to
   *sum, so that the work cannot be left out and can be compared. */
long cyardstick_walk(const uint8_t *bytes, size_t count, uint64_t *sum);

#endif
