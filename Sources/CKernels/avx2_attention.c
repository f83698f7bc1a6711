/// Attention with AVX2: blocks of 64 slots, a running softmax (as in FlashAttention, Dao et al. 2022: the sums are rescaled
/// when a greater score turns up), all query rows that share a kv head together.
///
/// A *row* is one query head of one token. Eight slots of a key block are one vector, so scores need no sum across a
/// register. With few rows (decoding) keys and values are widened on their way into the multiplications; with many (prefill) a
/// block is widened once and used by all rows. The widened numbers are the same.
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

#include "avx2.h"
#include "avx2_math.h"
#include "spread.h"

#define BLOCK 64
/// Rows up to which keys and values are widened on the way.
#define FEW_ROWS 8

#define UNROLL _Pragma("clang loop unroll(full)")

INLINE __m256 widen(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }

INLINE __m256 widen_bytes(const int8_t *p, __m256 scale) {
    const __m256i q = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(q), scale);
}

/// How the keys and values that a tile reads are kept; the number is the bytes of each.
typedef enum { BYTES = 1, HALVES = 2, FLOATS = 4 } form;

/// Keys or values of blocks of 8 slots, in one form.
typedef struct {
    const uint8_t *data;      ///< of the first block, behind its scales
    int64_t block_bytes;      ///< from one block to the next
    const uint16_t *scales;   ///< BYTES: of the first block
    const float *widened;     ///< BYTES, values: the scales of all blocks, [slots, runs]
} part;

INLINE __m256 element(const form f, const uint8_t *p, int64_t index, __m256 scale) {
    return f == FLOATS ? _mm256_load_ps((const float *)p + index)
        : f == HALVES  ? widen((const uint16_t *)p + index)
                       : widen_bytes((const int8_t *)p + index, scale);
}

/// `scores[r, 8 * k ..< 8 * k + 8] = q[r] · keys` for `R` rows and `K` neighbouring blocks of keys, from block `first` on.
INLINE void score_tile(
    const form f, const int R, const int K, const float *q, int64_t dim, const part *keys, int64_t first, float *scores) {
    const uint8_t *data = keys->data + first * keys->block_bytes;
    const uint16_t *scales = f == BYTES ? keys->scales + first * keys->block_bytes / 2 : NULL;
    const int64_t run = f == BYTES ? CK_SCALE_RUN : dim;
    __m256 sums[8][2];
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int k = 0; k < K; k++) sums[r][k] = _mm256_setzero_ps();
    }
    for (int64_t begin = 0; begin < dim; begin += run) {
        __m256 scale[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
        if (f == BYTES) {
            UNROLL for (int k = 0; k < K; k++) scale[k] = widen(scales + k * keys->block_bytes / 2 + begin / run * 8);
        }
        const int64_t end = ck_min(dim, begin + run);
        for (int64_t i = begin; i < end; i++) {
            __m256 key[2];
            UNROLL for (int k = 0; k < K; k++) key[k] = element(f, data + k * keys->block_bytes, i * 8, scale[k]);
            UNROLL for (int r = 0; r < R; r++) {
                const __m256 x = _mm256_broadcast_ss(q + r * dim + i);
                UNROLL for (int k = 0; k < K; k++) sums[r][k] = _mm256_fmadd_ps(x, key[k], sums[r][k]);
            }
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int k = 0; k < K; k++) _mm256_store_ps(scores + r * BLOCK + 8 * k, sums[r][k]);
    }
}

