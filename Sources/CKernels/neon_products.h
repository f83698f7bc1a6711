/// Matrix products on interleaved weights with NEON, for either rounding of the activations and with or without the
/// instruction for dot products. Four small files include this once each, after these:
/// - `FINE`: 1 for activations of 15 bits, 0 for those of 8;
/// - `DOTPROD`: see `neon_dot.h`;
/// - `MATMUL`: the name of the one function that this defines.
///
/// A quad of weights (see `neon_weights.h`) stays in its lanes to the end: nothing is added across a register, scales are
/// vectors, and a sub-block adds up exactly in 32 bits. An activation of 15 bits is two bytes, `128 · high + low`, so that its
/// products are made of the same instructions, twice as many.
///
/// With few tokens (up to 16, four at a time) weights are read and multiplied at once. With many, a panel of some groups × 256
/// columns is unpacked to bytes in the first-level cache and multiplied by all tokens, four at a time.
///
/// A token must get the same sums to the last bit however many stand beside it, so both ways add up in the same order: of
/// each block first the minima, then the products. (Integers may be added in any order.)

#include <string.h>

#include "neon_dot.h"
#include "neon_weights.h"

/// Tokens of one tile, and the most of one pass over the weights as they stand.
#define TILE 4
/// Columns of a panel, in sub-blocks.
#define PANEL_SUBS 8

// MARK: - Activations

#if FINE
#define PARTS 2
typedef ck_fine_activation activation;
INLINE const activation *activations_of(const ck_matmul_job *job) { return job->fine; }
INLINE const int8_t *bytes_of_part(const activation *x, int part) { return part == 0 ? x->high : x->low; }
#else
#define PARTS 1
typedef ck_activation activation;
INLINE const activation *activations_of(const ck_matmul_job *job) { return job->activations; }
INLINE const int8_t *bytes_of_part(const activation *x, int part) {
    (void)part;
    return x->q;
}
#endif

/// 16 activations, or parts of them. The compiler takes them for new, or else it would spread each four over a register
/// beforehand, and there are not as many.
INLINE int8x16_t sixteen(const activation *x, int part, int half) {
    int8x16_t q = vld1q_s8(bytes_of_part(x, part) + 16 * half);
    __asm__ volatile("" : "+w"(q));
    return q;
}

/// Weights are read anew after this, and not kept since they were read before, for the same reason.
INLINE void forget_weights(void) { __asm__ volatile("" : : : "memory"); }

/// Activations `4i ..< 4i + 4` of 16 in every lane: an operand of `sdot`, no instruction of its own.
INLINE int32x4_t four(int8x16_t q, int i) { return vdupq_n_s32(vreinterpretq_s32_s8(q)[i]); }

/// What takes off the shift of the weights: minus `shift_of` times the sum of a half or a whole sub-block.
INLINE int32x4_t start(const ck_type type, const activation *x, int half) {
#if FINE
    const int32_t total = halves_of(type) == 2 ? x->half_total[half] : x->total;
    return vdupq_n_s32(-shift_of(type) * total);
#else
    const int16_t *lanes = shift_of(type) == 8 ? x->bias8 : shift_of(type) == 16 ? x->bias16 : x->bias32[half];
    int32_t pair;
    memcpy(&pair, lanes, 4);
    return vpaddlq_s16(vreinterpretq_s16_s32(vdupq_n_s32(pair)));
#endif
}

/// What minimum `m` of a sub-block is multiplied with.
INLINE float summed(const ck_type type, const activation *x, int m) { return minima_of(type) == 2 ? x->half_sum[m] : x->sum; }

/// What the sums of a token begin with. With many tokens they must begin so, since they are kept in `y` between panels; with
/// few they begin so too.
INLINE float32x4_t first_sums(const ck_matmul_job *job, int64_t row, int64_t token) {
    const float32x4_t sums = job->accumulates ? vld1q_f32(job->y + token * job->y_stride + row) : vdupq_n_f32(0);
    return job->bias ? vaddq_f32(sums, vld1q_f32(job->bias + row)) : sums;
}

