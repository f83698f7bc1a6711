/// The thread pool and its memory.
///
/// A loop is a *region*: the caller opens the gate, workers enter one by one, take indices from a shared counter and leave;
/// the caller works too, closes the gate when no index is left and waits only for those still inside. A worker that did
/// not come in time (asleep, or its core busy with another process) is not waited for, so the pool slows in proportion
/// to the processor time it gets instead of collapsing.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#define LINE 64

/// Pauses of a waiting worker before it lets others run: some 60 µs, longer than what lies between two loops of a step.
#define SPINS 4096
/// The same of a caller that waits for the workers inside.
#define CALLER_SPINS 1024
/// After so many pauses a worker looks whether it keeps the caller off its core.
#define SPINS_ON_SHARED_CORE 64
/// Times a waiting thread gives its core away before it sleeps.
#define YIELDS 16

/// The gate: region number in the high half, then whether it is open, then how many workers are inside.
#define OPEN 0x80000000u
#define INSIDE 0x7fffffffu

typedef struct {
    void *memory;
    size_t bytes;
} area;

typedef struct {
    ck_pool *pool;
    pthread_t thread;
    int32_t index;
} worker;

struct ck_pool {
    _Alignas(LINE) _Atomic uint64_t gate;
    _Atomic uint32_t wake;        ///< futex of sleeping workers
    _Atomic uint32_t sleepers;
    _Alignas(LINE) _Atomic int64_t next;
    _Alignas(LINE) _Atomic uint32_t done;    ///< futex of a sleeping caller
    _Atomic uint32_t caller_sleeps;
    _Atomic int caller_core;                 ///< where the last loop was begun
    // Written by the caller while the gate is closed and nobody is inside.
    _Alignas(LINE) ck_body body;
    void *context;
    int64_t count;
    bool ends;
    int32_t threads;
    worker workers[CK_MAXIMUM_THREADS];
    area shared[3];
    area own[CK_MAXIMUM_THREADS];
};

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void take_indices(ck_pool *pool, int32_t thread) {
    const int64_t count = pool->count;
    const ck_body body = pool->body;
    void *context = pool->context;
    for (;;) {
        int64_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= count) return;
        body(context, index, thread);
    }
}

static void leave(ck_pool *pool) {
    // Release: what the bodies wrote is the caller's to read. Sequentially consistent with the caller's going to sleep.
    uint64_t before = atomic_fetch_sub(&pool->gate, 1);
    if ((before & (OPEN | INSIDE)) == 1 && atomic_load(&pool->caller_sleeps)) {
        atomic_fetch_add(&pool->done, 1);
        futex_wake(&pool->done, 1);
    }
}

static void *work(void *argument) {
    const worker *self = argument;
    ck_pool *pool = self->pool;
    uint32_t seen = 0;
    int spins = 0;
    for (;;) {
        uint64_t gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
        uint32_t region = (uint32_t)(gate >> 32);
        if (region != seen) {
            if (!(gate & OPEN)) {    // came too late
                seen = region;
                continue;
            }
            if (!atomic_compare_exchange_weak_explicit(
                    &pool->gate, &gate, gate + 1, memory_order_acquire, memory_order_relaxed)) {
                continue;
            }
            seen = region;
            const bool ends = pool->ends;
            if (!ends) take_indices(pool, self->index);
            leave(pool);
            if (ends) return NULL;
            spins = 0;
            continue;
        }
        spins++;
        if (spins == SPINS_ON_SHARED_CORE
            && sched_getcpu() == atomic_load_explicit(&pool->caller_core, memory_order_relaxed)) {
            spins = SPINS;
        }
        if (spins < SPINS) {
            pause_briefly();
        } else if (spins < SPINS + YIELDS) {
            sched_yield();
        } else {
            // Whoever opens the gate after this either sees a sleeper or is seen by the load below.
            atomic_fetch_add(&pool->sleepers, 1);
            uint32_t value = atomic_load(&pool->wake);
            if ((uint32_t)(atomic_load(&pool->gate) >> 32) == seen) futex_wait(&pool->wake, value);
            atomic_fetch_sub(&pool->sleepers, 1);
            spins = 0;
        }
    }
}

static void open_gate(ck_pool *pool, int wanted) {
    uint64_t region = (atomic_load_explicit(&pool->gate, memory_order_relaxed) >> 32) + 1;
    atomic_store_explicit(&pool->caller_core, sched_getcpu(), memory_order_relaxed);
    atomic_store(&pool->gate, region << 32 | OPEN);
    if (atomic_load(&pool->sleepers) > 0) {
        atomic_fetch_add(&pool->wake, 1);
        futex_wake(&pool->wake, wanted);
    }
}