/// `sums[r, first ..< first + 8 * D] += weights[r] · values` for `R` rows, `D` vectors of dimensions, `slots` slots.
INLINE void value_tile(
    const form f, const int R, const int D, const float *weights, int64_t dim, const part *values, int64_t first, int64_t slots,
    float *out) {
    const uint8_t *data = values->data + first * (int64_t)f;
    const float *scales = f == BYTES ? values->widened + first / CK_SCALE_RUN : NULL;
    const int64_t runs = f == BYTES ? ck_scale_runs(dim) : 0, span = f == BYTES ? CK_CACHE_BLOCK : slots;
    out += first;
    __m256 sums[8][2];
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int d = 0; d < D; d++) sums[r][d] = _mm256_load_ps(out + r * dim + 8 * d);
    }
    for (int64_t begin = 0; begin < slots; begin += span, data += values->block_bytes) {
        const int64_t end = ck_min(slots, begin + span);
        for (int64_t s = begin; s < end; s++) {
            // One for all its dimensions, since a run has no fewer.
            const __m256 scale = f == BYTES ? _mm256_broadcast_ss(scales + s * runs) : _mm256_setzero_ps();
            __m256 value[2];
            UNROLL for (int d = 0; d < D; d++) value[d] = element(f, data, (s - begin) * dim + 8 * d, scale);
            UNROLL for (int r = 0; r < R; r++) {
                const __m256 w = _mm256_broadcast_ss(weights + r * BLOCK + s);
                UNROLL for (int d = 0; d < D; d++) sums[r][d] = _mm256_fmadd_ps(w, value[d], sums[r][d]);
            }
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int d = 0; d < D; d++) _mm256_store_ps(out + r * dim + 8 * d, sums[r][d]);
    }
}

/// What is read after the part of the cache that is computed on, to be fetched meanwhile, a piece with each tile: a burst of
/// requests would wait for itself.
typedef struct {
    const char *next;
    int64_t lines;    ///< of 64 bytes, left to fetch
} ahead;

INLINE void fetch(ahead *a, int64_t lines) {
    for (int64_t i = 0; i < ck_min(lines, a->lines); i++) _mm_prefetch(a->next + 64 * i, _MM_HINT_T0);
    a->next += 64 * lines;
    a->lines -= lines;
}

/// Scores of all rows against `blocks` blocks of keys.
INLINE void score_few(
    const form f, const int R, const float *q, int64_t dim, const part *keys, int64_t blocks, float *scores, ahead after) {
    const int64_t share = blocks > 0 ? (after.lines + blocks - 1) / blocks : 0;
    int64_t k = 0;
    if (R <= 4) {
        for (; k + 2 <= blocks; k += 2) {
            fetch(&after, 2 * share);
            score_tile(f, R, 2, q, dim, keys, k, scores + 8 * k);
        }
    }
    for (; k < blocks; k++) {
        fetch(&after, share);
        score_tile(f, R, 1, q, dim, keys, k, scores + 8 * k);
    }
}

INLINE void value_few(
    const form f, const int R, const float *weights, int64_t dim, const part *values, int64_t slots, float *sums, ahead after) {
    const int64_t share = (after.lines + dim / 8 - 1) / (dim / 8);
    int64_t d = 0;
    if (R <= 4) {
        for (; d + 16 <= dim; d += 16) {
            fetch(&after, 2 * share);
            value_tile(f, R, 2, weights, dim, values, d, slots, sums);
        }
    }
    for (; d < dim; d += 8) {
        fetch(&after, share);
        value_tile(f, R, 1, weights, dim, values, d, slots, sums);
    }
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
    bool is_bytes, int64_t rows, const float *q, int64_t dim, const part *keys, int64_t blocks, float *scores, ahead after) {
#define HALF_CALL(R) score_few(HALVES, R, q, dim, keys, blocks, scores, after)
#define BYTE_CALL(R) score_few(BYTES, R, q, dim, keys, blocks, scores, after)
    if (is_bytes) BY_ROWS(BYTE_CALL) else BY_ROWS(HALF_CALL)
#undef BYTE_CALL
#undef HALF_CALL
}

static void value_block_few(
    bool is_bytes, int64_t rows, const float *weights, int64_t dim, const part *values, int64_t slots, float *sums, ahead after) {
#define HALF_CALL(R) value_few(HALVES, R, weights, dim, values, slots, sums, after)
#define BYTE_CALL(R) value_few(BYTES, R, weights, dim, values, slots, sums, after)
    if (is_bytes) BY_ROWS(BYTE_CALL) else BY_ROWS(HALF_CALL)
#undef BYTE_CALL
#undef HALF_CALL
}

