/// Matrix products with AVX2 whose activations are rounded to 15 bits. Otherwise as in `avx2_matmul.c`: there 8 bits
/// multiply 8, here 16 multiply 16, two columns of 8 rows at once (`pmaddwd`), and a sub-block adds up exactly in 32 bits.
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

#include "avx2.h"
#include "avx2_weights.h"

/// Tokens of one tile, and the most for which weights are not unpacked first.
#define TILE 4
/// Columns of a panel, in sub-blocks.
#define PANEL_SUBS 8
/// Groups of a panel, so that it stays in the first-level cache beside the activations of a tile; and of a tile.
#define PANEL_GROUPS 4
#define GROUPS 2

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

// MARK: - Few tokens

/// Adds one sub-block to the sums of `T` tokens.
INLINE void multiply_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int T, const ck_fine_activation *x[],
    __m256 sums[]) {
    const int halves_ = family_of(type) == HALVED ? 2 : 1, vectors = 8 / halves_;
    __m256i totals[TILE];
    __m256 scale, minimum;
    __m256i pairs[2];
    if (family_of(type) == HALVED) {
        scale = s->d;
        half_scales(type, block, sub, pairs);
    } else {
        sub_scale(type, block, s, sub, &scale, &minimum);
    }
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
            if (family_of(type) == HALVED) {
                products[t] = _mm256_mullo_epi32(products[t], _mm256_srai_epi32(pairs[half], 16));
            }
            totals[t] = half == 0 ? products[t] : _mm256_add_epi32(totals[t], products[t]);
        }
    }
    for (int t = 0; t < T; t++) {
        sums[t] = _mm256_fmadd_ps(
            _mm256_cvtepi32_ps(totals[t]), _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
    }
    if (has_minimum(type) && family_of(type) == HALVED) {
        __m256 minima[2];
        half_minima(block, sub, minima);
        for (int t = 0; t < T; t++) {
            sums[t] = _mm256_fmadd_ps(minima[0], _mm256_broadcast_ss(&x[t]->half_sum[0]), sums[t]);
            sums[t] = _mm256_fmadd_ps(minima[1], _mm256_broadcast_ss(&x[t]->half_sum[1]), sums[t]);
        }
    } else if (has_minimum(type)) {
        for (int t = 0; t < T; t++) sums[t] = _mm256_fmadd_ps(minimum, _mm256_broadcast_ss(&x[t]->sum), sums[t]);
    }
}

/// All groups of the job for `T` tokens from `first` on.
INLINE void multiply_few(const ck_type type, const int T, const ck_matmul_job *job, int64_t first) {
    const int64_t subs = job->cols / 32, blocks = subs / subs_of(type);
    const uint8_t *block = job->data;
    for (int64_t group = 0; group < job->groups; group++) {
        __m256 sums[TILE];
        const ck_fine_activation *x[TILE];
        for (int t = 0; t < T; t++) {
            sums[t] = first_sums(job, group, ck_min(first + t, job->tokens - 1));
            x[t] = job->fine + ck_min(first + t, job->tokens - 1) * subs;
        }
        for (int64_t b = 0; b < blocks; b++, block += stride_of(type)) {
            if (subs_of(type) == 8) {
                block_scales s;
                if (family_of(type) == HALVED) {
                    s.d = halved_scale(type, block);
                } else {
                    s = load_block_scales(type, block);
                }
#pragma clang loop unroll(full)
                for (int sub = 0; sub < 8; sub++) {
                    multiply_sub(type, block, &s, sub, T, x, sums);
                    for (int t = 0; t < T; t++) x[t]++;
                }
            } else {
                multiply_sub(type, block, NULL, 0, T, x, sums);
                for (int t = 0; t < T; t++) x[t]++;
            }
            // Far enough ahead for memory to answer, near enough to be still there.
            for (int line = 0; line < stride_of(type); line += 64) _mm_prefetch((const char *)block + line + 2048, _MM_HINT_T0);
        }
        for (int t = 0; t < T; t++) {
            if (first + t < job->tokens) {
                _mm256_storeu_ps(job->y + (first + t) * job->y_stride + group * CK_GROUP_ROWS, sums[t]);
            }
        }
    }
}

// MARK: - Many tokens

/// A sub-block of a group, unpacked: weights around nought, with the integer scale of their half multiplied in.
typedef struct {
    __m256i w[16];    ///< two columns each, in the order of `ck_fine_activation`
    __m256 scale;
    __m256 minima[2];    ///< of the halves; the first alone where there is one for both
} unpacked_sub;

