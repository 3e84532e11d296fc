// SPDX-License-Identifier: Apache-2.0
/* Preloaded into a program, moves its wall clock by the milliseconds in the file that WALL names: eight bytes, also while
   it runs. No other clock is touched. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *moved;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("WALL");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) { return; }
    void *page = mmap(NULL, sizeof *moved, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) { moved = page; }
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || moved == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) { return result; }
    int64_t milliseconds = *moved;
    time->tv_sec += milliseconds / 1000;
    time->tv_nsec += milliseconds % 1000 * 1000000;
    if (time->tv_nsec >= 1000000000) { time->tv_nsec -= 1000000000, time->tv_sec += 1; }
    if (time->tv_nsec < 0) { time->tv_nsec += 1000000000, time->tv_sec -= 1; }
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL) { *result = now.tv_sec; }
    return now.tv_sec;
}