static void score_block_many(int64_t rows, const float *q, int64_t dim, const float *widened, int64_t blocks, float *scores) {
    const part keys = {.data = (const uint8_t *)widened, .block_bytes = 8 * dim * (int64_t)sizeof(float)};
    int64_t k = 0;
    for (; k + 2 <= blocks; k += 2) {
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4) score_tile(FLOATS, 4, 2, q + r * dim, dim, &keys, k, scores + r * BLOCK + 8 * k);
        for (; r < rows; r++) score_tile(FLOATS, 1, 2, q + r * dim, dim, &keys, k, scores + r * BLOCK + 8 * k);
    }
    for (; k < blocks; k++) {
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4) score_tile(FLOATS, 4, 1, q + r * dim, dim, &keys, k, scores + r * BLOCK + 8 * k);
        for (; r < rows; r++) score_tile(FLOATS, 1, 1, q + r * dim, dim, &keys, k, scores + r * BLOCK + 8 * k);
    }
}

static void value_block_many(
    int64_t rows, const float *weights, int64_t dim, const float *widened, int64_t slots, float *sums) {
    const part values = {.data = (const uint8_t *)widened};
    int64_t d = 0;
    for (; d + 16 <= dim; d += 16) {
        int64_t r = 0;
        for (; r + 4 <= rows; r += 4) {
            value_tile(FLOATS, 4, 2, weights + r * BLOCK, dim, &values, d, slots, sums + r * dim);
        }
        for (; r < rows; r++) value_tile(FLOATS, 1, 2, weights + r * BLOCK, dim, &values, d, slots, sums + r * dim);
    }
    for (; d < dim; d += 8) {
        for (int64_t r = 0; r < rows; r++) {
            value_tile(FLOATS, 1, 1, weights + r * BLOCK, dim, &values, d, slots, sums + r * dim);
        }
    }
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
    for (int64_t i = 0; i < count; i += 8) _mm256_store_ps(destination + i, widen(source + i));
}

static void widen_keys(bool is_bytes, const part *keys, int64_t dim, int64_t blocks, float *widened) {
    if (!is_bytes) {
        widen_halves((const uint16_t *)keys->data, widened, blocks * 8 * dim);
        return;
    }
    for (int64_t k = 0; k < blocks; k++) {
        const int8_t *q = (const int8_t *)keys->data + k * keys->block_bytes;
        const uint16_t *scales = keys->scales + k * keys->block_bytes / 2;
        for (int64_t i = 0; i < dim; i++, widened += 8) {
            _mm256_store_ps(widened, widen_bytes(q + i * 8, widen(scales + i / CK_SCALE_RUN * 8)));
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
            _mm256_store_ps(
                widened, widen_bytes(q + i, _mm256_broadcast_ss(scales + s * runs + i / CK_SCALE_RUN)));
        }
    }
}

/// Turns one row's scores of a block into weights, and its sums so far to the new greatest score. `low` and `high` bound the
/// slots of the block that the row sees.
INLINE void weigh(
    float *scores, int64_t slots, int64_t low, int64_t high, float soft_cap, float *sums, int64_t dim, float *greatest,
    float *total) {
    const __m256 none = _mm256_set1_ps(-INFINITY);
    __m256 most = none;
    for (int64_t s = 0; s < slots; s += 8) {
        __m256 v = _mm256_load_ps(scores + s);
        if (soft_cap > 0) v = soft_cap_vector(v, _mm256_set1_ps(soft_cap), _mm256_set1_ps(1 / soft_cap));
        if (s < low || s + 8 > high) {
            const __m256i seen = _mm256_andnot_si256(
                first_lanes(ck_max(0, ck_min(8, low - s))), first_lanes(ck_max(0, ck_min(8, high - s))));
            v = _mm256_blendv_ps(none, v, _mm256_castsi256_ps(seen));
        }
        _mm256_store_ps(scores + s, v);
        most = _mm256_max_ps(v, most);
    }
    const float before = *greatest, now = greatest_of(most);
    if (now > before) {
        *greatest = now;
        if (before > -INFINITY) {
            const float shrink = expf(before - now);
            const __m256 factor = _mm256_set1_ps(shrink);
            *total *= shrink;
            for (int64_t i = 0; i < dim; i += 8) {
                _mm256_store_ps(sums + i, _mm256_mul_ps(_mm256_load_ps(sums + i), factor));
            }
        }
    }
    if (!(*greatest > -INFINITY)) {    // nothing seen so far, or nothing that is a number
        const bool sees = ck_max(0, low) < ck_min(slots, high);
        const __m256 weight = _mm256_set1_ps(sees ? NAN : 0);
        for (int64_t s = 0; s < slots; s += 8) _mm256_store_ps(scores + s, weight);
        // A score that nothing exceeds, so that the sums stay no numbers.
        if (sees) *greatest = *total = INFINITY;
        return;
    }
    const __m256 shift = _mm256_set1_ps(*greatest);
    __m256 sum = _mm256_setzero_ps();
    for (int64_t s = 0; s < slots; s += 8) {
        const __m256 v = exp_vector(_mm256_sub_ps(_mm256_load_ps(scores + s), shift));
        _mm256_store_ps(scores + s, v);
        sum = _mm256_add_ps(sum, v);
    }
    *total += sum_of(sum);
}