INLINE void unpack_sub(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, unpacked_sub *out) {
    __m256i pairs[2];
    if (family_of(type) == HALVED) {
        half_scales(type, block, sub, pairs);
        out->scale = s->d;
        if (has_minimum(type)) half_minima(block, sub, out->minima);
    } else {
        __m256 minimum;
        sub_scale(type, block, s, sub, &out->scale, &minimum);
        out->minima[0] = minimum;
    }
#pragma clang loop unroll(full)
    for (int v = 0; v < 8; v++) {
        __m256i w[2];
        wide_weights(type, block, sub, v, w);
        for (int i = 0; i < 2; i++) {
            if (shift_of(type) > 0) w[i] = _mm256_sub_epi16(w[i], _mm256_set1_epi16((int16_t)shift_of(type)));
            if (family_of(type) == HALVED) w[i] = _mm256_mullo_epi16(w[i], pairs[v / 4]);
            out->w[2 * v + i] = w[i];
        }
    }
}

/// `count` sub-blocks of one group from `first` on.
INLINE void unpack_group(const ck_type type, const uint8_t *group, int64_t first, int64_t count, unpacked_sub *out) {
    if (subs_of(type) == 8) {    // panels are whole blocks
        const uint8_t *block = group + first / 8 * stride_of(type);
        block_scales s;
        if (family_of(type) == HALVED) {
            s.d = halved_scale(type, block);
        } else {
            s = load_block_scales(type, block);
        }
#pragma clang loop unroll(full)
        for (int sub = 0; sub < 8; sub++) unpack_sub(type, block, &s, sub, out + sub);
    } else {
        for (int64_t i = 0; i < count; i++) {
            unpack_sub(type, group + (first + i) * stride_of(type), NULL, 0, out + i);
        }
    }
}

/// Adds `subs` sub-blocks of `G` groups (`PANEL_SUBS` apart in the panel) to `sums[G, TILE]` of `T` tokens. The sums stay in
/// memory on purpose: the products take all registers, and moving sums out and in by whole tiles is slower than adding to
/// them there.
INLINE void multiply_tile(
    const ck_type type, const int G, const int T, const unpacked_sub *panel, int64_t subs, const ck_fine_activation *x[],
    __m256 *sums) {
    for (int64_t i = 0; i < subs; i++) {
        const unpacked_sub *p[GROUPS];
        __m256i products[GROUPS][TILE];
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            p[g] = panel + g * PANEL_SUBS + i;
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) products[g][t] = _mm256_setzero_si256();
        }
#pragma clang loop unroll(full)
        for (int v = 0; v < 16; v++) {
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                const __m256i q = two(x[t][i].q + 2 * v);
#pragma clang loop unroll(full)
                for (int g = 0; g < G; g++) products[g][t] = add_products(products[g][t], p[g]->w[v], q);
            }
        }
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                __m256 sum = _mm256_fmadd_ps(
                    _mm256_cvtepi32_ps(products[g][t]), _mm256_mul_ps(p[g]->scale, _mm256_broadcast_ss(&x[t][i].d)),
                    sums[g * TILE + t]);
                if (has_minimum(type) && family_of(type) == HALVED) {
                    sum = _mm256_fmadd_ps(p[g]->minima[0], _mm256_broadcast_ss(&x[t][i].half_sum[0]), sum);
                    sum = _mm256_fmadd_ps(p[g]->minima[1], _mm256_broadcast_ss(&x[t][i].half_sum[1]), sum);
                } else if (has_minimum(type)) {
                    sum = _mm256_fmadd_ps(p[g]->minima[0], _mm256_broadcast_ss(&x[t][i].sum), sum);
                }
                sums[g * TILE + t] = sum;
            }
        }
    }
}

/// `G` groups from `group` on, `T` tokens from `first` on, one panel's columns.
INLINE void multiply_panel_tile(
    const ck_type type, const int G, const int T, const ck_matmul_job *job, const unpacked_sub *panel, int64_t group,
    int64_t first, int64_t first_sub, int64_t subs) {
    const ck_fine_activation *x[TILE];
    __m256 memory[GROUPS * TILE], *sums = memory;
    __asm__("" : "+r"(sums));    // so that it is memory
    const int64_t row_subs = job->cols / 32;
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) x[t] = job->fine + (first + t) * row_subs + first_sub;
#pragma clang loop unroll(full)
    for (int i = 0; i < G * T; i++) {
        const int g = i / T, t = i % T;
        const float *y = job->y + (first + t) * job->y_stride + (group + g) * CK_GROUP_ROWS;
        __m256 sum = first_sub > 0 || job->accumulates ? _mm256_loadu_ps(y) : _mm256_setzero_ps();
        if (first_sub == 0 && job->bias) {
            sum = _mm256_add_ps(sum, _mm256_loadu_ps(job->bias + (group + g) * CK_GROUP_ROWS));
        }
        sums[g * TILE + t] = sum;
    }
    multiply_tile(type, G, T, panel, subs, x, sums);
