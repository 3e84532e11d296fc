// SPDX-License-Identifier: Apache-2.0
/* Preloaded into a program, writes down in which order it gives files their names and waits for the disk. DISK names the file that
   gets a line for each, in one order of all threads:

   make PATH           open(2) with O_CREAT
   rename PATH PATH    rename(2)
   remove PATH         unlink(2)
   sync PATH           fsync(2) or fdatasync(2), of a file or of a folder
   answer STATUS       the head of an answer in HTTP, whatever it is written with

   With DISK_LAST=N the program is killed after its N-th line.

   Paths as the kernel has them, so that nothing of them is to be worked out. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int acts = 0;

static void note(const char *act, const char *path, const char *other) {
    const char *log = getenv("DISK");
    char line[3 * PATH_MAX];
    int saved = errno;
    int file = log == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int size = snprintf(line, sizeof line, "%s %s%s%s\n", act, path, other == NULL ? "" : " ", other == NULL ? "" : other);
    if (file >= 0) {
        if (syscall(SYS_write, file, line, (size_t)size) < 0) { abort(); }
        close(file);
        const char *last = getenv("DISK_LAST");
        if (last != NULL && __atomic_add_fetch(&acts, 1, __ATOMIC_SEQ_CST) == atoi(last)) { kill(getpid(), SIGKILL); }
    }
    errno = saved;
}

static void note_file(const char *act, int number) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", number);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) { return; }
    path[size] = 0;
    note(act, path, NULL);
}

static int opened(const char *path, int flags, mode_t mode) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (file >= 0 && (flags & O_CREAT) != 0) { note_file("make", file); }
    return file;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags | O_LARGEFILE, mode);
}

static void note_answer(const void *bytes, size_t size) {
    char status[4] = "";
    if (bytes == NULL || size < 12 || memcmp(bytes, "HTTP/1.1 ", 9) != 0) { return; }
    memcpy(status, (const char *)bytes + 9, 3);
    note("answer", status, NULL);
}

ssize_t write(int file, const void *bytes, size_t size) {
    note_answer(bytes, size);
    return syscall(SYS_write, file, bytes, size);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (count > 0) { note_answer(parts[0].iov_base, parts[0].iov_len); }
    return syscall(SYS_writev, file, parts, count);
}

int rename(const char *from, const char *to) {
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (result == 0) { note("rename", from, to); }
    return result;
}

int unlink(const char *path) {
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result == 0) { note("remove", path, NULL); }
    return result;
}

int fsync(int file) {
    int result = (int)syscall(SYS_fsync, file);
    if (result == 0) { note_file("sync", file); }
    return result;
}

int fdatasync(int file) {
    int result = (int)syscall(SYS_fdatasync, file);
    if (result == 0) { note_file("sync", file); }
    return result;
}