static int64_t most_rows(int32_t group) { return ck_max(CK_ATTENTION_ROWS, group); }

size_t ck_avx2_attention_scratch(int32_t group, int32_t head_dim) {
    const size_t rows = (size_t)most_rows(group), dim = (size_t)head_dim;
    return sizeof(float) * (rows * (2 * dim + BLOCK + 2 + 8) + 2 * BLOCK * dim + BLOCK * (size_t)ck_scale_runs(head_dim) + 64);
}

void ck_avx2_attention(const ck_attention_job *job) {
    const int64_t dim = job->head_dim, rows = job->tokens * job->group, most = most_rows(job->group);
    float *keys = job->scratch;                  // [BLOCK / 8, dim, 8], widened
    float *values = keys + BLOCK * dim;          // [BLOCK, dim], widened
    float *value_scales = values + BLOCK * dim;  // [BLOCK, runs]
    float *scores = value_scales + BLOCK * ck_scale_runs(dim);    // [rows, BLOCK]
    float *q = scores + most * BLOCK;            // [rows, dim], scaled
    float *sums = q + most * dim;                // [rows, dim]
    float *greatest = sums + most * dim, *total = greatest + most;    // [rows]

    const bool is_bytes = job->type == CK_Q8_0;
    const int64_t block_bytes = (int64_t)ck_cache_block_bytes(job->type, dim);
    const __m256 scale = _mm256_set1_ps(job->scale);
    for (int64_t r = 0; r < rows; r++) {
        const float *source = job->q + r / job->group * job->q_stride + r % job->group * dim;
        for (int64_t i = 0; i < dim; i += 8) {
            _mm256_store_ps(q + r * dim + i, _mm256_mul_ps(_mm256_loadu_ps(source + i), scale));
            _mm256_store_ps(sums + r * dim + i, _mm256_setzero_ps());
        }
        if (is_bytes) ck_spread_head(q + r * dim, dim);
        greatest[r] = -INFINITY;
        total[r] = 0;
    }
    for (int64_t begin = job->begin; begin < job->end; begin += BLOCK) {
        const int64_t slots = ck_min(BLOCK, job->end - begin), blocks = (slots + 7) / 8;
        const int64_t offset = begin / 8 * block_bytes;
        const part cached_keys = part_of(job->type, dim, job->keys + offset);
        part cached_values = part_of(job->type, dim, job->values + offset);
        if (rows <= FEW_ROWS) {
            const ahead after = {(const char *)job->values + offset, slots * block_bytes / 512};
            score_block_few(is_bytes, rows, q, dim, &cached_keys, blocks, scores, after);
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
            const int64_t left = ck_min(BLOCK, job->end - begin - slots);
            const ahead after = {
                (const char *)job->keys + offset + BLOCK / 8 * block_bytes, left * block_bytes / 512};
            value_block_few(is_bytes, rows, scores, dim, &cached_values, slots, sums, after);
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
            const __m256 inverse = _mm256_set1_ps(total[r] > 0 ? 1 / total[r] : 0);
            for (int64_t i = 0; i < dim; i += 8) {
                _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_load_ps(sums + r * dim + i), inverse));
            }
        }
    }
}

#pragma clang attribute pop
#endif
