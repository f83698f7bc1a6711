/// What the processor allows at most, for measurements to compare with.
#include <time.h>

#include "internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

/// Rounds of 8 multiplications of 32 bytes each, and pieces of work that the threads share.
#define ROUNDS 100000
#define PIECES 1024

/// Multiplications as the kernels make them (`maddubs`, then an addition of 16 bits), on registers alone.
__attribute__((target("avx2"), noinline)) static void multiply(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const __m256i w = _mm256_set1_epi8(3), q = _mm256_set1_epi8((char)(index & 7));
    __m256i sums[8];
    for (int i = 0; i < 8; i++) sums[i] = _mm256_setzero_si256();
    for (int round = 0; round < ROUNDS; round++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < 8; i++) {
            __m256i products;
            __asm__ volatile("vpmaddubsw %1, %2, %0" : "=x"(products) : "x"(q), "x"(w));    // volatile: every time anew
            sums[i] = _mm256_add_epi16(sums[i], products);
        }
    }
    for (int i = 1; i < 8; i++) sums[0] = _mm256_add_epi16(sums[0], sums[i]);
    __atomic_fetch_add((int32_t *)context, _mm256_extract_epi16(sums[0], 0), __ATOMIC_RELAXED);
}
#endif

double ck_int8_rate(ck_pool *pool) {
#if defined(__x86_64__)
    if (ck_selected() == CK_SET_AVX2) {
        int32_t total = 0;
        struct timespec begin, end;
        ck_pool_for(pool, PIECES / 16, multiply, &total);    // wakes the threads
        clock_gettime(CLOCK_MONOTONIC, &begin);
        ck_pool_for(pool, PIECES, multiply, &total);
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        return 2.0 * 32 * 8 * ROUNDS * PIECES / seconds;
    }
#else
    (void)pool;
#endif
    return 0;
}
