// SPDX-License-Identifier: Apache-2.0
// libnfc, and what the worker process around it needs from the kernel that Swift's Glibc module hides
// (variadic functions and macros).
#ifndef CNFC_H
#define CNFC_H

#include <nfc/nfc.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/// The process that started this one; remembers `started_by` where it is not 0.
static inline pid_t cnfc_parent(pid_t started_by) {
    static volatile pid_t parent;
    if (started_by != 0) parent = started_by;
    return parent;
}

static inline void cnfc_parent_thread_ended(int signal) {
    (void)signal;
    // The kernel sends the signal when the *thread* that started this process ends; only the process matters.
    if (getppid() != cnfc_parent(0)) _exit(0);
}

/// Ends this process with the one that started it, also while libnfc blocks. Returns 0, or -1 with errno set.
static inline int cnfc_end_with_parent(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = cnfc_parent_thread_ended;
    action.sa_flags = SA_RESTART;
    cnfc_parent(getppid());
    if (sigaction(SIGUSR1, &action, NULL) != 0) return -1;
    return prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
}

/// Refuses further opens of the terminal (root's excepted) while it stays open.
static inline int cnfc_claim_terminal(int descriptor) { return ioctl(descriptor, TIOCEXCL); }

/// Lets others open the terminal again.
static inline int cnfc_free_terminal(int descriptor) { return ioctl(descriptor, TIOCNXCL); }

/// Sets the bits of `mask` in a register of a PN53x chip with libnfc's next command. libnfc exports it without declaring
/// it; only for devices whose chip is a PN53x.
extern int pn53x_write_register(struct nfc_device *device, uint16_t address, uint8_t mask, uint8_t value);

#endif
