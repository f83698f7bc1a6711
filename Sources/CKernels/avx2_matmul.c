/// Matrix products on interleaved weights with AVX2.
///
/// One vector of weights holds 4 columns of 8 rows, so four activations, broadcast, multiply all of it and the sums of the
/// 8 rows stay in their lanes: nothing is added across a register, scales are vectors, and eight multiplications
/// (`maddubs`) of a sub-block add up in 16 bits before one widening (see `ck_activation` for why that is exact).
///
/// With few tokens (`few_tokens` of the type, four at a time) a kernel reads the weights and multiplies at once, as fast as
/// memory gives them. With many, a panel of some groups × 256 columns is unpacked to bytes in the first-level cache and
/// multiplied by all tokens, four at a time, while the next panel is fetched.
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

#include "avx2.h"
#include "avx2_weights.h"

INLINE __m256i four(const int8_t *q) {
    int32_t value;
    memcpy(&value, q, 4);
    return _mm256_set1_epi32(value);
}

INLINE __m256i lanes(const int16_t *bias) {
    int32_t value;
    memcpy(&value, bias, 4);
    return _mm256_set1_epi32(value);
}

INLINE __m256i start(const int shift, const ck_activation *x) {
    return shift == 8 ? lanes(x->bias8) : shift == 16 ? lanes(x->bias16) : _mm256_setzero_si256();
}

/// `lanes` plus the products of unsigned `w` and signed `q`, two neighbours added up. The empty statement keeps the compiler
/// from turning a chain of these into a tree, which would need more registers than there are.
INLINE __m256i add_products(__m256i lanes, __m256i w, __m256i q) {
    lanes = _mm256_add_epi16(lanes, _mm256_maddubs_epi16(w, q));
    __asm__("" : "+x"(lanes));
    return lanes;
}

// MARK: - A sub-block

/// The sum of products of a lane's two halves, each with its integer scale.
INLINE __m256 scaled(__m256i lanes, __m256i pairs) { return _mm256_cvtepi32_ps(_mm256_madd_epi16(lanes, pairs)); }

/// The same of weights that were split into their lower and upper four bits.
INLINE __m256 scaled_split(__m256i low, __m256i high, __m256i pairs) {
    return _mm256_cvtepi32_ps(_mm256_add_epi32(
        _mm256_slli_epi32(_mm256_madd_epi16(high, pairs), 4), _mm256_madd_epi16(low, pairs)));
}

/// Adds one sub-block to the sums of `T` tokens.
INLINE void multiply_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int T, const ck_activation *x[],
    __m256 sums[]) {
    __m256i pairs[2] = {_mm256_set1_epi16(1)};
    __m256 products[TILE];
    if (subs_of(type) == 8) sub_pairs(type, block, s, sub, pairs);
    if (family_of(type) == PLAIN) {
        __m256i lanes[TILE];
        for (int t = 0; t < T; t++) lanes[t] = start(shift_of(type), x[t]);
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) {
            const __m256i w = weights(type, block, sub, v);
            for (int t = 0; t < T; t++) lanes[t] = add_products(lanes[t], w, four(x[t]->q + 4 * v));
        }
        for (int t = 0; t < T; t++) products[t] = scaled(lanes[t], pairs[0]);
    } else if (family_of(type) == HALVED) {
        __m256i totals[TILE];
#pragma clang loop unroll(full)
        for (int half = 0; half < 2; half++) {
            __m256i lanes_[TILE];
            for (int t = 0; t < T; t++) {
                lanes_[t] = shift_of(type) == 32 ? lanes(x[t]->bias32[half]) : _mm256_setzero_si256();
            }
#pragma clang loop unroll(full)
            for (int v = 4 * half; v < 4 * half + 4; v++) {
                const __m256i w = weights(type, block, sub, v);
                for (int t = 0; t < T; t++) lanes_[t] = add_products(lanes_[t], w, four(x[t]->q + 4 * v));
            }
            for (int t = 0; t < T; t++) {
                const __m256i total = _mm256_madd_epi16(lanes_[t], pairs[half]);
                totals[t] = half == 0 ? total : _mm256_add_epi32(totals[t], total);
            }
        }
        for (int t = 0; t < T; t++) products[t] = _mm256_cvtepi32_ps(totals[t]);
    } else {
        __m256i lows[TILE], highs[TILE];
        for (int t = 0; t < T; t++) {
            lows[t] = _mm256_setzero_si256();
            highs[t] = lanes(x[t]->bias8);
        }
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) {
            __m256i low, high;
            split_weights(type, block, sub, v, &low, &high);
            for (int t = 0; t < T; t++) {
                const __m256i q = four(x[t]->q + 4 * v);
                lows[t] = add_products(lows[t], low, q);
                highs[t] = add_products(highs[t], high, q);
            }
        }
        for (int t = 0; t < T; t++) products[t] = scaled_split(lows[t], highs[t], pairs[0]);
    }
    if (subs_of(type) == 8) {
        for (int t = 0; t < T; t++) sums[t] = _mm256_fmadd_ps(products[t], _mm256_broadcast_ss(&x[t]->d), sums[t]);
    } else {
        __m256 scale, minimum;
        block_scale(type, block, &scale, &minimum);
        for (int t = 0; t < T; t++) {
            sums[t] = _mm256_fmadd_ps(products[t], _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
            if (has_minimum(type)) sums[t] = _mm256_fmadd_ps(minimum, _mm256_broadcast_ss(&x[t]->sum), sums[t]);
        }
    }
}

