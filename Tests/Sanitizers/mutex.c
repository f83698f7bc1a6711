// Tells the thread sanitizer when `Synchronization.Mutex` hands a contended lock over. The uncontended paths are compiled into their
// callers, where it sees them; the others are in Swift's library, which is not instrumented, and the kernel does the handing over. Without
// this, what such a lock protects is reported as a race.
//
// Built and preloaded by `./figures thread-sanitizer`. Source of the functions' names and signatures: LinuxImpl.swift in
// stdlib/public/Synchronization/Mutex of https://github.com/swiftlang/swift.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Programs without the sanitizer, such as the compiler, load this too.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    SWIFT void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock_slow(SELF) {
    SWIFT bool (*next)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
    const bool is_locked = next(mutex);
    if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
    return is_locked;
}

SWIFT void unlock_slow(SELF) {
    SWIFT void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}
