/// Matrix products on interleaved weights with AVX2.
///
/// One vector of weights holds 4 columns of 8 rows, so four activations, broadcast, multiply all of it and the sums of the
/// 8 rows stay in their lanes: nothing is added across a register, scales are vectors, and eight multiplications
/// (`maddubs`) of a sub-block add up in 16 bits before one widening (see `ck_activation` for why that is exact).
///
/// With few tokens a kernel reads the weights and multiplies at once, as fast as memory gives them. With many, a panel of
/// some groups × 256 columns is unpacked to bytes in the first-level cache and multiplied by all tokens, four at a time.
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
/// Bytes of a panel, so that it stays in the first-level cache beside the activations of a tile.
#define PANEL_BYTES (22 * 1024)

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

// MARK: - Few tokens

/// Adds one sub-block to the sums of `T` tokens.
INLINE void multiply_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int T, const ck_activation *x[],
    __m256 sums[]) {
    const __m256i ones = _mm256_set1_epi16(1);
    if (family_of(type) == PLAIN) {
        __m256i lanes[TILE];
        __m256 scale, minimum;
        for (int t = 0; t < T; t++) lanes[t] = start(shift_of(type), x[t]);
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) {
            const __m256i w = weights(type, block, sub, v);
            for (int t = 0; t < T; t++) {
                lanes[t] = add_products(lanes[t], w, four(x[t]->q + 4 * v));
            }
        }
        sub_scale(type, block, s, sub, &scale, &minimum);
        for (int t = 0; t < T; t++) {
            const __m256 products = _mm256_cvtepi32_ps(_mm256_madd_epi16(lanes[t], ones));
            sums[t] = _mm256_fmadd_ps(products, _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
            if (has_minimum(type)) sums[t] = _mm256_fmadd_ps(minimum, _mm256_broadcast_ss(&x[t]->sum), sums[t]);
        }
    } else if (family_of(type) == HALVED) {
        __m256i pairs[2], totals[TILE];
        half_scales(type, block, sub, pairs);
#pragma clang loop unroll(full)
        for (int half = 0; half < 2; half++) {
            __m256i lanes_[TILE];
            for (int t = 0; t < T; t++) {
                lanes_[t] = shift_of(type) == 32 ? lanes(x[t]->bias32[half]) : _mm256_setzero_si256();
            }
#pragma clang loop unroll(full)
            for (int v = 4 * half; v < 4 * half + 4; v++) {
                const __m256i w = weights(type, block, sub, v);
                for (int t = 0; t < T; t++) {
                    lanes_[t] = add_products(lanes_[t], w, four(x[t]->q + 4 * v));
                }
            }
            for (int t = 0; t < T; t++) {
                const __m256i products = _mm256_madd_epi16(lanes_[t], pairs[half]);
                totals[t] = half == 0 ? products : _mm256_add_epi32(totals[t], products);
            }
        }
        const __m256 scale = s->d;
        for (int t = 0; t < T; t++) {
            sums[t] = _mm256_fmadd_ps(
                _mm256_cvtepi32_ps(totals[t]), _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
        }
        if (has_minimum(type)) {
            __m256 minima[2];
            half_minima(block, sub, minima);
            for (int t = 0; t < T; t++) {
                sums[t] = _mm256_fmadd_ps(minima[0], _mm256_broadcast_ss(&x[t]->half_sum[0]), sums[t]);
                sums[t] = _mm256_fmadd_ps(minima[1], _mm256_broadcast_ss(&x[t]->half_sum[1]), sums[t]);
            }
        }
    } else {
        __m256i lows[TILE], highs[TILE];
        __m256 scale, minimum;
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
        sub_scale(type, block, s, sub, &scale, &minimum);
        const __m256i sixteens = _mm256_set1_epi16(16);
        for (int t = 0; t < T; t++) {
            const __m256i products
                = _mm256_add_epi32(_mm256_madd_epi16(highs[t], sixteens), _mm256_madd_epi16(lows[t], ones));
            sums[t] = _mm256_fmadd_ps(
                _mm256_cvtepi32_ps(products), _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
        }
    }
}

/// All groups of the job for `T` tokens from `first` on.
INLINE void multiply_few(const ck_type type, const int T, const ck_matmul_job *job, int64_t first) {
    const int64_t subs = job->cols / 32, blocks = subs / subs_of(type);
    const uint8_t *block = job->data;
    for (int64_t group = 0; group < job->groups; group++) {
        __m256 sums[TILE];
        const ck_activation *x[TILE];
        for (int t = 0; t < T; t++) {
            sums[t] = first_sums(job, group, ck_min(first + t, job->tokens - 1));
            x[t] = job->activations + ck_min(first + t, job->tokens - 1) * subs;
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

/// A sub-block of a group, unpacked.
typedef struct {
    __m256i w[8];
    __m256 scale, minimum;
} plain_sub;

typedef struct {
    __m256i w[8];
    __m256i pairs[2];
    __m256 scale;
    __m256 minima[2];
} halved_sub;

typedef struct {
    __m256i low[8], high[8];
    __m256 scale;
} split_sub;

INLINE void unpack_sub(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, void *out) {
    if (family_of(type) == PLAIN) {
        plain_sub *p = out;
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) p->w[v] = weights(type, block, sub, v);
        sub_scale(type, block, s, sub, &p->scale, &p->minimum);
    } else if (family_of(type) == HALVED) {
        halved_sub *p = out;
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) p->w[v] = weights(type, block, sub, v);
        half_scales(type, block, sub, p->pairs);
        p->scale = s->d;
        if (has_minimum(type)) half_minima(block, sub, p->minima);
    } else {
        split_sub *p = out;
        __m256 minimum;
#pragma clang loop unroll(full)
        for (int v = 0; v < 8; v++) split_weights(type, block, sub, v, &p->low[v], &p->high[v]);
        sub_scale(type, block, s, sub, &p->scale, &minimum);
    }
}

INLINE size_t size_of_sub(const ck_type type) {
    return family_of(type) == PLAIN ? sizeof(plain_sub) : family_of(type) == HALVED ? sizeof(halved_sub) : sizeof(split_sub);
}

/// `count` sub-blocks of one group from `first` on.
INLINE void unpack_group(const ck_type type, const uint8_t *group, int64_t first, int64_t count, char *out) {
    if (subs_of(type) == 8) {    // panels are whole blocks
        const uint8_t *block = group + first / 8 * stride_of(type);
        block_scales s;
        if (family_of(type) == HALVED) {
            s.d = halved_scale(type, block);
        } else {
            s = load_block_scales(type, block);
        }
#pragma clang loop unroll(full)
        for (int sub = 0; sub < 8; sub++) unpack_sub(type, block, &s, sub, out + (size_t)sub * size_of_sub(type));
    } else {
        for (int64_t i = 0; i < count; i++) {
            unpack_sub(type, group + (first + i) * stride_of(type), NULL, 0, out + (size_t)i * size_of_sub(type));
        }
    }
}

/// Adds `subs` sub-blocks of `G` groups (`stride` apart in the panel) to `sums[G, TILE]` of `T` tokens. The sums stay in memory on
/// purpose: the lanes take all registers, and moving sums out and in by whole tiles is slower than adding to them there.
INLINE void multiply_tile(
    const ck_type type, const int G, const int T, const char *panel, size_t stride, int64_t subs, const ck_activation *x[],
    __m256 *sums) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (int64_t i = 0; i < subs; i++) {
        if (family_of(type) == PLAIN) {
            const plain_sub *p[2];
            __m256i lanes[2][TILE];
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) {
                p[g] = (const plain_sub *)(panel + (size_t)g * stride) + i;
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) lanes[g][t] = start(shift_of(type), x[t] + i);
            }
#pragma clang loop unroll(full)
            for (int v = 0; v < 8; v++) {
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    const __m256i q = four(x[t][i].q + 4 * v);
#pragma clang loop unroll(full)
                    for (int g = 0; g < G; g++) {
                        lanes[g][t] = add_products(lanes[g][t], p[g]->w[v], q);
                    }
                }
            }
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) {
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    const __m256 products = _mm256_cvtepi32_ps(_mm256_madd_epi16(lanes[g][t], ones));
                    sums[g * TILE + t] = _mm256_fmadd_ps(
                        products, _mm256_mul_ps(p[g]->scale, _mm256_broadcast_ss(&x[t][i].d)), sums[g * TILE + t]);
                    if (has_minimum(type)) {
                        sums[g * TILE + t] = _mm256_fmadd_ps(p[g]->minimum, _mm256_broadcast_ss(&x[t][i].sum), sums[g * TILE + t]);
                    }
                }
            }
        } else if (family_of(type) == HALVED) {
            const halved_sub *p[2];
            __m256i totals[2][TILE];
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) p[g] = (const halved_sub *)(panel + (size_t)g * stride) + i;
#pragma clang loop unroll(full)
            for (int half = 0; half < 2; half++) {
                __m256i lanes_[2][TILE];
#pragma clang loop unroll(full)
                for (int g = 0; g < G; g++) {
#pragma clang loop unroll(full)
                    for (int t = 0; t < T; t++) {
                        lanes_[g][t] = shift_of(type) == 32 ? lanes(x[t][i].bias32[half]) : _mm256_setzero_si256();
                    }
                }
#pragma clang loop unroll(full)
                for (int v = 4 * half; v < 4 * half + 4; v++) {
#pragma clang loop unroll(full)
                    for (int t = 0; t < T; t++) {
                        const __m256i q = four(x[t][i].q + 4 * v);
#pragma clang loop unroll(full)
                        for (int g = 0; g < G; g++) {
                            lanes_[g][t] = add_products(lanes_[g][t], p[g]->w[v], q);
                        }
                    }
                }
#pragma clang loop unroll(full)
                for (int g = 0; g < G; g++) {
#pragma clang loop unroll(full)
                    for (int t = 0; t < T; t++) {
                        const __m256i products = _mm256_madd_epi16(lanes_[g][t], p[g]->pairs[half]);
                        totals[g][t] = half == 0 ? products : _mm256_add_epi32(totals[g][t], products);
                    }
                }
            }
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) {
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    sums[g * TILE + t] = _mm256_fmadd_ps(
                        _mm256_cvtepi32_ps(totals[g][t]),
                        _mm256_mul_ps(p[g]->scale, _mm256_broadcast_ss(&x[t][i].d)), sums[g * TILE + t]);
                    if (has_minimum(type)) {
                        sums[g * TILE + t] = _mm256_fmadd_ps(p[g]->minima[0], _mm256_broadcast_ss(&x[t][i].half_sum[0]), sums[g * TILE + t]);
                        sums[g * TILE + t] = _mm256_fmadd_ps(p[g]->minima[1], _mm256_broadcast_ss(&x[t][i].half_sum[1]), sums[g * TILE + t]);
                    }
                }
            }
        } else {
            const __m256i sixteens = _mm256_set1_epi16(16);
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) {
                const split_sub *p = (const split_sub *)(panel + (size_t)g * stride) + i;
                __m256i lows[TILE], highs[TILE];
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    lows[t] = _mm256_setzero_si256();
                    highs[t] = lanes(x[t][i].bias8);
                }