/// Adds exact sums of products to the sums of a token. Of types with 8 sub-blocks to a block, `scale` is an integer, and the float
/// scale of the block is left out, since it is applied once for all of it.
INLINE float32x4_t add_products(
    const ck_type type, float32x4_t sums, int32x4_t lanes, int8x16_t scale, const activation *x) {
    if (subs_of(type) == 8) {
        return vfmaq_n_f32(sums, vcvtq_f32_s32(vmulq_s32(lanes, vreinterpretq_s32_s8(scale))), x->d);
    }
    return vfmaq_f32(sums, vcvtq_f32_s32(lanes), vmulq_n_f32(vreinterpretq_f32_s8(scale), x->d));
}

/// The scale of a half or a whole sub-block, as `add_products` takes it.
INLINE int8x16_t scale_of(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int half, const int quad) {
    if (subs_of(type) == 8) return vreinterpretq_s8_s32(integer_scale(type, block, s, sub, half, quad));
    return vreinterpretq_s8_f32(halves(block, quad));
}

/// Whether exact sums begin and end with a half of a sub-block, because it has a scale of its own; else with the first and the
/// second one.
INLINE bool begins(const ck_type type, int half) { return half == 0 || halves_of(type) == 2; }
INLINE bool ends(const ck_type type, int half) { return half == 1 || halves_of(type) == 2; }

// MARK: - Few tokens

/// Adds one sub-block of a quad times `T` tokens to their sums, 16 columns after the other.
INLINE void multiply_sub(
    const ck_type type, const int T, const uint8_t *block, const block_scales *s, const int sub, const int quad,
    const activation *const x[], float32x4_t sums[]) {
    int32x4_t lanes[PARTS][TILE];
    UNROLL for (int half = 0; half < 2; half++) {
        int8x16_t q[PARTS][TILE];
        forget_weights();
        UNROLL for (int t = 0; t < T; t++) {
            UNROLL for (int part = 0; part < PARTS; part++) {
                q[part][t] = sixteen(x[t], part, half);
                if (begins(type, half)) lanes[part][t] = vdupq_n_s32(0);
            }
            if (begins(type, half) && shift_of(type) > 0) lanes[PARTS - 1][t] = start(type, x[t], half);
        }
        UNROLL for (int i = 0; i < 4; i++) {
            const int8x16_t w = weights(type, block, sub, 4 * half + i, quad);
            UNROLL for (int t = 0; t < T; t++) {
                UNROLL for (int part = 0; part < PARTS; part++) lanes[part][t] = dot(lanes[part][t], w, four(q[part][t], i));
            }
        }
        if (!ends(type, half)) continue;
        forget_weights();
        const int8x16_t scale = scale_of(type, block, s, sub, half, quad);
        UNROLL for (int t = 0; t < T; t++) {
            int32x4_t all = lanes[PARTS - 1][t];
            if (PARTS == 2) all = vaddq_s32(all, vshlq_n_s32(lanes[0][t], 7));
            sums[t] = add_products(type, sums[t], all, scale, x[t]);
        }
    }
}

/// One block of a quad times `T` tokens.
INLINE void multiply_block(
    const ck_type type, const int T, const uint8_t *block, const int quad, const activation *const x[], float32x4_t sums[]) {
    if (subs_of(type) == 1) {
        multiply_sub(type, T, block, NULL, 0, quad, x, sums);
        if (minima_of(type) > 0) {
            const float32x4_t minimum = block_minimum(block, quad);
            UNROLL for (int t = 0; t < T; t++) sums[t] = vfmaq_n_f32(sums[t], minimum, x[t]->sum);
        }
        return;
    }
    const block_scales s = load_block_scales(type, block, quad);
    UNROLL for (int i = 0; i < 8 * minima_of(type); i++) {
        const int sub = i / minima_of(type), m = i % minima_of(type);
        const float32x4_t minimum = sub_minimum(type, block, &s, sub, m, quad);
        UNROLL for (int t = 0; t < T; t++) sums[t] = vfmaq_n_f32(sums[t], minimum, summed(type, x[t] + sub, m));
        forget_weights();
    }
    float32x4_t products[TILE];
    UNROLL for (int t = 0; t < T; t++) products[t] = vdupq_n_f32(0);
    UNROLL for (int sub = 0; sub < 8; sub++) {
        const activation *now[TILE];
        UNROLL for (int t = 0; t < T; t++) now[t] = x[t] + sub;
        multiply_sub(type, T, block, &s, sub, quad, now, products);
    }
    UNROLL for (int t = 0; t < T; t++) sums[t] = vfmaq_f32(sums[t], products[t], s.d);
}