static void close_gate(ck_pool *pool) {
    uint64_t gate = atomic_fetch_and(&pool->gate, ~(uint64_t)OPEN);
    for (int spins = 0; gate & INSIDE; spins++) {
        if (spins < CALLER_SPINS) {
            pause_briefly();
        } else if (spins < CALLER_SPINS + YIELDS) {
            sched_yield();
        } else {
            // Sleeping frees this core, to which the system may then move the worker that is late.
            atomic_store(&pool->caller_sleeps, 1);
            uint32_t value = atomic_load(&pool->done);
            if (atomic_load(&pool->gate) & INSIDE) futex_wait(&pool->done, value);
            atomic_store(&pool->caller_sleeps, 0);
        }
        gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
    }
}

void ck_pool_for(ck_pool *pool, int64_t count, ck_body body, void *context) {
    if (count <= 1 || pool->threads == 1) {
        for (int64_t index = 0; index < count; index++) body(context, index, 0);
        return;
    }
    pool->body = body;
    pool->context = context;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    open_gate(pool, (int)ck_min(count - 1, INT_MAX));
    take_indices(pool, 0);
    close_gate(pool);
}

ck_pool *ck_pool_create(int32_t threads) {
    threads = (int32_t)ck_max(1, ck_min(threads, CK_MAXIMUM_THREADS));
    ck_pool *pool = aligned_alloc(LINE, (sizeof(ck_pool) + LINE - 1) / LINE * LINE);
    if (!pool) return NULL;
    memset(pool, 0, sizeof(*pool));
    pool->threads = 1;
    // Signals are for the program's own threads, except those of a worker's own faults: blocked, they would end the process without
    // their handler, which may be Swift's for backtraces.
    const int faults[] = {SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGTRAP};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    bool failed = false;
    for (int32_t i = 1; i < threads && !failed; i++) {
        pool->workers[i] = (worker){.pool = pool, .index = i};
        failed = pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]) != 0;
        if (!failed) pool->threads = i + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        ck_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void ck_pool_destroy(ck_pool *pool) {
    if (!pool) return;
    if (pool->threads > 1) {
        pool->ends = true;
        open_gate(pool, INT_MAX);
        for (int32_t i = 1; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
    }
    for (int i = 0; i < 3; i++) ck_free(pool->shared[i].memory, pool->shared[i].bytes);
    for (int i = 0; i < CK_MAXIMUM_THREADS; i++) ck_free(pool->own[i].memory, pool->own[i].bytes);
    free(pool);
}

int32_t ck_pool_threads(const ck_pool *pool) { return pool->threads; }

// MARK: - Memory

#define HUGE_PAGE ((size_t)2 << 20)

void *ck_allocate(size_t bytes) {
    if (bytes > SIZE_MAX - 2 * HUGE_PAGE) return NULL;
    if (bytes < HUGE_PAGE) {
        size_t rounded = (bytes + LINE - 1) / LINE * LINE;
        void *memory = aligned_alloc(LINE, rounded ? rounded : LINE);
        return memory ? memset(memory, 0, rounded) : NULL;
    }
    // Mapped with room to spare, then trimmed to the boundary of a huge page.
    size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *mapped = mmap(NULL, rounded + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return NULL;
    char *aligned = (char *)(((uintptr_t)mapped + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (aligned > mapped) munmap(mapped, (size_t)(aligned - mapped));
    size_t after = (size_t)(mapped + HUGE_PAGE - aligned);
    if (after > 0) munmap(aligned + rounded, after);
    madvise(aligned, rounded, MADV_HUGEPAGE);
    return aligned;
}

void ck_free(void *memory, size_t bytes) {
    if (!memory) return;
    if (bytes < HUGE_PAGE) {
        free(memory);
    } else {
        munmap(memory, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    }
}

static void *grown(area *area, size_t bytes) {
    if (area->bytes < bytes || !area->memory) {
        ck_free(area->memory, area->bytes);
        area->bytes = bytes + bytes / 4;
        area->memory = ck_allocate(area->bytes);
        if (!area->memory) area->bytes = 0;
    }
    return area->memory;
}

void *ck_pool_shared(ck_pool *pool, int32_t slot, size_t bytes) { return grown(&pool->shared[slot], bytes); }

bool ck_pool_reserve(ck_pool *pool, size_t bytes) {
    for (int32_t i = 0; i < pool->threads; i++) {
        if (!grown(&pool->own[i], bytes)) return false;
    }
    return true;
}

void *ck_pool_scratch(ck_pool *pool, int32_t thread) { return pool->own[thread].memory; }
