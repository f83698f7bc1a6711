/// Products of quantised weights with activations of 15 bits, with the VEX encoding of VNNI (AVX-VNNI).
#if defined(__x86_64__)

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)

#include "avx2_weights.h"

/// In the assembler's words: from the intrinsic, compilers make a multiplication and an addition once more, since a chain of those is
/// shorter. But there are chains enough here, and too few registers.
INLINE __m256i dpwssd(__m256i sums, __m256i w, __m256i q) {
    __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sums) : "x"(w), "x"(q));
    return sums;
}

#define DPWSSD dpwssd
#include "avx2_fine_products.h"

void ck_avxvnni_fine_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

#pragma clang attribute pop
#endif
