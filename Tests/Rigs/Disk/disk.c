// SPDX-License-Identifier: Apache-2.0
/* Preloaded into programs, writes down what they ask of the disk and what they send, in one order of all threads.

   DISK names a file that gets a line for each of these, of one program:

   make PATH           open(2) with O_CREAT
   rename PATH PATH    rename(2)
   remove PATH         unlink(2)
   sync PATH           fsync(2) or fdatasync(2), of a file or of a folder
   answer STATUS       the head of an answer in HTTP, whatever it is written with

   With DISK_LAST=N the program is killed after its N-th line.

   DISK_RECORD names a file that begins with `struct head` and has room for what follows: records of all programs that share it, with
   contents, for model.py. DISK_FOLDER is the folder whose regular files, names and folders are recorded; sends are recorded always.
   A write is recorded as it is done, a send before; of a sync beginning, with the program's own functions that asked for it, and end.
   The head's second half is the control: an error at the
   n-th sync or write of the folder, a sync that is said to be done and is not, and how long each takes.

   With DISK_DELAY=N alone each sync takes N microseconds more, as a slow card's does.

   Paths as the kernel has them, so that nothing of them is to be worked out. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

struct head {
    /* The process in whose hands it is, and bytes behind the head. */
    int64_t owner, used, size, syncs, writes;
    /* Numbers from 1 on, 0 for none; `times` errors in a row, `delay` in microseconds. */
    int64_t fail_sync, fail_write, error, times, drop_sync, delay;
};

struct record {
    uint32_t size;
    uint16_t path, other;
    int32_t process;
    char kind, program[3];
    int64_t file, offset, length;
};

static int acts = 0;
static struct head *head = NULL;
static const char *folder = NULL;
static useconds_t slowness = 0;
/* Of the program itself: its place in memory, and the length of its code. */
static uintptr_t image = 0, image_size = 0;

static int note_image(struct dl_phdr_info *it, size_t size, void *none) {
    image = it->dlpi_addr;
    for (int part = 0; part < it->dlpi_phnum; part++) {
        uintptr_t end = it->dlpi_phdr[part].p_vaddr + it->dlpi_phdr[part].p_memsz;
        if (it->dlpi_phdr[part].p_type == PT_LOAD && end > image_size) { image_size = end; }
    }
    return 1;
}

/* Places in the program's file of the functions that are being called, the innermost first. */
static size_t callers(int64_t *places) {
    void *frames[64];
    size_t count = 0;
    for (int frame = 0, all = backtrace(frames, 64); frame < all; frame++) {
        uintptr_t place = (uintptr_t)frames[frame] - image;
        if (place < image_size) { places[count++] = (int64_t)place; }
    }
    return count;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_RECORD"), *delay = getenv("DISK_DELAY");
    struct stat about;
    if (delay != NULL) { slowness = (useconds_t)atol(delay); }
    int file = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0 || fstat(file, &about) != 0) { return; }
    void *place = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    folder = getenv("DISK_FOLDER");
    dl_iterate_phdr(note_image, NULL);
    /* Loads what it needs with the first call. */
    callers((int64_t[64]){0});
    if (place != MAP_FAILED && folder != NULL) { head = place; }
}

/* Whoever was killed with it in his hands has it no more. */
static void lock(void) {
    for (int64_t turn = 1, owner = 0; !__atomic_compare_exchange_n(&head->owner, &owner, getpid(), 0, 5, 5); turn++, owner = 0) {
        if (turn % 1024 == 0 && kill((pid_t)owner, 0) != 0) { __atomic_compare_exchange_n(&head->owner, &owner, 0, 0, 5, 5); }
        sched_yield();
    }
}

static void unlock(void) { __atomic_store_n(&head->owner, 0, __ATOMIC_SEQ_CST); }

static int64_t put(char kind, const char *path, const char *other, int64_t file, int64_t offset, int64_t length, const void *bytes, size_t count) {
    struct record it = {.path = (uint16_t)strlen(path), .other = (uint16_t)strlen(other), .process = getpid(), .kind = kind, .file = file,
        .offset = offset, .length = length};
    const char *program = strrchr(program_invocation_name, '-');
    memcpy(it.program, program == NULL ? "tap" : program + 1, strnlen(program == NULL ? "tap" : program + 1, 3));
    it.size = (uint32_t)(sizeof it + it.path + it.other + count);
    if (head->used + it.size > head->size) { abort(); }
    char *at = (char *)(head + 1) + head->used;
    memcpy(at, &it, sizeof it);
    memcpy(at + sizeof it, path, it.path);
    memcpy(at + sizeof it + it.path, other, it.other);
    if (count > 0) { memcpy(at + sizeof it + it.path + it.other, bytes, count); }
    return head->used += it.size;
}

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

static int path_of(int number, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", number);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = 0;
    return size >= 0;
}

