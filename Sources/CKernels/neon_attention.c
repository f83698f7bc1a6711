/// Attention with NEON: blocks of 64 slots, a running softmax (as in FlashAttention, Dao et al. 2022: the sums are rescaled
/// when a greater score turns up), all query rows that share a kv head together.
///
/// A *row* is one query head of one token. Eight slots of a key block are two vectors, so scores need no sum across a
/// register. With few rows (decoding) keys and values are widened on their way into the multiplications; with many (prefill) a
/// block is widened once and used by all rows. The widened numbers are the same.
#if defined(__aarch64__)

#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "neon.h"
#include "neon_math.h"
#include "spread.h"

#define BLOCK 64
/// Rows up to which keys and values are widened on the way.
#define FEW_ROWS 8

INLINE float32x4_t widen(const uint16_t *p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }

/// How the keys and values that a tile reads are kept; the number is the bytes of each.
typedef enum { BYTES = 1, HALVES = 2, FLOATS = 4 } form;

/// Keys or values of blocks of 8 slots, in one form.
typedef struct {
    const uint8_t *data;      ///< of the first block, behind its scales
    int64_t block_bytes;      ///< from one block to the next
    const uint16_t *scales;   ///< BYTES: of the first block
    const float *widened;     ///< BYTES, values: the scales of all blocks, [slots, runs]
} part;

/// Eight neighbouring numbers.
INLINE float32x4x2_t elements(const form f, const uint8_t *p, int64_t index, float32x4x2_t scale) {
    if (f == FLOATS) return (float32x4x2_t){{vld1q_f32((const float *)p + index), vld1q_f32((const float *)p + index + 4)}};
    if (f == HALVES) return (float32x4x2_t){{widen((const uint16_t *)p + index), widen((const uint16_t *)p + index + 4)}};
    const int16x8_t q = vmovl_s8(vld1_s8((const int8_t *)p + index));
    return (float32x4x2_t){{
        vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(q))), scale.val[0]),
        vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(q))), scale.val[1]),
    }};
}

static const float32x4x2_t no_scale = {{{0, 0, 0, 0}, {0, 0, 0, 0}}};

INLINE float32x4x2_t widen_scales(const uint16_t *p) { return (float32x4x2_t){{widen(p), widen(p + 4)}}; }

/// `scores[r, 8 * k ..< 8 * k + 8] = q[r] · keys` for `R` rows and `K` neighbouring blocks of keys, from block `first` on.
INLINE void score_tile(
    const form f, const int R, const int K, const float *q, int64_t dim, const part *keys, int64_t first, float *scores) {
    const uint8_t *data = keys->data + first * keys->block_bytes;
    const uint16_t *scales = f == BYTES ? keys->scales + first * keys->block_bytes / 2 : NULL;
    const int64_t run = f == BYTES ? CK_SCALE_RUN : dim;
    float32x4_t sums[8][4];
    UNROLL for (int i = 0; i < R * 2 * K; i++) sums[i / (2 * K)][i % (2 * K)] = vdupq_n_f32(0);
    for (int64_t begin = 0; begin < dim; begin += run) {
        float32x4x2_t scale[2] = {no_scale, no_scale};
        if (f == BYTES) {
            UNROLL for (int k = 0; k < K; k++) {
                scale[k] = widen_scales(scales + k * keys->block_bytes / 2 + begin / run * CK_CACHE_BLOCK);
            }
        }
        const int64_t end = ck_min(dim, begin + run);
        for (int64_t i = begin; i < end; i += 4) {
            float32x4_t x[8];
            UNROLL for (int r = 0; r < R; r++) x[r] = vld1q_f32(q + r * dim + i);
            UNROLL for (int j = 0; j < 4; j++) {
                UNROLL for (int k = 0; k < K; k++) {
                    const float32x4x2_t key =
                        elements(f, data + k * keys->block_bytes, (i + j) * CK_CACHE_BLOCK, scale[k]);
                    UNROLL for (int r = 0; r < R; r++) {
                        sums[r][2 * k] = vfmaq_n_f32(sums[r][2 * k], key.val[0], x[r][j]);
                        sums[r][2 * k + 1] = vfmaq_n_f32(sums[r][2 * k + 1], key.val[1], x[r][j]);
                    }
                }
            }
        }
    }
    UNROLL for (int i = 0; i < R * 2 * K; i++) {
        vst1q_f32(scores + i / (2 * K) * BLOCK + i % (2 * K) * 4, sums[i / (2 * K)][i % (2 * K)]);
    }
}