#pragma clang loop unroll(full)
                for (int v = 0; v < 8; v++) {
#pragma clang loop unroll(full)
                    for (int t = 0; t < T; t++) {
                        const __m256i q = four(x[t][i].q + 4 * v);
                        lows[t] = add_products(lows[t], p->low[v], q);
                        highs[t] = add_products(highs[t], p->high[v], q);
                    }
                }
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    const __m256i products
                        = _mm256_add_epi32(_mm256_madd_epi16(highs[t], sixteens), _mm256_madd_epi16(lows[t], ones));
                    sums[g * TILE + t] = _mm256_fmadd_ps(
                        _mm256_cvtepi32_ps(products), _mm256_mul_ps(p->scale, _mm256_broadcast_ss(&x[t][i].d)),
                        sums[g * TILE + t]);
                }
            }
        }
    }
}

/// `G` groups from `group` on, `T` tokens from `first` on, one panel's columns.
INLINE void multiply_panel_tile(
    const ck_type type, const int G, const int T, const ck_matmul_job *job, const char *panel, size_t stride, int64_t group,
    int64_t first, int64_t first_sub, int64_t subs) {
    const ck_activation *x[TILE];
    __m256 memory[2 * TILE], *sums = memory;
    __asm__("" : "+r"(sums));    // so that it is memory
    const int64_t row_subs = job->cols / 32;
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) x[t] = job->activations + (first + t) * row_subs + first_sub;
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
    multiply_tile(type, G, T, panel, stride, subs, x, sums);
