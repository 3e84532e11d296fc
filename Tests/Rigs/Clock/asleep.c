// SPDX-License-Identifier: Apache-2.0
/* Preloaded into a program, lets it believe that its machine was suspended: the clock that counts such time is ahead by
   the seconds in the file that ASLEEP names. No other clock is touched. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    const char *path = clock == CLOCK_BOOTTIME ? getenv("ASLEEP") : NULL;
    if (result != 0 || path == NULL) { return result; }
    char text[16] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) { return result; }
    if (read(file, text, sizeof text - 1) > 0) { time->tv_sec += atol(text); }
    close(file);
    return result;
}
