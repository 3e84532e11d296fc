// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <linux/uinput.h>
#include <sys/ioctl.h>

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

int clinux_make_keyboard(int device, const char *name, const unsigned short *keys, unsigned int count) {
    struct uinput_setup setup;
    memset(&setup, 0, sizeof setup);
    setup.id.bustype = BUS_USB;
    strncpy(setup.name, name, sizeof setup.name - 1);
    /* Without EV_REP nothing repeats a key that is held down. */
    if (ioctl(device, UI_SET_EVBIT, EV_KEY) != 0) return errno;
    for (unsigned int index = 0; index < count; index++)
        if (ioctl(device, UI_SET_KEYBIT, keys[index]) != 0) return errno;
    if (ioctl(device, UI_DEV_SETUP, &setup) != 0 || ioctl(device, UI_DEV_CREATE) != 0) return errno;
    return 0;
}

int clinux_change_key(int device, unsigned short key, int is_down) {
    struct input_event events[2];
    memset(events, 0, sizeof events);
    events[0].type = EV_KEY;
    events[0].code = key;
    events[0].value = is_down ? 1 : 0;
    events[1].type = EV_SYN;
    events[1].code = SYN_REPORT;
    ssize_t written = write(device, events, sizeof events);
    if (written < 0) return errno;
    return written == (ssize_t)sizeof events ? 0 : EIO;
}
