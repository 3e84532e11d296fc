// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>

int clinux_accept(int listener) {
    int number = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return number >= 0 ? number : -errno;
}

/* MADV_DONTNEED is refused for locked pages, and without the second lock the code of a tap could be paged out. */
struct release {
    int lock;
    int failures;
};

static int release(unsigned long start, unsigned long length, int lock) {
    void *place = (void *)start;
    if (munlock(place, length) != 0) return 1;
    if (madvise(place, length, MADV_DONTNEED) != 0) return 1;
    if (!lock) return 0;
    return mlock2(place, length, MLOCK_ONFAULT) == 0 ? 0 : 1;
}

static int release_object(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    struct release *order = context;
    /* Not a file: the kernel's own page. */
    if (strncmp(object->dlpi_name, "linux-vdso", 10) == 0) return 0;
    unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0) continue;
        unsigned long start = object->dlpi_addr + part->p_vaddr;
        unsigned long end = (start + part->p_memsz + page - 1) & ~(page - 1);
        start &= ~(page - 1);
        order->failures += release(start, end - start, order->lock);
    }
    return 0;
}

int clinux_release_code(int lock) {
    struct release order = {lock, 0};
    dl_iterate_phdr(release_object, &order);
    return order.failures;
}