// MARK: - A sub-block unpacked
//
// Its vectors of weights (for split types, those of the lower bits, then those of the upper ones), then the pairs of integer
// scales; of a block of 32 columns scale and minimum instead.

INLINE int unpacked_vectors(const ck_type type) { return family_of(type) == SPLIT ? 16 : 8; }

INLINE size_t unpacked_bytes(const ck_type type) {
    const int scales = subs_of(type) == 8 ? (family_of(type) == HALVED ? 2 : 1) : 1 + has_minimum(type);
    return (size_t)(unpacked_vectors(type) + scales) * sizeof(__m256i);
}

INLINE void unpack_sub(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, void *out) {
    __m256i *w = out, *scales = w + unpacked_vectors(type);
#pragma clang loop unroll(full)
    for (int v = 0; v < 8; v++) {
        if (family_of(type) == SPLIT) {
            split_weights(type, block, sub, v, &w[v], &w[8 + v]);
        } else {
            w[v] = weights(type, block, sub, v);
        }
    }
    if (subs_of(type) == 8) {
        __m256i pairs[2];
        sub_pairs(type, block, s, sub, pairs);
        scales[0] = pairs[0];
        if (family_of(type) == HALVED) scales[1] = pairs[1];
    } else {
        __m256 scale, minimum;
        block_scale(type, block, &scale, &minimum);
        scales[0] = _mm256_castps_si256(scale);
        if (has_minimum(type)) scales[1] = _mm256_castps_si256(minimum);
    }
}

