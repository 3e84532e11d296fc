// SPDX-License-Identifier: Apache-2.0
/*
 * Nothing but under the thread sanitizer. Synchronization.Mutex takes its fast way in our code, where the sanitizer sees it,
 * and its slow way, when another thread has the lock, in the library, where it does not: every contended lock would be
 * reported as a race. These stand in the place of the library's functions and tell it.
 *
 * The runtime tells the sanitizer of a continuation when it is resumed and when its task runs on, but not where the task finds
 * that it has been resumed already: what was handed over then would be reported as a race.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void lock_function(uint32_t thread, SELF void *mutex);
typedef SWIFT bool try_lock_function(SELF void *mutex);
typedef SWIFT void unlock_function(SELF void *mutex);

SWIFT void clinux_lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void clinux_lock_slow(uint32_t thread, SELF void *mutex) {
    ((lock_function *)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT bool clinux_try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT bool clinux_try_lock_slow(SELF void *mutex) {
    bool has_lock = ((try_lock_function *)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (has_lock) __tsan_acquire(mutex);
    return has_lock;
}

SWIFT void clinux_unlock_slow(SELF void *mutex) __asm__(UNLOCK);
SWIFT void clinux_unlock_slow(SELF void *mutex) {
    __tsan_release(mutex);
    ((unlock_function *)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}

#define ASYNC __attribute__((swiftasynccall))
#define AWAIT "swift_continuation_await"

extern SWIFT void *swift_task_getCurrent(void);

typedef ASYNC void await_function(void *continuation);

ASYNC void clinux_await(void *continuation) __asm__(AWAIT);
ASYNC void clinux_await(void *continuation) {
    void *task = swift_task_getCurrent();
    if (task) __tsan_acquire(task);
    await_function *await = (await_function *)dlsym(RTLD_NEXT, AWAIT);
    __attribute__((musttail)) return await(continuation);
}

#endif
#endif
