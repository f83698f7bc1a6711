/// Products with AVX2 whose activations are rounded to 15 bits, and the rounding.
#if defined(__x86_64__)

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

#include "avx2_fine_products.h"

void ck_avx2_fine_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

// MARK: - Rounding

/// The sum of eight integers.
INLINE int32_t total_of(__m256i v) {
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

void ck_avx2_quantize_fine(const float *x, int64_t cols, ck_fine_activation *out) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    const __m256 limit = _mm256_set1_ps(CK_FINE_LIMIT), lower = _mm256_set1_ps(-CK_FINE_LIMIT);
    for (int64_t b = 0; b < cols / 32; b++, x += 32, out++) {
        __m256 v[4];
        // Magnitudes compare as integers do, and what is no number above all numbers: then `d`, and by it every product
        // with the block, is no number either.
        __m256i most = _mm256_setzero_si256();
        for (int i = 0; i < 4; i++) {
            v[i] = _mm256_loadu_ps(x + 8 * i);
            most = _mm256_max_epi32(_mm256_castps_si256(_mm256_andnot_ps(sign, v[i])), most);
        }
        __m128i m = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
        m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
        m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
        const float greatest = _mm_cvtss_f32(_mm_castsi128_ps(m));
        float inverse = greatest > 0 ? CK_FINE_LIMIT / greatest : 0;
        if (!(inverse <= 3.4e38f)) inverse = 0;
        const __m256 factor = _mm256_set1_ps(inverse);
        __m256i n[4];
        for (int i = 0; i < 4; i++) {
            __m256 scaled = _mm256_mul_ps(v[i], factor);
            scaled = _mm256_and_ps(scaled, _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q));    // else its integer is undefined
            n[i] = _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(scaled, limit), lower));
        }
        for (int half = 0; half < 2; half++) {
            const __m256i first = n[2 * half], second = n[2 * half + 1];
            out->half_total[half] = total_of(_mm256_add_epi32(first, second));
            // 32 bits to 16, undoing the interleaving of the halves; then 0 2 1 3.
            const __m256i q = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xd8);
            _mm256_storeu_si256(
                (__m256i *)(out->q + 16 * half), _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(q, 0xd8), 0xd8));
        }
        out->total = out->half_total[0] + out->half_total[1];
        out->d = greatest / CK_FINE_LIMIT;
        out->half_sum[0] = out->d * (float)out->half_total[0];
        out->half_sum[1] = out->d * (float)out->half_total[1];
        out->sum = out->d * (float)out->total;
        out->unused = 0;
    }
}

#pragma clang attribute pop
#endif