/// One group for the tokens from `first` on, `T` of them or as many as there are.
INLINE void multiply_few(const ck_type type, const int T, const ck_matmul_job *job, int64_t group, int64_t first) {
    const int64_t subs = job->cols / 32, blocks = subs / subs_of(type);
    const uint8_t *block = job->data + (size_t)(group * blocks) * (size_t)stride_of(type);
    const activation *x[TILE];
    float32x4_t sums[QUADS][TILE];
    UNROLL for (int t = 0; t < T; t++) {
        const int64_t token = ck_min(first + t, job->tokens - 1);
        x[t] = activations_of(job) + token * subs;
        UNROLL for (int quad = 0; quad < QUADS; quad++) {
            sums[quad][t] = first_sums(job, group * CK_GROUP_ROWS + quad * QUAD, token);
        }
    }
    for (int64_t b = 0; b < blocks; b++, block += stride_of(type)) {
        if (subs_of(type) == 1) {
            UNROLL for (int quad = 0; quad < QUADS; quad++) multiply_block(type, T, block, quad, x, sums[quad]);
        } else {    // by the same instructions, of which there are many: which quad it is only moves the loads
#pragma clang loop unroll(disable)
            for (int quad = 0; quad < QUADS; quad++) multiply_block(type, T, block, quad, x, sums[quad]);
        }
        UNROLL for (int t = 0; t < T; t++) x[t] += subs_of(type);
    }
    UNROLL for (int t = 0; t < T; t++) {
        float *y = job->y + (first + t) * job->y_stride + group * CK_GROUP_ROWS;
        if (first + t >= job->tokens) continue;
        UNROLL for (int quad = 0; quad < QUADS; quad++) vst1q_f32(y + quad * QUAD, sums[quad][t]);
    }
}

// MARK: - Many tokens
//
// A panel has of every group its two quads; of every quad, for types with 8 sub-blocks, the float scale and the minima, then
// sub-block after sub-block: eight vectors of weights, now without shift, and the integer scales, or (with 32 columns to a
// block) float scale and minimum.

/// Vectors before the sub-blocks of a quad.
INLINE int head_vectors(const ck_type type) { return subs_of(type) == 8 ? 1 + PANEL_SUBS * minima_of(type) : 0; }

/// Vectors of a sub-block.
INLINE int sub_vectors(const ck_type type) { return 8 + (subs_of(type) == 8 ? halves_of(type) : 1 + minima_of(type)); }

/// Vectors of a quad.
INLINE int quad_vectors(const ck_type type) { return head_vectors(type) + PANEL_SUBS * sub_vectors(type); }

/// Groups that fit a panel.
INLINE int64_t panel_groups(const ck_type type) {
    return (int64_t)(CK_NEON_PANEL_BYTES / (sizeof(int8x16_t) * (size_t)(QUADS * quad_vectors(type))));
}

INLINE void unpack_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int quad, int8x16_t *out) {
    UNROLL for (int v = 0; v < 8; v++) {
        out[v] = vsubq_s8(weights(type, block, sub, v, quad), vdupq_n_s8((int8_t)shift_of(type)));
    }
    UNROLL for (int half = 0; half < halves_of(type); half++) out[8 + half] = scale_of(type, block, s, sub, half, quad);
    if (subs_of(type) == 1 && minima_of(type) > 0) out[9] = vreinterpretq_s8_f32(block_minimum(block, quad));
}

/// `count` sub-blocks of a quad from `first` on. `group` is where its group begins.
INLINE void unpack_quad(
    const ck_type type, const uint8_t *group, int64_t first, int64_t count, const int quad, int8x16_t *out) {
    int8x16_t *subs = out + head_vectors(type);
    if (subs_of(type) == 1) {
        for (int64_t i = 0; i < count; i++) {
            unpack_sub(type, group + (first + i) * stride_of(type), NULL, 0, quad, subs + i * sub_vectors(type));
        }
        return;
    }
    const uint8_t *block = group + first / 8 * stride_of(type);    // panels are whole blocks
    const block_scales s = load_block_scales(type, block, quad);
    out[0] = vreinterpretq_s8_f32(s.d);
    UNROLL for (int i = 0; i < PANEL_SUBS * minima_of(type); i++) {
        const int sub = i / minima_of(type), m = i % minima_of(type);
        out[1 + i] = vreinterpretq_s8_f32(sub_minimum(type, block, &s, sub, m, quad));
    }
    UNROLL for (int sub = 0; sub < 8; sub++) unpack_sub(type, block, &s, sub, quad, subs + sub * sub_vectors(type));
}