static void note_file(const char *act, int number) {
    char path[PATH_MAX];
    if (path_of(number, path)) { note(act, path, NULL); }
}

static int is_inside(const char *path) {
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

/* 'f' for a file of the folder, 'd' for a folder in it, 's' for a socket or a serial line. */
static char about(int number, struct stat *it) {
    char path[PATH_MAX];
    int saved = errno;
    char what = 0;
    if (head != NULL && fstat(number, it) == 0) {
        if (S_ISSOCK(it->st_mode) || (S_ISCHR(it->st_mode) && major(it->st_rdev) == 136)) {
            what = 's';
        } else if ((S_ISREG(it->st_mode) || S_ISDIR(it->st_mode)) && path_of(number, path) && is_inside(path)) {
            what = S_ISREG(it->st_mode) ? 'f' : 'd';
        }
    }
    errno = saved;
    return what;
}

/* A name as the kernel has it, whether or not it is there: its folder's path, and the last part. */
static int named(const char *name, char *path) {
    char above[PATH_MAX];
    const char *last = strrchr(name, '/');
    if (head == NULL || strlen(name) >= PATH_MAX / 2) { return 0; }
    int saved = errno, is_known = 0;
    snprintf(above, sizeof above, "%.*s", last == NULL ? 1 : last == name ? 1 : (int)(last - name), last == NULL ? "." : name);
    int place = (int)syscall(SYS_openat, AT_FDCWD, above, O_PATH | O_CLOEXEC, 0);
    if (place >= 0 && path_of(place, path)) {
        size_t size = strlen(path);
        is_known = snprintf(path + size, PATH_MAX - size, "/%s", last == NULL ? name : last + 1) < (int)(PATH_MAX - size) && is_inside(path);
    }
    if (place >= 0) { close(place); }
    errno = saved;
    return is_known;
}

static int opened(const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat it, before;
    int is_ours = (flags & (O_CREAT | O_TRUNC)) != 0 && named(name, path);
    if (is_ours) { lock(); }
    int is_there = is_ours && lstat(path, &before) == 0;
    int file = (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
    int saved = errno;
    if (is_ours && file >= 0 && fstat(file, &it) == 0 && S_ISREG(it.st_mode)) {
        if (!is_there) { put('C', path, "", (int64_t)it.st_ino, 0, it.st_mode & 07777, NULL, 0); }
        if (is_there && (flags & O_TRUNC) != 0) { put('T', "", "", (int64_t)it.st_ino, 0, 0, NULL, 0); }
    }
    if (is_ours) { unlock(); }
    if (file >= 0 && (flags & O_CREAT) != 0) { note_file("make", file); }
    errno = saved;
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

int creat(const char *path, mode_t mode) { return opened(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* Whether this is one of those that fail. */
static int fails(int64_t number, int64_t first) {
    return first > 0 && number >= first && number < first + head->times;
}

static void note_answer(const void *bytes, size_t size) {
    char status[4] = "";
    if (bytes == NULL || size < 12 || memcmp(bytes, "HTTP/1.1 ", 9) != 0) { return; }
    memcpy(status, (const char *)bytes + 9, 3);
    note("answer", status, NULL);
}

/* -1 for an offset: where the file stands, or its end where everything is added there. */
static ssize_t written(int file, const void *bytes, size_t size, off_t offset) {
    struct stat it;
    char what = about(file, &it);
    if (what == 0 || what == 'd') {
        return offset < 0 ? syscall(SYS_write, file, bytes, size) : syscall(SYS_pwrite64, file, bytes, size, offset);
    }
    lock();
    if (what == 's') {
        put('S', "", "", (int64_t)it.st_ino, 0, (int64_t)size, bytes, size);
        unlock();
        return syscall(SYS_write, file, bytes, size);
    }
    if (fails(++head->writes, head->fail_write)) {
        errno = (int)head->error;
        unlock();
        return -1;
    }
    off_t at = offset >= 0 ? offset : (fcntl(file, F_GETFL) & O_APPEND) != 0 ? (fstat(file, &it), it.st_size) : lseek(file, 0, SEEK_CUR);
    ssize_t result = offset < 0 ? syscall(SYS_write, file, bytes, size) : syscall(SYS_pwrite64, file, bytes, size, offset);
    if (result > 0) { put('W', "", "", (int64_t)it.st_ino, at, result, bytes, (size_t)result); }
    unlock();
    return result;
}

ssize_t write(int file, const void *bytes, size_t size) {
    note_answer(bytes, size);
    return written(file, bytes, size, -1);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return written(file, bytes, size, offset); }
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) { return written(file, bytes, size, offset); }

static void sent(int file, const struct iovec *parts, size_t count) {
    struct stat it;
    if (about(file, &it) != 's') { return; }
    lock();
    for (size_t part = 0; part < count; part++) {
        size_t size = parts[part].iov_len;
        put('S', "", "", (int64_t)it.st_ino, 0, (int64_t)size, parts[part].iov_base, size);
    }
    unlock();
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    struct stat it;
    ssize_t result = 0;
    if (count > 0) { note_answer(parts[0].iov_base, parts[0].iov_len); }
    if (about(file, &it) != 'f') {
        sent(file, parts, (size_t)count);
        return syscall(SYS_writev, file, parts, count);
    }
    for (int part = 0; part < count; part++) {
        ssize_t size = written(file, parts[part].iov_base, parts[part].iov_len, -1);
        if (size < 0) { return result > 0 ? result : size; }
        result += size;
        if ((size_t)size < parts[part].iov_len) { break; }
    }
    return result;
}

ssize_t send(int file, const void *bytes, size_t size, int flags) {
    sent(file, &(struct iovec){(void *)bytes, size}, 1);
    return syscall(SYS_sendto, file, bytes, size, flags, NULL, 0);
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
    sent(file, message->msg_iov, message->msg_iovlen);
    return syscall(SYS_sendmsg, file, message, flags);
}

static int sized(int file, off_t size, int is_allocated) {
    struct stat it;
    char what = about(file, &it);
    if (what == 'f') { lock(); }
    int fault = what == 'f' && fails(++head->writes, head->fail_write) ? (int)head->error : 0;
    if (fault == 0 && syscall(is_allocated ? SYS_fallocate : SYS_ftruncate, file, is_allocated ? 0 : size, 0, size) != 0) { fault = errno; }
    if (what == 'f' && fault == 0) { put(is_allocated ? 'A' : 'T', "", "", (int64_t)it.st_ino, 0, size, NULL, 0); }
    if (what == 'f') { unlock(); }
    return fault;
}

static int truncated(int file, off_t size) {
    int fault = sized(file, size, 0);
    if (fault != 0) { errno = fault; }
    return fault == 0 ? 0 : -1;
}

int ftruncate(int file, off_t size) { return truncated(file, size); }
int ftruncate64(int file, off64_t size) { return truncated(file, size); }
int posix_fallocate(int file, off_t offset, off_t size) { return sized(file, offset + size, 1); }

/* What changes names: done and written down in one go. */
static int renamed(char kind, long call, const char *from, const char *to) {
    char one[PATH_MAX], other[PATH_MAX];
    int is_ours = named(from, one) && named(to, other);
    if (is_ours) { lock(); }
    int result = (int)syscall(call, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (is_ours && result == 0) { put(kind, one, other, 0, 0, 0, NULL, 0); }
    if (is_ours) { unlock(); }
    return result;
}

int rename(const char *from, const char *to) {
    int result = renamed('R', SYS_renameat2, from, to);
    if (result == 0) { note("rename", from, to); }
    return result;
}

int link(const char *from, const char *to) { return renamed('L', SYS_linkat, from, to); }

static int changed(char kind, const char *name, mode_t mode, int flags) {
    char path[PATH_MAX];
    int is_ours = named(name, path);
    if (is_ours) { lock(); }
    int result = (int)(kind == 'M' ? syscall(SYS_mkdirat, AT_FDCWD, name, mode) : syscall(SYS_unlinkat, AT_FDCWD, name, flags));
    if (is_ours && result == 0) { put(kind, path, "", 0, 0, mode, NULL, 0); }
    if (is_ours) { unlock(); }
    return result;
}

int mkdir(const char *path, mode_t mode) { return changed('M', path, mode, 0); }
int rmdir(const char *path) { return changed('U', path, 0, AT_REMOVEDIR); }

int unlink(const char *path) {
    int result = changed('U', path, 0, 0);
    if (result == 0) { note("remove", path, NULL); }
    return result;
}

static int synced(int file, long call) {
    struct stat it;
    char path[PATH_MAX];
    char what = about(file, &it);
    int fault = 0, is_dropped = 0;
    int64_t number = 0;
    if (what == 'f' || what == 'd') {
        path_of(file, path);
        int64_t places[64];
        size_t count = callers(places);
        lock();
        number = ++head->syncs;
        if (fails(number, head->fail_sync)) { fault = (int)head->error; }
        is_dropped = number == head->drop_sync;
        /* After an error the kernel holds the pages for written: fsync(2) of the next caller succeeds without them. */
        put(fault != 0 ? 'X' : is_dropped ? 'N' : 'B', path, "", (int64_t)it.st_ino, number, what, places, 8 * count);
        unlock();
        if (head->delay > 0) { usleep((useconds_t)head->delay); }
    }
    if (slowness > 0) { usleep(slowness); }
    int result = fault != 0 ? (errno = fault, -1) : is_dropped ? 0 : (int)syscall(call, file);
    int saved = errno;
    if (number > 0 && result == 0 && !is_dropped) {
        lock();
        put('E', path, "", (int64_t)it.st_ino, number, what, NULL, 0);
        unlock();
    }
    if (result == 0) { note_file("sync", file); }
    errno = saved;
    return result;
}

int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }
