// SPDX-License-Identifier: Apache-2.0
#ifndef NFC_TAP_CARGUMENTS_H
#define NFC_TAP_CARGUMENTS_H

/// A program that links this runs with the arguments that it was given, or not at all: see CArguments.c. There is nothing to call.
///
/// The status of a program that was ended for it: EX_UNAVAILABLE of sysexits.h.
enum { carguments_unavailable = 69 };

#endif