/// Adds one unpacked sub-block of `G` groups, `stride` bytes apart, to `sums[G, TILE]` of `T` tokens.
INLINE void multiply_unpacked(
    const ck_type type, const int G, const int T, const char *panel, const size_t stride, const ck_activation *x[], __m256 *sums) {
    const __m256i ones = _mm256_set1_epi16(1);
    const __m256i *w[GROUPS], *scales[GROUPS];
    __m256 products[GROUPS][TILE];
#pragma clang loop unroll(full)
    for (int g = 0; g < G; g++) {
        w[g] = (const __m256i *)(const void *)(panel + (size_t)g * stride);
        scales[g] = w[g] + unpacked_vectors(type);
    }
    if (family_of(type) == PLAIN) {
        __m256i lanes[GROUPS][TILE];
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) lanes[i / T][i % T] = start(shift_of(type), x[i % T]);
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) {
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                const __m256i q = four(x[t]->q + 4 * v);
#pragma clang loop unroll(full)
                for (int g = 0; g < G; g++) lanes[g][t] = add_products(lanes[g][t], w[g][v], q);
            }
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) {
            products[i / T][i % T] = scaled(lanes[i / T][i % T], subs_of(type) == 8 ? scales[i / T][0] : ones);
        }
    } else if (family_of(type) == HALVED) {
        __m256i totals[GROUPS][TILE];
#pragma clang loop unroll(full)
        for (int half = 0; half < 2; half++) {
            __m256i lanes_[GROUPS][TILE];
#pragma clang loop unroll(full)
            for (int i = 0; i < G * T; i++) {
                lanes_[i / T][i % T] = shift_of(type) == 32 ? lanes(x[i % T]->bias32[half]) : _mm256_setzero_si256();
            }
#pragma clang loop unroll(full)
            for (int v = 4 * half; v < 4 * half + 4; v++) {
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    const __m256i q = four(x[t]->q + 4 * v);
#pragma clang loop unroll(full)
                    for (int g = 0; g < G; g++) lanes_[g][t] = add_products(lanes_[g][t], w[g][v], q);
                }
            }
#pragma clang loop unroll(full)
            for (int i = 0; i < G * T; i++) {
                const __m256i total = _mm256_madd_epi16(lanes_[i / T][i % T], scales[i / T][half]);
                totals[i / T][i % T] = half == 0 ? total : _mm256_add_epi32(totals[i / T][i % T], total);
            }
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) products[i / T][i % T] = _mm256_cvtepi32_ps(totals[i / T][i % T]);
    } else {
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            __m256i lows[TILE], highs[TILE];
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                lows[t] = _mm256_setzero_si256();
                highs[t] = lanes(x[t]->bias8);
            }
#pragma clang loop unroll(full)
            for (int v = 0; v < 8; v++) {
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    const __m256i q = four(x[t]->q + 4 * v);
                    lows[t] = add_products(lows[t], w[g][v], q);
                    highs[t] = add_products(highs[t], w[g][8 + v], q);
                }
            }
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                products[g][t] = scaled_split(lows[t], highs[t], subs_of(type) == 8 ? scales[g][0] : ones);
            }
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        const __m256 d = _mm256_broadcast_ss(&x[t]->d);
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            __m256 sum = sums[g * TILE + t];
            if (subs_of(type) == 8) {
                sum = _mm256_fmadd_ps(products[g][t], d, sum);
            } else {
                sum = _mm256_fmadd_ps(products[g][t], _mm256_mul_ps(_mm256_castsi256_ps(scales[g][0]), d), sum);
                if (has_minimum(type)) {
                    sum = _mm256_fmadd_ps(_mm256_castsi256_ps(scales[g][1]), _mm256_broadcast_ss(&x[t]->sum), sum);
                }
            }
            sums[g * TILE + t] = sum;
        }
    }
}

#define ACTIVATION ck_activation
#define ACTIVATIONS(job) ((job)->activations)
#include "avx2_products.h"

void ck_avx2_coarse_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

// MARK: - Floats

INLINE __m256 float_weights(const ck_type type, const uint8_t *group, int64_t col) {
    if (type == CK_F32) return _mm256_loadu_ps((const float *)group + 8 * col);
    const __m128i half = _mm_loadu_si128((const __m128i *)(group + 16 * col));
    if (type == CK_F16) return _mm256_cvtph_ps(half);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}

/// One group, `T` tokens from `first` on.
INLINE void multiply_floats(const ck_type type, const int T, const ck_matmul_job *job, int64_t group, int64_t first) {
    const uint8_t *w = job->data + (size_t)group * (size_t)job->cols * (type == CK_F32 ? 32 : 16);
    const float *x = job->x + first * job->x_stride;
    // Chains enough to hide the latency of a multiply-add, and as many for any number of tokens: their sums are added up in
    // the same order then.
    enum { C = 4 };
    __m256 sums[C][3];
#pragma clang loop unroll(full)
    for (int c = 0; c < C; c++) {
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) sums[c][t] = _mm256_setzero_ps();
    }
    int64_t col = 0;
    for (; col + C <= job->cols; col += C) {
#pragma clang loop unroll(full)
        for (int c = 0; c < C; c++) {
            const __m256 weight = float_weights(type, w, col + c);
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                sums[c][t] = _mm256_fmadd_ps(weight, _mm256_broadcast_ss(x + t * job->x_stride + col + c), sums[c][t]);
            }
        }
    }
    for (; col < job->cols; col++) {
        const __m256 weight = float_weights(type, w, col);
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            sums[0][t] = _mm256_fmadd_ps(weight, _mm256_broadcast_ss(x + t * job->x_stride + col), sums[0][t]);
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
#pragma clang loop unroll(full)
        for (int c = 1; c < C; c++) sums[0][t] = _mm256_add_ps(sums[0][t], sums[c][t]);
        store_rows(job, group, first + t, sums[0][t]);
    }
}

