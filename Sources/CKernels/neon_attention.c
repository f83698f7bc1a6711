/// Attention with NEON: blocks of 64 slots, a running softmax (as in FlashAttention, Dao et al. 2022: the sums are rescaled
/// when a greater score turns up), all query rows that share a kv head together.
///
/// A *row* is one query head of one token. Eight slots of a key block are two vectors, so scores need no sum across a
/// register. With few rows (decoding) half-precision keys and values are widened on their way into the multiplications;
/// with many (prefill) a block is widened once and used by all rows.
#if defined(__aarch64__)

#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "neon.h"
#include "neon_math.h"

#define BLOCK 64
/// Rows up to which keys and values are widened on the way.
#define FEW_ROWS 8


INLINE float32x4_t widen(const uint16_t *p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }

INLINE float32x4_t element(const bool wide, const void *p, int64_t index) {
    return wide ? vld1q_f32((const float *)p + index) : widen((const uint16_t *)p + index);
}

/// `scores[r, 4 * k ..< 4 * k + 4] = q[r] · keys` for `R` rows and `K` vectors of slots, two of them to a key block.
INLINE void score_tile(
    const bool wide, const int R, const int K, const float *q, int64_t dim, const void *keys, float *scores) {
    float32x4_t sums[8][4];
    UNROLL for (int i = 0; i < R * K; i++) sums[i / K][i % K] = vdupq_n_f32(0);
    for (int64_t i = 0; i < dim; i += 4) {
        float32x4_t x[8];
        UNROLL for (int r = 0; r < R; r++) x[r] = vld1q_f32(q + r * dim + i);
        UNROLL for (int j = 0; j < 4; j++) {
            UNROLL for (int k = 0; k < K; k++) {
                const float32x4_t key = element(wide, keys, (k / 2 * dim + i + j) * CK_KEY_BLOCK + k % 2 * 4);
                UNROLL for (int r = 0; r < R; r++) sums[r][k] = vfmaq_n_f32(sums[r][k], key, x[r][j]);
            }
        }
    }
    UNROLL for (int i = 0; i < R * K; i++) vst1q_f32(scores + i / K * BLOCK + i % K * 4, sums[i / K][i % K]);
}

/// One slot of `value_tile`. `weights` has a row's weight in lane `j`.
INLINE void add_value(
    const bool wide, const int R, const int D, const float32x4_t *weights, const int j, const void *values, int64_t index,
    float32x4_t sums[8][4]) {
    UNROLL for (int d = 0; d < D; d++) {
        const float32x4_t value = element(wide, values, index + 4 * d);
        UNROLL for (int r = 0; r < R; r++) sums[r][d] = vfmaq_n_f32(sums[r][d], value, weights[r][j]);
    }
}

/// `sums[r, 4 * d ..< 4 * (d + D)] += weights[r] · values` for `R` rows, `D` vectors of dimensions, `slots` slots. Weights are
/// there to the end of a key block.
INLINE void value_tile(
    const bool wide, const int R, const int D, const float *weights, int64_t dim, const void *values, int64_t slots, float *out) {
    float32x4_t sums[8][4], w[8];
    UNROLL for (int i = 0; i < R * D; i++) sums[i / D][i % D] = vld1q_f32(out + i / D * dim + i % D * 4);
    int64_t s = 0;
    for (; s + 4 <= slots; s += 4) {
        UNROLL for (int r = 0; r < R; r++) w[r] = vld1q_f32(weights + r * BLOCK + s);
        UNROLL for (int j = 0; j < 4; j++) add_value(wide, R, D, w, j, values, (s + j) * dim, sums);
    }
    for (; s < slots; s++) {
        UNROLL for (int r = 0; r < R; r++) w[r] = vdupq_n_f32(weights[r * BLOCK + s]);
        add_value(wide, R, D, w, 0, values, s * dim, sums);
    }
    UNROLL for (int i = 0; i < R * D; i++) vst1q_f32(out + i / D * dim + i % D * 4, sums[i / D][i % D]);
}

/// Scores of all rows against `blocks` key blocks.
INLINE void score_few(const int R, const float *q, int64_t dim, const uint16_t *keys, int64_t blocks, float *scores) {
    int64_t k = 0;
    if (R <= 4) {
        for (; k + 2 <= blocks; k += 2) score_tile(false, R, 4, q, dim, keys + k * dim * 8, scores + 8 * k);
    }
    for (; k < blocks; k++) score_tile(false, R, 2, q, dim, keys + k * dim * 8, scores + 8 * k);
}

