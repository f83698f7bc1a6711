/// Matrix products with AVX2 whose activations are rounded to 15 bits. Otherwise as in `avx2_matmul.c`: there 8 bits
/// multiply 8, here 16 multiply 16, two columns of 8 rows at once (`pmaddwd`), and a sub-block adds up exactly in 32 bits.
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

#include "avx2.h"
#include "avx2_weights.h"

/// Two neighbouring activations in every lane.
INLINE __m256i two(const int16_t *q) {
    int32_t value;
    memcpy(&value, q, 4);
    return _mm256_set1_epi32(value);
}

/// `sums` plus the products of `w` and `q`, two neighbours added up. The empty statement keeps the compiler from turning a
/// chain of these into a tree, which would need more registers than there are.
INLINE __m256i add_products(__m256i sums, __m256i w, __m256i q) {
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(w, q));
    __asm__("" : "+x"(sums));
    return sums;
}

/// What the shift of the weights, a power of two, has added to a sum of products, from the sum of the activations.
INLINE __m256i shifted(const ck_type type, int32_t total) {
    return _mm256_slli_epi32(_mm256_set1_epi32(total), __builtin_ctz((unsigned)shift_of(type) | 256));
}

// MARK: - A sub-block

/// Whether the products of a whole sub-block are below 2²⁴, so that it makes no difference to the last bit whether they are
/// multiplied by the integer scale before or after they become floats.
INLINE bool scales_as_float(const ck_type type) { return type == CK_Q4_K || type == CK_Q5_K; }

/// Adds one sub-block to the sums of `T` tokens.
INLINE void multiply_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int T, const ck_fine_activation *x[],
    __m256 sums[]) {
    const int halves_ = family_of(type) == HALVED ? 2 : 1, vectors = 8 / halves_;
    __m256i totals[TILE];
    __m256i pairs[2];
    if (subs_of(type) == 8) sub_pairs(type, block, s, sub, pairs);
#pragma clang loop unroll(full)
    for (int half = 0; half < halves_; half++) {
        __m256i products[TILE];
        for (int t = 0; t < T; t++) products[t] = _mm256_setzero_si256();
#pragma clang loop unroll(full)
        for (int v = half * vectors; v < (half + 1) * vectors; v++) {
            __m256i w[2];
            wide_weights(type, block, sub, v, w);
            for (int t = 0; t < T; t++) {
                products[t] = add_products(products[t], w[0], two(x[t]->q + 4 * v));
                products[t] = add_products(products[t], w[1], two(x[t]->q + 4 * v + 2));
            }
        }
        for (int t = 0; t < T; t++) {
            if (shift_of(type) > 0) {
                products[t] = _mm256_sub_epi32(
                    products[t], shifted(type, family_of(type) == HALVED ? x[t]->half_total[half] : x[t]->total));
            }
            if (subs_of(type) == 8 && !scales_as_float(type)) {
                products[t] = _mm256_mullo_epi32(products[t], _mm256_srai_epi32(pairs[half], 16));
            }
            totals[t] = half == 0 ? products[t] : _mm256_add_epi32(totals[t], products[t]);
        }
    }
    if (subs_of(type) == 8) {
        for (int t = 0; t < T; t++) {
            __m256 products = _mm256_cvtepi32_ps(totals[t]);
            if (scales_as_float(type)) {
                products = _mm256_mul_ps(products, _mm256_cvtepi32_ps(_mm256_srai_epi32(pairs[0], 16)));
            }
            sums[t] = _mm256_fmadd_ps(products, _mm256_broadcast_ss(&x[t]->d), sums[t]);
        }
    } else {
        __m256 scale, minimum;
        block_scale(type, block, &scale, &minimum);
        for (int t = 0; t < T; t++) {
            sums[t] = _mm256_fmadd_ps(
                _mm256_cvtepi32_ps(totals[t]), _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
            if (has_minimum(type)) sums[t] = _mm256_fmadd_ps(minimum, _mm256_broadcast_ss(&x[t]->sum), sums[t]);
        }
    }
}

// MARK: - A sub-block unpacked
//
// Its weights around nought, two columns to a vector in the order of `ck_fine_activation`, with the integer scale multiplied
// in; of a block of 32 columns scale and minimum after them.

INLINE size_t unpacked_bytes(const ck_type type) {
    return (size_t)(16 + (subs_of(type) == 8 ? 0 : 1 + has_minimum(type))) * sizeof(__m256i);
}

INLINE void unpack_sub(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, void *out) {
    __m256i *w = out, pairs[2];
    if (subs_of(type) == 8) sub_pairs(type, block, s, sub, pairs);
#pragma clang loop unroll(full)
    for (int v = 0; v < 8; v++) {
        __m256i wide[2];
        wide_weights(type, block, sub, v, wide);
        for (int i = 0; i < 2; i++) {
            if (shift_of(type) > 0) wide[i] = _mm256_sub_epi16(wide[i], _mm256_set1_epi16((int16_t)shift_of(type)));
            if (subs_of(type) == 8) wide[i] = _mm256_mullo_epi16(wide[i], pairs[family_of(type) == HALVED ? v / 4 : 0]);
            w[2 * v + i] = wide[i];
        }
    }
    if (subs_of(type) == 1) {
        __m256 scale, minimum;
        block_scale(type, block, &scale, &minimum);
        w[16] = _mm256_castps_si256(scale);
        if (has_minimum(type)) w[17] = _mm256_castps_si256(minimum);
    }
}

/// Adds one unpacked sub-block of `G` groups, `stride` bytes apart, to `sums[G, TILE]` of `T` tokens.
INLINE void multiply_unpacked(
    const ck_type type, const int G, const int T, const char *panel, const size_t stride, const ck_fine_activation *x[], __m256 *sums) {
    const __m256i *w[GROUPS];
    __m256i products[GROUPS][TILE];
#pragma clang loop unroll(full)
    for (int g = 0; g < G; g++) {
        w[g] = (const __m256i *)(const void *)(panel + (size_t)g * stride);
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) products[g][t] = _mm256_setzero_si256();
    }
#pragma clang loop unroll(full)
    for (int v = 0; v < 16; v++) {
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            const __m256i q = two(x[t]->q + 2 * v);
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) products[g][t] = add_products(products[g][t], w[g][v], q);
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        const __m256 d = _mm256_broadcast_ss(&x[t]->d);
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            const __m256 product = _mm256_cvtepi32_ps(products[g][t]);
            __m256 sum = sums[g * TILE + t];
            if (subs_of(type) == 8) {
                sum = _mm256_fmadd_ps(product, d, sum);
            } else {
                sum = _mm256_fmadd_ps(product, _mm256_mul_ps(_mm256_castsi256_ps(w[g][16]), d), sum);
                if (has_minimum(type)) {
                    sum = _mm256_fmadd_ps(_mm256_castsi256_ps(w[g][17]), _mm256_broadcast_ss(&x[t]->sum), sum);
                }
            }
            sums[g * TILE + t] = sum;
        }
    }
}

#define ACTIVATION ck_fine_activation
#define ACTIVATIONS(job) ((job)->fine)
#include "avx2_products.h"

void ck_avx2_fine_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

size_t ck_avx2_fine_matmul_scratch(void) { return PANEL_BYTES; }

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