#pragma clang loop unroll(full)
    for (int i = 0; i < G * T; i++) {
        const int g = i / T, t = i % T;
        _mm256_storeu_ps(job->y + (first + t) * job->y_stride + (group + g) * CK_GROUP_ROWS, sums[g * TILE + t]);
    }
}

INLINE void multiply_many(const ck_type type, const ck_matmul_job *job) {
    const size_t stride = size_of_sub(type) * PANEL_SUBS;
    const int64_t subs = job->cols / 32, most = (int64_t)(PANEL_BYTES / stride) & ~(int64_t)1;
    const size_t group_bytes = (size_t)(subs / subs_of(type)) * (size_t)stride_of(type);
    char *panel = job->scratch;
    for (int64_t first = 0; first < job->groups; first += most) {
        const int64_t groups = ck_min(most, job->groups - first);
        for (int64_t sub = 0; sub < subs; sub += PANEL_SUBS) {
            const int64_t count = ck_min(PANEL_SUBS, subs - sub);
            for (int64_t g = 0; g < groups; g++) {
                unpack_group(type, job->data + (size_t)(first + g) * group_bytes, sub, count, panel + (size_t)g * stride);
            }
            int64_t t = 0;
            for (; t + TILE <= job->tokens; t += TILE) {
                int64_t g = 0;
                for (; g + 2 <= groups; g += 2) {
                    multiply_panel_tile(type, 2, TILE, job, panel + (size_t)g * stride, stride, first + g, t, sub, count);
                }
                if (g < groups) {
                    multiply_panel_tile(type, 1, TILE, job, panel + (size_t)g * stride, stride, first + g, t, sub, count);
                }
            }
            for (; t < job->tokens; t++) {
                int64_t g = 0;
                for (; g + 2 <= groups; g += 2) {
                    multiply_panel_tile(type, 2, 1, job, panel + (size_t)g * stride, stride, first + g, t, sub, count);
                }
                if (g < groups) {
                    multiply_panel_tile(type, 1, 1, job, panel + (size_t)g * stride, stride, first + g, t, sub, count);
                }
            }
        }
    }
}

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

void ck_avx2_matmul(const ck_matmul_job *job) {
    if (job->fine) {
        ck_avx2_fine_matmul(job);
        return;
    }
    switch (job->type) {
    case CK_F32: multiply_all_floats(CK_F32, job); break;
    case CK_F16: multiply_all_floats(CK_F16, job); break;
    case CK_BF16: multiply_all_floats(CK_BF16, job); break;
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

size_t ck_avx2_matmul_scratch(void) { return PANEL_BYTES + 4096; }

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
