// SPDX-License-Identifier: Apache-2.0
#ifndef NFC_TAP_CLINUX_H
#define NFC_TAP_CLINUX_H

/// What Linux offers and Swift's Glibc module hides, because that module is built without _GNU_SOURCE or because a
/// function is variadic. Values that only _GNU_SOURCE defines are written out: they are part of the kernel's ABI.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <unistd.h>

/// The process at the other end of a Unix socket, as the kernel saw it at connect(2): struct ucred of unix(7).
struct clinux_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// SO_PEERCRED. 0, or the error number.
static inline int clinux_peer_credentials(int socket, struct clinux_peer *_Nonnull peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(socket, SOL_SOCKET, 17 /* SO_PEERCRED */, peer, &length) == 0 ? 0 : errno;
}

/// SO_PEERGROUPS: the peer's supplementary groups. `*count` is the room in entries, and on return the number of groups
/// (also where the answer is ERANGE: then it is the room needed). 0, or the error number.
static inline int clinux_peer_groups(int socket, gid_t *_Nonnull groups, unsigned int *_Nonnull count) {
    socklen_t length = (socklen_t)(*count * sizeof(gid_t));
    int result = getsockopt(socket, SOL_SOCKET, 59 /* SO_PEERGROUPS */, groups, &length) == 0 ? 0 : errno;
    *count = (unsigned int)(length / sizeof(gid_t));
    return result;
}

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC. The descriptor, or the error number, negated.
int clinux_accept(int listener);

/// Whether the kernel's clock follows a time service (adjtimex(2), STA_UNSYNC): 1, 0, or -1 where it may not be asked.
static inline int clinux_clock_is_synchronized(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    int result = adjtimex(&state);
    if (result < 0) return -1;
    return result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

/// No core dump, no ptrace by the same user, /proc/self owned by root: PR_SET_DUMPABLE 0. 0, or the error number.
static inline int clinux_forbid_dumps(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

/// 1 while the process may be dumped and traced, 0 once `clinux_forbid_dumps` has worked.
static inline int clinux_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

/// Bytes this process may lock into memory (RLIMIT_MEMLOCK, soft); UINT64_MAX where there is no limit.
static inline unsigned long long clinux_locked_memory_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 0;
    return limit.rlim_cur == RLIM_INFINITY ? ~0ULL : (unsigned long long)limit.rlim_cur;
}

/// Locks every page into memory as it is touched, now and later: mlockall(2). Refused before it can fail an allocation:
/// only without a limit (RLIMIT_MEMLOCK), or with CAP_IPC_LOCK. 0, or the error number.
static inline int clinux_lock_memory(void) {
    // MCL_FUTURE counts whole mappings, thread stacks too: below a limit every later mmap could fail.
    if (clinux_locked_memory_limit() != ~0ULL && geteuid() != 0) return ENOMEM;
    return mlockall(MCL_CURRENT | MCL_FUTURE | 4 /* MCL_ONFAULT */) == 0 ? 0 : errno;
}

/// Of CScrub, which not every program is linked with.
extern int cscrub_is_in_force(void) __attribute__((weak));

/// 1 where freed memory is overwritten in this program.
static inline int clinux_scrubs_freed_memory(void) { return cscrub_is_in_force != NULL ? cscrub_is_in_force() : 0; }

/// Takes the program's and its libraries' code out of this process's memory, where it comes back page by page as it is
/// used again, locked as it comes where `lock` is not 0. Mappings that may be written are left alone. The number of
/// mappings that could not be treated so.
int clinux_release_code(int lock);

/// Has the kernel send `signal` to this process when the thread that started it ends: PR_SET_PDEATHSIG. For worker
/// processes. 0, or the error number.
static inline int clinux_signal_on_parent_death(int signal) {
    return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0) == 0 ? 0 : errno;
}

/// PR_SET_NO_NEW_PRIVS: exec never grants more than this process has. 0, or the error number.
static inline int clinux_forbid_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

/// Names the calling thread for ps(1) and gdb(1), at most 15 bytes (PR_SET_NAME cuts a longer name).
static inline void clinux_name_thread(const char *_Nonnull name) { (void)prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0); }

// glibc 2.34 has it, but shows it to GNU sources only.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *_Nonnull, int);

/// Closes every descriptor from `first` on in the program to be started. 0, or the error number.
static inline int clinux_close_from(posix_spawn_file_actions_t *_Nonnull actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

/// Makes a keyboard of a descriptor of /dev/uinput, opened for writing: a device with these keys, by the codes of
/// linux/input-event-codes.h. It goes when the descriptor is closed. 0, or the error number.
int clinux_make_keyboard(
    int device, const char *_Nonnull name, const unsigned short *_Nonnull keys, unsigned int count);

/// One key of that keyboard goes down (1) or up (0), and whoever listens may act on it. 0, or the error number.
int clinux_change_key(int device, unsigned short key, int is_down);

/// explicit_bzero: a wipe that the optimiser may not remove.
static inline void clinux_wipe(void *_Nonnull bytes, size_t count) {
    memset(bytes, 0, count);
    __asm__ __volatile__("" : : "r"(bytes) : "memory");
}

/// Standard output and error line by line, also into a pipe or a file, so that a log is complete after a crash.
static inline void clinux_buffer_output_by_line(void) {
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)setvbuf(stderr, NULL, _IOLBF, 0);
}

#endif
