// SPDX-License-Identifier: Apache-2.0
#ifndef NFC_TAP_CSCRUB_H
#define NFC_TAP_CSCRUB_H

/// A program that links this overwrites every heap block before it is given back: see CScrub.c.
///
/// 1 where that is so; 0 under a sanitizer, whose allocator must not be replaced.
int cscrub_is_in_force(void);

/// Overwrites what functions that have returned left on the stack of this thread, 256 KiB below the caller.
void cscrub_dead_stack(void);

#endif