INLINE void value_few(const int R, const float *weights, int64_t dim, const uint16_t *values, int64_t slots, float *sums) {
    int64_t d = 0;
    if (R <= 4) {
        for (; d + 16 <= dim; d += 16) value_tile(false, R, 4, weights, dim, values + d, slots, sums + d);
    }
    for (; d < dim; d += 8) value_tile(false, R, 2, weights, dim, values + d, slots, sums + d);
}

#define BY_ROWS(CALL)                      \
    switch (rows) {                        \
    case 1: CALL(1); break;                \
    case 2: CALL(2); break;                \
    case 3: CALL(3); break;                \
    case 4: CALL(4); break;                \
    case 5: CALL(5); break;                \
    case 6: CALL(6); break;                \
    case 7: CALL(7); break;                \
    default: CALL(8); break;               \
    }

static void score_block_few(int64_t rows, const float *q, int64_t dim, const uint16_t *keys, int64_t blocks, float *scores) {
#define CALL(R) score_few(R, q, dim, keys, blocks, scores)
    BY_ROWS(CALL)
#undef CALL
}

static void value_block_few(
    int64_t rows, const float *weights, int64_t dim, const uint16_t *values, int64_t slots, float *sums) {
#define CALL(R) value_few(R, weights, dim, values, slots, sums)
    BY_ROWS(CALL)
#undef CALL
}

static void score_block_many(int64_t rows, const float *q, int64_t dim, const float *keys, int64_t blocks, float *scores) {
#define TILES(K)                                                                                                        \
    for (; k + K <= 2 * blocks; k += K) {                                                                               \
        const float *block = keys + k * dim * 4;                                                                        \
        int64_t r = 0;                                                                                                  \
        for (; r + 4 <= rows; r += 4) score_tile(true, 4, K, q + r * dim, dim, block, scores + r * BLOCK + 4 * k);      \
        for (; r < rows; r++) score_tile(true, 1, K, q + r * dim, dim, block, scores + r * BLOCK + 4 * k);              \
    }
    int64_t k = 0;
    TILES(4)
    TILES(2)
#undef TILES
}

static void value_block_many(
    int64_t rows, const float *weights, int64_t dim, const float *values, int64_t slots, float *sums) {
#define TILES(D)                                                                                                        \
    for (; d + 4 * D <= dim; d += 4 * D) {                                                                              \
        int64_t r = 0;                                                                                                  \
        for (; r + 4 <= rows; r += 4) {                                                                                 \
            value_tile(true, 4, D, weights + r * BLOCK, dim, values + d, slots, sums + r * dim + d);                    \
        }                                                                                                               \
        for (; r < rows; r++) value_tile(true, 1, D, weights + r * BLOCK, dim, values + d, slots, sums + r * dim + d);  \
    }
    int64_t d = 0;
    TILES(4)
    TILES(2)
#undef TILES
}

static void widen_all(const uint16_t *source, float *destination, int64_t count) {
    for (int64_t i = 0; i < count; i += 4) vst1q_f32(destination + i, widen(source + i));
}

/// Turns one row's scores of a block into weights, and its sums so far to the new greatest score. `low` and `high` bound the
/// slots of the block that the row sees.
static void weigh(
    float *scores, int64_t slots, int64_t low, int64_t high, float soft_cap, float *sums, int64_t dim, float *greatest,
    float *total) {
    const float32x4_t none = vdupq_n_f32(-INFINITY);
    float32x4_t most = none;
    for (int64_t s = 0; s < slots; s += 4) {
        float32x4_t v = vld1q_f32(scores + s);
        if (soft_cap > 0) v = soft_cap_vector(v, soft_cap, 1 / soft_cap);
        if (s < low || s + 4 > high) {
            v = vbslq_f32(vbicq_u32(first_lanes(high - s), first_lanes(low - s)), v, none);
        }
        vst1q_f32(scores + s, v);
        most = vmaxnmq_f32(most, v);    // of numbers alone
    }
    const float before = *greatest, now = vmaxnmvq_f32(most);
    if (now > before) {
        *greatest = now;
        if (before > -INFINITY) {
            const float shrink = expf(before - now);
            *total *= shrink;
            for (int64_t i = 0; i < dim; i += 4) vst1q_f32(sums + i, vmulq_n_f32(vld1q_f32(sums + i), shrink));
        }
    }
    if (!(*greatest > -INFINITY)) {    // nothing seen so far, or nothing that is a number
        const bool sees = ck_max(0, low) < ck_min(slots, high);
        const float32x4_t weight = vdupq_n_f32(sees ? NAN : 0);
        for (int64_t s = 0; s < slots; s += 4) vst1q_f32(scores + s, weight);
        // A score that nothing exceeds, so that the sums stay no numbers.
        if (sees) *greatest = *total = INFINITY;
        return;
    }
    const float32x4_t shift = vdupq_n_f32(*greatest);
    float32x4_t sum = vdupq_n_f32(0);
    for (int64_t s = 0; s < slots; s += 4) {
        const float32x4_t v = exp_vector(vsubq_f32(vld1q_f32(scores + s), shift));
        vst1q_f32(scores + s, v);
        sum = vaddq_f32(sum, v);
    }
    *total += vaddvq_f32(sum);
}