#pragma clang loop unroll(full)
    for (int i = 0; i < G * T; i++) {
        const int g = i / T, t = i % T;
        _mm256_storeu_ps(job->y + (first + t) * job->y_stride + (group + g) * CK_GROUP_ROWS, sums[g * TILE + t]);
    }
}

/// `T` tokens from `first` on, all groups of a panel.
INLINE void multiply_panel(
    const ck_type type, const int T, const ck_matmul_job *job, const unpacked_sub *panel, int64_t group, int64_t groups,
    int64_t first, int64_t first_sub, int64_t subs) {
    int64_t g = 0;
    for (; g + GROUPS <= groups; g += GROUPS) {
        multiply_panel_tile(type, GROUPS, T, job, panel + g * PANEL_SUBS, group + g, first, first_sub, subs);
    }
    for (; g < groups; g++) {
        multiply_panel_tile(type, 1, T, job, panel + g * PANEL_SUBS, group + g, first, first_sub, subs);
    }
}

INLINE void multiply_many(const ck_type type, const ck_matmul_job *job) {
    const int64_t subs = job->cols / 32;
    const size_t group_bytes = (size_t)(subs / subs_of(type)) * (size_t)stride_of(type);
    unpacked_sub *panel = job->scratch;
    for (int64_t first = 0; first < job->groups; first += PANEL_GROUPS) {
        const int64_t groups = ck_min(PANEL_GROUPS, job->groups - first);
        for (int64_t sub = 0; sub < subs; sub += PANEL_SUBS) {
            const int64_t count = ck_min(PANEL_SUBS, subs - sub);
            for (int64_t g = 0; g < groups; g++) {
                unpack_group(type, job->data + (size_t)(first + g) * group_bytes, sub, count, panel + g * PANEL_SUBS);
            }
            int64_t t = 0;
            for (; t + TILE <= job->tokens; t += TILE) multiply_panel(type, TILE, job, panel, first, groups, t, sub, count);
            for (; t < job->tokens; t++) multiply_panel(type, 1, job, panel, first, groups, t, sub, count);
        }
    }
}

// MARK: - By type

#define KERNELS(NAME, TYPE)                                                                               \
    static __attribute__((noinline)) void NAME##_1(const ck_matmul_job *job) { multiply_few(TYPE, 1, job, 0); } \
    static __attribute__((noinline)) void NAME##_2(const ck_matmul_job *job) { multiply_few(TYPE, 2, job, 0); } \
    static __attribute__((noinline)) void NAME##_4(const ck_matmul_job *job) { multiply_few(TYPE, 4, job, 0); } \
    static __attribute__((noinline)) void NAME##_many(const ck_matmul_job *job) { multiply_many(TYPE, job); } \
    static void NAME(const ck_matmul_job *job) {                                                          \
        switch (job->tokens) {                                                                            \
        case 0: break;                                                                                    \
        case 1: NAME##_1(job); break;                                                                     \
        case 2: NAME##_2(job); break;                                                                     \
        case 3:                                                                                           \
        case 4: NAME##_4(job); break;                                                                     \
        default: NAME##_many(job);                                                                        \
        }                                                                                                 \
    }

KERNELS(q4_0, CK_Q4_0)
KERNELS(q4_1, CK_Q4_1)
KERNELS(q5_0, CK_Q5_0)
KERNELS(q5_1, CK_Q5_1)
KERNELS(q8_0, CK_Q8_0)
KERNELS(q2_k, CK_Q2_K)
KERNELS(q3_k, CK_Q3_K)
KERNELS(q4_k, CK_Q4_K)
KERNELS(q5_k, CK_Q5_K)
KERNELS(q6_k, CK_Q6_K)
KERNELS(iq4_nl, CK_IQ4_NL)
KERNELS(iq4_xs, CK_IQ4_XS)

void ck_avx2_fine_matmul(const ck_matmul_job *job) {
    switch (job->type) {
    case CK_F32: case CK_F16: case CK_BF16: break;    // take floats
    case CK_Q4_0: q4_0(job); break;
    case CK_Q4_1: q4_1(job); break;
    case CK_Q5_0: q5_0(job); break;
    case CK_Q5_1: q5_1(job); break;
    case CK_Q8_0: q8_0(job); break;
    case CK_Q2_K: q2_k(job); break;
    case CK_Q3_K: q3_k(job); break;
    case CK_Q4_K: q4_k(job); break;
    case CK_Q5_K: q5_k(job); break;
    case CK_Q6_K: q6_k(job); break;
    case CK_IQ4_NL: iq4_nl(job); break;
    case CK_IQ4_XS: iq4_xs(job); break;
    }
}

size_t ck_avx2_fine_matmul_scratch(void) { return PANEL_GROUPS * PANEL_SUBS * sizeof(unpacked_sub); }

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
