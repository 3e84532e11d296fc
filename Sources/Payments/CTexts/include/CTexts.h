// SPDX-License-Identifier: Apache-2.0
#ifndef NFC_TAP_CTEXTS_H
#define NFC_TAP_CTEXTS_H

#include <stddef.h>

/// The bytes of a message file, UTF-8 JSON, which live as long as the program.
struct ctexts_file {
    const unsigned char *bytes;
    size_t count;
};

/// A file by its name without `.json`: `en`, or `till/en` for the messages of the till in the browser.
///
/// Without bytes where there is none.
struct ctexts_file ctexts_find(const char *name);

#endif