/// One slot of `value_tile`. `weights` has a row's weight in lane `j`.
INLINE void add_value(
    const form f, const int R, const int D, const float32x4_t *weights, const int j, const uint8_t *data, int64_t index,
    const float *scale, float32x4_t sums[8][4]) {
    float32x4x2_t scales = no_scale;
    if (f == BYTES) scales.val[0] = scales.val[1] = vld1q_dup_f32(scale);
    UNROLL for (int d = 0; d < D; d++) {
        const float32x4x2_t value = elements(f, data, index + 8 * d, scales);
        UNROLL for (int r = 0; r < R; r++) {
            sums[r][2 * d] = vfmaq_n_f32(sums[r][2 * d], value.val[0], weights[r][j]);
            sums[r][2 * d + 1] = vfmaq_n_f32(sums[r][2 * d + 1], value.val[1], weights[r][j]);
        }
    }
}

/// `sums[r, first ..< first + 8 * D] += weights[r] · values` for `R` rows, `D` (1 or 2) times eight dimensions, `slots` slots.
/// Weights are there to the end of a block.
INLINE void value_tile(
    const form f, const int R, const int D, const float *weights, int64_t dim, const part *values, int64_t first, int64_t slots,
    float *out) {
    const uint8_t *data = values->data + first * (int64_t)f;
    // One for all its dimensions, since a run has no fewer.
    const float *scales = f == BYTES ? values->widened + first / CK_SCALE_RUN : NULL;
    const int64_t runs = f == BYTES ? ck_scale_runs(dim) : 0, span = f == BYTES ? CK_CACHE_BLOCK : slots;
    float32x4_t sums[8][4], w[8];
    out += first;
    UNROLL for (int i = 0; i < R * 2 * D; i++) sums[i / (2 * D)][i % (2 * D)] = vld1q_f32(out + i / (2 * D) * dim + i % (2 * D) * 4);
    for (int64_t begin = 0; begin < slots; begin += span, data += values->block_bytes) {
        const int64_t end = ck_min(slots, begin + span);
        int64_t s = begin;
        for (; s + 4 <= end; s += 4) {
            UNROLL for (int r = 0; r < R; r++) w[r] = vld1q_f32(weights + r * BLOCK + s);
            UNROLL for (int j = 0; j < 4; j++) {
                add_value(f, R, D, w, j, data, (s + j - begin) * dim, f == BYTES ? scales + (s + j) * runs : NULL, sums);
            }
        }
        for (; s < end; s++) {
            UNROLL for (int r = 0; r < R; r++) w[r] = vdupq_n_f32(weights[r * BLOCK + s]);
            add_value(f, R, D, w, 0, data, (s - begin) * dim, f == BYTES ? scales + s * runs : NULL, sums);
        }
    }
    UNROLL for (int i = 0; i < R * 2 * D; i++) vst1q_f32(out + i / (2 * D) * dim + i % (2 * D) * 4, sums[i / (2 * D)][i % (2 * D)]);
}

/// Scores of all rows against `blocks` blocks of keys.
INLINE void score_few(
    const form f, const int R, const float *q, int64_t dim, const part *keys, int64_t blocks, float *scores) {
    int64_t k = 0;
    if (R <= 4) {
        for (; k + 2 <= blocks; k += 2) score_tile(f, R, 2, q, dim, keys, k, scores + 8 * k);
    }
    for (; k < blocks; k++) score_tile(f, R, 1, q, dim, keys, k, scores + 8 * k);
}