static int64_t most_rows(int32_t group) { return ck_max(CK_ATTENTION_ROWS, group); }

size_t ck_neon_attention_scratch(int32_t group, int32_t head_dim) {
    const size_t rows = (size_t)most_rows(group), dim = (size_t)head_dim;
    return sizeof(float) * (2 * BLOCK * dim + rows * (BLOCK + 2 * dim + 2));
}

void ck_neon_attention(const ck_attention_job *job) {
    const int64_t dim = job->head_dim, rows = job->tokens * job->group, most = most_rows(job->group);
    float *keys = job->scratch;                  // [BLOCK / 8, dim, 8], widened
    float *values = keys + BLOCK * dim;          // [BLOCK, dim], widened
    float *scores = values + BLOCK * dim;        // [rows, BLOCK]
    float *q = scores + most * BLOCK;            // [rows, dim], scaled
    float *sums = q + most * dim;                // [rows, dim]
    float *greatest = sums + most * dim, *total = greatest + most;    // [rows]

    for (int64_t r = 0; r < rows; r++) {
        const float *source = job->q + r / job->group * job->q_stride + r % job->group * dim;
        for (int64_t i = 0; i < dim; i += 4) {
            vst1q_f32(q + r * dim + i, vmulq_n_f32(vld1q_f32(source + i), job->scale));
            vst1q_f32(sums + r * dim + i, vdupq_n_f32(0));
        }
        greatest[r] = -INFINITY;
        total[r] = 0;
    }
    for (int64_t begin = job->begin; begin < job->end; begin += BLOCK) {
        const int64_t slots = ck_min(BLOCK, job->end - begin), blocks = (slots + 7) / 8;
        const uint16_t *half_keys = job->keys + begin * dim, *half_values = job->values + begin * dim;
        if (rows <= FEW_ROWS) {
            score_block_few(rows, q, dim, half_keys, blocks, scores);
        } else {
            widen_all(half_keys, keys, blocks * 8 * dim);
            score_block_many(rows, q, dim, keys, blocks, scores);
        }
        for (int64_t r = 0; r < rows; r++) {
            const int64_t position = job->position + r / job->group;
            const int64_t first = job->window > 0 ? ck_max(0, position - job->window + 1) : 0;
            weigh(
                scores + r * BLOCK, blocks * 8, first - begin, ck_min(job->end, position + 1) - begin, job->soft_cap,
                sums + r * dim, dim, &greatest[r], &total[r]);
        }
        if (rows <= FEW_ROWS) {
            value_block_few(rows, scores, dim, half_values, slots, sums);
        } else {
            widen_all(half_values, values, slots * dim);
            value_block_many(rows, scores, dim, values, slots, sums);
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        if (job->partial) {
            float *partial = job->partial + r * (dim + 2);
            memcpy(partial, sums + r * dim, sizeof(float) * (size_t)dim);
            partial[dim] = greatest[r];
            partial[dim + 1] = total[r];
        } else {
            float *out = job->out + r / job->group * job->out_stride + r % job->group * dim;
            const float inverse = total[r] > 0 ? 1 / total[r] : 0;
            for (int64_t i = 0; i < dim; i += 4) vst1q_f32(out + i, vmulq_n_f32(vld1q_f32(sums + r * dim + i), inverse));
        }
    }
}

#endif
