/// What the processor allows at most, for measurements to compare with.
#include <time.h>

#include "internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

/// Rounds of multiplications of 32 bytes, so many at once that none waits for another, and pieces of work that the threads share.
#define ROUNDS 100000
#define CHAINS 12
#define PIECES 1024

/// Multiplications as the kernels of a set make them, on registers alone. `STEP` is one, which adds `w` times `q` to `sum`; the empty
/// statement has it made anew every time.
#define MULTIPLY(NAME, TARGET, STEP)                                                                            \
    __attribute__((target(TARGET), noinline)) static void NAME(void *context, int64_t index, int32_t thread) {  \
        (void)thread;                                                                                           \
        __m256i w = _mm256_set1_epi8(3), q = _mm256_set1_epi8((char)(index & 7)), sums[CHAINS];                 \
        for (int i = 0; i < CHAINS; i++) sums[i] = _mm256_setzero_si256();                                      \
        for (int round = 0; round < ROUNDS; round++) {                                                          \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < CHAINS; i++) {                               \
                sums[i] = STEP(sums[i], w, q);                                                                  \
                __asm__ volatile("" : "+x"(sums[i]), "+x"(w));                                                  \
            }                                                                                                   \
        }                                                                                                       \
        for (int i = 1; i < CHAINS; i++) sums[0] = _mm256_add_epi32(sums[0], sums[i]);                          \
        __atomic_fetch_add((int32_t *)context, _mm256_extract_epi32(sums[0], 0), __ATOMIC_RELAXED);             \
    }

#define MADDUBS(SUMS, W, Q) _mm256_add_epi16(SUMS, _mm256_maddubs_epi16(W, Q))
MULTIPLY(multiply_avx2, "avx2", MADDUBS)
MULTIPLY(multiply_avxvnni, "avx2,avxvnni", _mm256_dpbusd_avx_epi32)
MULTIPLY(multiply_avx512vnni, "avx2,avx512vl,avx512vnni", _mm256_dpbusd_epi32)

static ck_body body_of(ck_instruction_set set) {
    switch (set) {
    case CK_SET_AVX2: return multiply_avx2;
    case CK_SET_AVXVNNI: return multiply_avxvnni;
    case CK_SET_AVX512VNNI: return multiply_avx512vnni;
    default: return NULL;
    }
}
#endif

double ck_int8_rate(ck_pool *pool) {
#if defined(__x86_64__)
    const ck_body multiply = body_of(ck_selected());
    if (multiply) {
        int32_t total = 0;
        struct timespec begin, end;
        ck_pool_for(pool, PIECES / 16, multiply, &total);    // wakes the threads
        clock_gettime(CLOCK_MONOTONIC, &begin);
        ck_pool_for(pool, PIECES, multiply, &total);
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        return 2.0 * 32 * CHAINS * ROUNDS * PIECES / seconds;
    }
#else
    (void)pool;
#endif
    return 0;
}