INLINE void value_few(
    const form f, const int R, const float *weights, int64_t dim, const part *values, int64_t slots, float *sums) {
    int64_t d = 0;
    if (R <= 4) {
        for (; d + 16 <= dim; d += 16) value_tile(f, R, 2, weights, dim, values, d, slots, sums);
    }
    for (; d < dim; d += 8) value_tile(f, R, 1, weights, dim, values, d, slots, sums);
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

static void score_block_few(
    bool is_bytes, int64_t rows, const float *q, int64_t dim, const part *keys, int64_t blocks, float *scores) {
#define HALF_CALL(R) score_few(HALVES, R, q, dim, keys, blocks, scores)
#define BYTE_CALL(R) score_few(BYTES, R, q, dim, keys, blocks, scores)
    if (is_bytes) BY_ROWS(BYTE_CALL) else BY_ROWS(HALF_CALL)
#undef BYTE_CALL
#undef HALF_CALL
}

static void value_block_few(
    bool is_bytes, int64_t rows, const float *weights, int64_t dim, const part *values, int64_t slots, float *sums) {
#define HALF_CALL(R) value_few(HALVES, R, weights, dim, values, slots, sums)
#define BYTE_CALL(R) value_few(BYTES, R, weights, dim, values, slots, sums)
    if (is_bytes) BY_ROWS(BYTE_CALL) else BY_ROWS(HALF_CALL)
#undef BYTE_CALL
#undef HALF_CALL
}

static void score_block_many(int64_t rows, const float *q, int64_t dim, const float *widened, int64_t blocks, float *scores) {
    const part keys = {.data = (const uint8_t *)widened, .block_bytes = CK_CACHE_BLOCK * dim * (int64_t)sizeof(float)};
#define TILES(K)                                                                                                        \
    for (; k + K <= blocks; k += K) {                                                                                   \
        int64_t r = 0;                                                                                                  \
        for (; r + 4 <= rows; r += 4) score_tile(FLOATS, 4, K, q + r * dim, dim, &keys, k, scores + r * BLOCK + 8 * k); \
        for (; r < rows; r++) score_tile(FLOATS, 1, K, q + r * dim, dim, &keys, k, scores + r * BLOCK + 8 * k);         \
    }
    int64_t k = 0;
    TILES(2)
    TILES(1)
#undef TILES
}

static void value_block_many(
    int64_t rows, const float *weights, int64_t dim, const float *widened, int64_t slots, float *sums) {
    const part values = {.data = (const uint8_t *)widened};
#define TILES(D)                                                                                                        \
    for (; d + 8 * D <= dim; d += 8 * D) {                                                                              \
        int64_t r = 0;                                                                                                  \
        for (; r + 4 <= rows; r += 4) {                                                                                 \
            value_tile(FLOATS, 4, D, weights + r * BLOCK, dim, &values, d, slots, sums + r * dim);                      \
        }                                                                                                               \
        for (; r < rows; r++) value_tile(FLOATS, 1, D, weights + r * BLOCK, dim, &values, d, slots, sums + r * dim);    \
    }
    int64_t d = 0;
    TILES(2)
    TILES(1)
#undef TILES
}

/// Keys or values of some blocks as the cache has them.
static part part_of(ck_type type, int64_t dim, const uint8_t *blocks) {
    return (part){
        .data = blocks + 2 * ck_scales_of_block(type, dim),
        .block_bytes = (int64_t)ck_cache_block_bytes(type, dim),
        .scales = (const uint16_t *)blocks,
    };
}

static void widen_halves(const uint16_t *source, float *destination, int64_t count) {
    for (int64_t i = 0; i < count; i += 4) vst1q_f32(destination + i, widen(source + i));
}

INLINE void widen_bytes(const int8_t *q, float32x4x2_t scale, float *destination) {
    const float32x4x2_t numbers = elements(BYTES, (const uint8_t *)q, 0, scale);
    vst1q_f32(destination, numbers.val[0]);
    vst1q_f32(destination + 4, numbers.val[1]);
}

static void widen_keys(bool is_bytes, const part *keys, int64_t dim, int64_t blocks, float *widened) {
    if (!is_bytes) {
        widen_halves((const uint16_t *)keys->data, widened, blocks * CK_CACHE_BLOCK * dim);
        return;
    }
    for (int64_t k = 0; k < blocks; k++) {
        const int8_t *q = (const int8_t *)keys->data + k * keys->block_bytes;
        const uint16_t *scales = keys->scales + k * keys->block_bytes / 2;
        for (int64_t i = 0; i < dim; i++, widened += 8) {
            widen_bytes(q + i * 8, widen_scales(scales + i / CK_SCALE_RUN * CK_CACHE_BLOCK), widened);
        }
    }
}

/// The scales of values as floats. [blocks * 8, runs]
static void widen_value_scales(const part *values, int64_t runs, int64_t blocks, float *widened) {
    for (int64_t k = 0; k < blocks; k++) {
        widen_halves(values->scales + k * values->block_bytes / 2, widened + k * 8 * runs, 8 * runs);
    }
}

/// - Parameter scales: Of the values, widened.
static void widen_values(
    bool is_bytes, const part *values, int64_t dim, int64_t slots, const float *scales, float *widened) {
    if (!is_bytes) {
        widen_halves((const uint16_t *)values->data, widened, slots * dim);
        return;
    }
    const int64_t runs = ck_scale_runs(dim);
    for (int64_t s = 0; s < slots; s++) {
        const int8_t *q = (const int8_t *)values->data + s / 8 * values->block_bytes + s % 8 * dim;
        for (int64_t i = 0; i < dim; i += 8, widened += 8) {
            const float32x4_t scale = vdupq_n_f32(scales[s * runs + i / CK_SCALE_RUN]);
            widen_bytes(q + i, (float32x4x2_t){{scale, scale}}, widened);
        }
    }
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
    return sizeof(float) * (BLOCK * (2 * dim + (size_t)ck_scale_runs(head_dim)) + rows * (BLOCK + 2 * dim + 2));
}

void ck_neon_attention(const ck_attention_job *job) {
    const int64_t dim = job->head_dim, rows = job->tokens * job->group, most = most_rows(job->group);
    float *keys = job->scratch;                  // [BLOCK / 8, dim, 8], widened
    float *values = keys + BLOCK * dim;          // [BLOCK, dim], widened
    float *value_scales = values + BLOCK * dim;  // [BLOCK, runs]
    float *scores = value_scales + BLOCK * ck_scale_runs(dim);    // [rows, BLOCK]
    float *q = scores + most * BLOCK;            // [rows, dim], scaled
    float *sums = q + most * dim;                // [rows, dim]
    float *greatest = sums + most * dim, *total = greatest + most;    // [rows]

    const bool is_bytes = job->type == CK_Q8_0;
    for (int64_t r = 0; r < rows; r++) {
        const float *source = job->q + r / job->group * job->q_stride + r % job->group * dim;
        for (int64_t i = 0; i < dim; i += 4) {
            vst1q_f32(q + r * dim + i, vmulq_n_f32(vld1q_f32(source + i), job->scale));
            vst1q_f32(sums + r * dim + i, vdupq_n_f32(0));
        }
        if (is_bytes) ck_spread_head(q + r * dim, dim);
        greatest[r] = -INFINITY;
        total[r] = 0;
    }
    for (int64_t begin = job->begin; begin < job->end; begin += BLOCK) {
        const int64_t slots = ck_min(BLOCK, job->end - begin), blocks = (slots + 7) / 8;
        const int64_t offset = begin / CK_CACHE_BLOCK * (int64_t)ck_cache_block_bytes(job->type, dim);
        const part cached_keys = part_of(job->type, dim, job->keys + offset);
        part cached_values = part_of(job->type, dim, job->values + offset);
        if (rows <= FEW_ROWS) {
            score_block_few(is_bytes, rows, q, dim, &cached_keys, blocks, scores);
        } else {
            widen_keys(is_bytes, &cached_keys, dim, blocks, keys);
            score_block_many(rows, q, dim, keys, blocks, scores);
        }
        for (int64_t r = 0; r < rows; r++) {
            const int64_t position = job->position + r / job->group;
            const int64_t first = job->window > 0 ? ck_max(0, position - job->window + 1) : 0;
            weigh(
                scores + r * BLOCK, blocks * 8, first - begin, ck_min(job->end, position + 1) - begin, job->soft_cap,
                sums + r * dim, dim, &greatest[r], &total[r]);
        }
        if (is_bytes) {
            widen_value_scales(&cached_values, ck_scale_runs(dim), blocks, value_scales);
            cached_values.widened = value_scales;
        }
        if (rows <= FEW_ROWS) {
            value_block_few(is_bytes, rows, scores, dim, &cached_values, slots, sums);
        } else {
            widen_values(is_bytes, &cached_values, dim, slots, value_scales, values);
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
