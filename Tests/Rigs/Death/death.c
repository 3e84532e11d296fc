// SPDX-License-Identifier: Apache-2.0
/* Preloaded into a program, kills it just before one of its writes: to the journal, to a disk, to a socket. DEATH names a
   file with the number of that write, counted from the program's start; without one, or with 0, nothing happens. So a
   program can be killed between any two things that somebody else could know of. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long left;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DEATH");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    char text[24] = {0};
    if (file >= 0 && read(file, text, sizeof text - 1) > 0) { atomic_store(&left, atol(text)); }
    if (file >= 0) { close(file); }
}

static void count(void) {
    if (atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1) { kill(getpid(), SIGKILL); }
}

ssize_t write(int file, const void *bytes, size_t size) {
    count();
    return syscall(SYS_write, file, bytes, size);
}

ssize_t writev(int file, const struct iovec *parts, int number) {
    count();
    return syscall(SYS_writev, file, parts, number);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    count();
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return pwrite64(file, bytes, size, offset); }

int fdatasync(int file) {
    count();
    return (int)syscall(SYS_fdatasync, file);
}

int fsync(int file) {
    count();
    return (int)syscall(SYS_fsync, file);
}
