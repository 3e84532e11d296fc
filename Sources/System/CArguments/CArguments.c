// SPDX-License-Identifier: Apache-2.0
/*
 * Swift has no arguments from main: when the program is loaded, it looks in /proc/self/maps for the stack (proc(5)), and takes what
 * lies there below `environ` (stdlib/public/CommandLineSupport/CommandLine.cpp). Where it does not find them it has none, and says
 * nothing: a daemon that was given a live configuration would start in test mode. A program that would be without ends here.
 */
#include "CArguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Not stdio, which a library may have put something before. */
static void say(const char *text) {
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

_Noreturn static void end(const char *program, const char *problem, const char *remedy) {
    const char *slash = strrchr(program, '/');
    say(slash != NULL ? slash + 1 : program);
    say(": ");
    say(problem);
    say(", so the program does not know its arguments. ");
    say(remedy);
    say("\n");
    _exit(carguments_unavailable);
}

static int digit(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return -1;
}

/* What is read of a line: `7ffc1a2b3000-7ffc1a2d4000 rw-p …`, the first address in the range and the first behind it. */
struct line {
    uintptr_t bounds[2];
    /* 0 and 1: within that number. 2: behind both. */
    int part;
};

/* Whether the line that this letter ends is a range with that address. */
static int ends_range(struct line *line, char letter, uintptr_t address) {
    if (letter == '\n') {
        int found = line->part == 2 && address >= line->bounds[0] && address < line->bounds[1];
        *line = (struct line){{0, 0}, 0};
        return found;
    }
    if (line->part == 2) return 0;
    int value = digit(letter);
    if (value >= 0) line->bounds[line->part] = line->bounds[line->part] << 4 | (uintptr_t)value;
    else line->part++;
    return 0;
}

/* 1 where that file has the address in a range, 0 where it has not, -1 where it cannot be opened or read. */
static int maps(uintptr_t address) {
    int descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    struct line line = {{0, 0}, 0};
    char bytes[4096];
    int found = 0;
    ssize_t length;
    do {
        length = read(descriptor, bytes, sizeof bytes);
        for (ssize_t index = 0; index < length && !found; index++) found = ends_range(&line, bytes[index], address);
    } while (!found && (length > 0 || (length < 0 && errno == EINTR)));
    int failure = errno;
    close(descriptor);
    errno = failure;
    return length < 0 && !found ? -1 : found;
}

/* After the constructors of shared libraries, before those of this program. glibc hands over what it hands to main. */
__attribute__((constructor(101))) static void check(int count, char **arguments, char **environment) {
    (void)environment;
    const char *program = count > 0 && arguments[0] != NULL ? arguments[0] : "nfc-tap";
    int found = maps((uintptr_t)arguments);
    if (found < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        end(program, "/proc is not mounted", "Mount it: mount -t proc proc /proc");
    }
    if (found < 0) end(program, "/proc/self/maps cannot be read", "Allow it, and leave the program descriptors for it.");
    if (found == 0) end(program, "/proc is not that of this process", "Mount it: mount -t proc proc /proc");
    if (environ != arguments + count + 1) {
        end(program, "a library that was loaded before it has replaced its environment", "Start it without LD_PRELOAD.");
    }
}