INLINE void multiply_all_floats(const ck_type type, const ck_matmul_job *job) {
    for (int64_t group = 0; group < job->groups; group++) {
        int64_t t = 0;
        for (; t + 3 <= job->tokens; t += 3) multiply_floats(type, 3, job, group, t);
        for (; t + 2 <= job->tokens; t += 2) multiply_floats(type, 2, job, group, t);
        for (; t < job->tokens; t++) multiply_floats(type, 1, job, group, t);
    }
}

void ck_avx2_float_matmul(const ck_matmul_job *job) {
    switch (job->type) {
    case CK_F32: multiply_all_floats(CK_F32, job); break;
    case CK_F16: multiply_all_floats(CK_F16, job); break;
    case CK_BF16: multiply_all_floats(CK_BF16, job); break;
    default: break;
    }
}

// MARK: - Rounding

void ck_avx2_quantize(const float *x, int64_t cols, ck_activation *out) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
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
        float inverse = greatest > 0 ? 127 / greatest : 0;
        if (!(inverse <= 3.4e38f)) inverse = 0;
        const __m256 factor = _mm256_set1_ps(inverse), limit = _mm256_set1_ps(127), lower = _mm256_set1_ps(-127);
        __m256i n[4];
        for (int i = 0; i < 4; i++) {
            __m256 scaled = _mm256_mul_ps(v[i], factor);
            scaled = _mm256_and_ps(scaled, _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q));    // else its integer is undefined
            n[i] = _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(scaled, limit), lower));
        }
        // 32 bits to 8, undoing the interleaving of the halves.
        __m256i q = _mm256_packs_epi16(_mm256_packs_epi32(n[0], n[1]), _mm256_packs_epi32(n[2], n[3]));
        q = _mm256_permutevar8x32_epi32(q, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256((__m256i *)out->q, q);

        // Sums by lane: pairs of bytes, then every second pair over 16 columns.
        const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), q);    // 16 × (c, c + 1); halves are columns 0…15, 16…31
        __m256i two = _mm256_add_epi16(pairs, _mm256_srli_si256(pairs, 8));
        two = _mm256_add_epi16(two, _mm256_srli_si256(two, 4));                // 16-bit lanes 0 and 1 of either half
        const int32_t first = _mm256_extract_epi32(two, 0), second = _mm256_extract_epi32(two, 4);
        const int a0 = (int16_t)first, a1 = (int16_t)(first >> 16), b0 = (int16_t)second, b1 = (int16_t)(second >> 16);
        out->bias32[0][0] = (int16_t)(-32 * a0);
        out->bias32[0][1] = (int16_t)(-32 * a1);
        out->bias32[1][0] = (int16_t)(-32 * b0);
        out->bias32[1][1] = (int16_t)(-32 * b1);
        out->bias16[0] = (int16_t)(-16 * (a0 + b0));
        out->bias16[1] = (int16_t)(-16 * (a1 + b1));
        out->bias8[0] = (int16_t)(-8 * (a0 + b0));
        out->bias8[1] = (int16_t)(-8 * (a1 + b1));
        out->d = greatest / 127;
        out->half_sum[0] = out->d * (float)(a0 + a1);
        out->half_sum[1] = out->d * (float)(b0 + b1);
        out->sum = out->half_sum[0] + out->half_sum[1];
    }
}

#pragma clang attribute pop
#endif