/// One group of a panel times `T` tokens from `first` on. `row` is its first row.
INLINE void multiply_tile(
    const ck_type type, const int T, const ck_matmul_job *job, const int8x16_t *panel, int64_t row, int64_t first,
    int64_t first_sub, int64_t subs) {
    const activation *x[TILE];
    float *y[TILE];
    float32x4_t begun[QUADS][TILE], sums[QUADS][TILE];
    const int8x16_t *heads[QUADS], *w[QUADS];
    UNROLL for (int t = 0; t < T; t++) {
        x[t] = activations_of(job) + (first + t) * (job->cols / 32) + first_sub;
        y[t] = job->y + (first + t) * job->y_stride + row;
    }
    UNROLL for (int i = 0; i < QUADS * T; i++) {
        const int quad = i / T, t = i % T;
        heads[quad] = panel + quad * quad_vectors(type);
        w[quad] = heads[quad] + head_vectors(type);
        begun[quad][t] = first_sub > 0 ? vld1q_f32(y[t] + quad * QUAD) : first_sums(job, row + quad * QUAD, first + t);
    }
    UNROLL for (int i = 0; i < head_vectors(type) - 1; i++) {
        const int sub = i / minima_of(type), m = i % minima_of(type);
        UNROLL for (int k = 0; k < QUADS * T; k++) {
            const float32x4_t minimum = vreinterpretq_f32_s8(heads[k / T][1 + i]);
            begun[k / T][k % T] = vfmaq_n_f32(begun[k / T][k % T], minimum, summed(type, x[k % T] + sub, m));
        }
    }
    UNROLL for (int k = 0; k < QUADS * T; k++) sums[k / T][k % T] = subs_of(type) == 8 ? vdupq_n_f32(0) : begun[k / T][k % T];
    for (int64_t i = 0; i < subs; i++) {
        int32x4_t lanes[QUADS][TILE];
        UNROLL for (int run = 0; run < 2 * PARTS; run++) {
            // Part after part of what belongs to one scale, the first of which is then multiplied by 128.
            const int half = halves_of(type) == 2 ? run / PARTS : run % 2, part = halves_of(type) == 2 ? run % PARTS : run / 2;
            int8x16_t q[TILE];
            forget_weights();
            UNROLL for (int t = 0; t < T; t++) q[t] = sixteen(x[t], part, half);
            UNROLL for (int k = 0; begins(type, half) && k < QUADS * T; k++) {
                lanes[k / T][k % T] = part == 0 ? vdupq_n_s32(0) : vshlq_n_s32(lanes[k / T][k % T], 7);
            }
            UNROLL for (int v = 0; v < 4; v++) {
                UNROLL for (int k = 0; k < QUADS * T; k++) {
                    lanes[k / T][k % T] = dot(lanes[k / T][k % T], w[k / T][4 * half + v], four(q[k % T], v));
                }
            }
            UNROLL for (int k = 0; ends(type, half) && part == PARTS - 1 && k < QUADS * T; k++) {
                const int8x16_t scale = w[k / T][8 + (halves_of(type) == 2 ? half : 0)];
                sums[k / T][k % T] = add_products(type, sums[k / T][k % T], lanes[k / T][k % T], scale, x[k % T]);
            }
        }
        UNROLL for (int k = 0; subs_of(type) == 1 && minima_of(type) > 0 && k < QUADS * T; k++) {
            const float32x4_t minimum = vreinterpretq_f32_s8(w[k / T][9]);
            sums[k / T][k % T] = vfmaq_n_f32(sums[k / T][k % T], minimum, x[k % T]->sum);
        }
        UNROLL for (int quad = 0; quad < QUADS; quad++) w[quad] += sub_vectors(type);
        UNROLL for (int t = 0; t < T; t++) x[t]++;
    }
    UNROLL for (int k = 0; k < QUADS * T; k++) {
        const int quad = k / T, t = k % T;
        float32x4_t sum = sums[quad][t];
        if (subs_of(type) == 8) sum = vfmaq_f32(begun[quad][t], sum, vreinterpretq_f32_s8(heads[quad][0]));
        vst1q_f32(y[t] + quad * QUAD, sum);
    }
}

