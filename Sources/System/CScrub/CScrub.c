// SPDX-License-Identifier: Apache-2.0
/*
 * free(3) and realloc(3) that wipe. Value types copy card data into heap blocks that no code of ours sees again; the
 * allocator is the one place that all of them pass: Swift's arrays, NIO's buffers, BoringSSL, SQLite, libpcsclite.
 *
 * glibc's own means, M_PERTURB, leaves the last eight bytes of a block as they were, which is a card number's length.
 */
#include "CScrub.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

/* The compiler knows what becomes of the block, and would leave out a plain memset. */
static void wipe(void *block, size_t count) {
    memset(block, 0, count);
    __asm__ __volatile__("" : : "r"(block) : "memory");
}

#ifdef SANITIZED

int cscrub_is_in_force(void) { return 0; }

#else

extern void __libc_free(void *block);

int cscrub_is_in_force(void) { return 1; }

void free(void *block) {
    if (block == NULL) return;
    wipe(block, malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (block == NULL) return malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t room = malloc_usable_size(block);
    /* What is cut off stays behind in the block, and is wiped with it. */
    if (size <= room && size >= room / 2) return block;
    void *moved = malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, size < room ? size : room);
    free(block);
    return moved;
}

#endif

/* Far more than a tap needs, far less than a thread has. */
__attribute__((noinline)) void cscrub_dead_stack(void) {
    char dead[256 * 1024];
    wipe(dead, sizeof dead);
}