/// All groups of a panel, `begin` the first, times `T` tokens from `first` on.
INLINE void multiply_panel(
    const ck_type type, const int T, const ck_matmul_job *job, const int8x16_t *panel, int64_t begin, int64_t groups,
    int64_t first, int64_t first_sub, int64_t subs) {
    for (int64_t g = 0; g < groups; g++) {
        const int8x16_t *group = panel + QUADS * g * quad_vectors(type);
        multiply_tile(type, T, job, group, (begin + g) * CK_GROUP_ROWS, first, first_sub, subs);
    }
}

INLINE void multiply_many(const ck_type type, const ck_matmul_job *job) {
    const int64_t subs = job->cols / 32, most = panel_groups(type);
    const size_t group_bytes = (size_t)(subs / subs_of(type)) * (size_t)stride_of(type);
    int8x16_t *panel = job->scratch;
    for (int64_t begin = 0; begin < job->groups; begin += most) {
        const int64_t groups = ck_min(most, job->groups - begin);
        for (int64_t sub = 0; sub < subs; sub += PANEL_SUBS) {
            const int64_t count = ck_min(PANEL_SUBS, subs - sub);
            for (int64_t g = 0; g < groups; g++) {
                const uint8_t *group = job->data + (size_t)(begin + g) * group_bytes;
#pragma clang loop unroll(disable)
                for (int quad = 0; quad < QUADS; quad++) {
                    unpack_quad(type, group, sub, count, quad, panel + (QUADS * g + quad) * quad_vectors(type));
                }
            }
            int64_t t = 0;
            for (; t + TILE <= job->tokens; t += TILE) multiply_panel(type, TILE, job, panel, begin, groups, t, sub, count);
            for (; t < job->tokens; t++) multiply_panel(type, 1, job, panel, begin, groups, t, sub, count);
        }
    }
}

// MARK: - By type

typedef void few_kernel(const ck_matmul_job *job, int64_t group, int64_t first);

/// A few tokens: each group's weights come from memory for the first four and are in a near cache for the others.
static void few(const ck_matmul_job *job, few_kernel *one, few_kernel *two, few_kernel *four_) {
    for (int64_t group = 0; group < job->groups; group++) {
        for (int64_t t = 0; t < job->tokens; t += TILE) {
            const int64_t left = job->tokens - t;
            (left == 1 ? one : left == 2 ? two : four_)(job, group, t);
        }
    }
}

#define KERNELS(NAME, TYPE)                                                                                             \
    static __attribute__((noinline)) void NAME##_1(const ck_matmul_job *job, int64_t group, int64_t t) {                \
        multiply_few(TYPE, 1, job, group, t);                                                                           \
    }                                                                                                                   \
    static __attribute__((noinline)) void NAME##_2(const ck_matmul_job *job, int64_t group, int64_t t) {                \
        multiply_few(TYPE, 2, job, group, t);                                                                           \
    }                                                                                                                   \
    static __attribute__((noinline)) void NAME##_4(const ck_matmul_job *job, int64_t group, int64_t t) {                \
        multiply_few(TYPE, 4, job, group, t);                                                                           \
    }                                                                                                                   \
    static __attribute__((noinline)) void NAME##_many(const ck_matmul_job *job) { multiply_many(TYPE, job); }           \
    static void NAME(const ck_matmul_job *job) {                                                                        \
        if (job->tokens < CK_NEON_MANY_TOKENS) {                                                                        \
            few(job, NAME##_1, NAME##_2, NAME##_4);                                                                     \
        } else {                                                                                                        \
            NAME##_many(job);                                                                                           \
        }                                                                                                               \
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

void MATMUL(const ck_matmul_job *job) {
    switch (job->type) {
    case CK_F32: case CK_F16: case CK_BF16: break;    // take floats: `neon_floats.c`
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
