/// Attention over the cache: storing, cutting into jobs (tokens × kv heads × ranges of slots), putting ranges together.
#include <math.h>
#include <string.h>

#include "formats.h"
#include "internal.h"
#include "spread.h"

// MARK: - Storing

typedef struct {
    const float *keys, *values;
    int64_t keys_stride, values_stride;
    const ck_token *tokens;
    int64_t count;
    int32_t kv_heads, head_dim;
} storing;

/// Key and value of one head of the slot at `place` of a block.
static void store_halves(
    const float *key, const float *value, int64_t dim, uint16_t *key_block, uint16_t *value_block, int64_t place) {
    for (int64_t i = 0; i < dim; i += 8) {
        uint16_t halves[8];
        ck_f32_to_f16(key + i, halves, 8);
        for (int j = 0; j < 8; j++) key_block[(i + j) * CK_CACHE_BLOCK + place] = halves[j];
    }
    ck_f32_to_f16(value, value_block + place * dim, dim);
}

/// Rounds a run of numbers to `scale · q`, q in -127...127, and returns the scale. It is no finite number where one of the
/// numbers is none, or where they are too large for it: their products are none then.
static uint16_t round_run(const float *x, int64_t count, int8_t *q) {
    float greatest = 0;
    bool is_number = true;
    for (int64_t i = 0; i < count; i++) {
        const float size = fabsf(x[i]);
        is_number &= size <= 3.4e38f;
        greatest = size > greatest ? size : greatest;
    }
    // What is rounded is divided by the scale as it is kept.
    const uint16_t scale = ck_float_to_half(is_number ? greatest / 127 : NAN);
    const float kept = ck_half_to_float(scale), inverse = kept > 0 && kept <= 65504 ? 1 / kept : 0;
    if (inverse == 0) {
        memset(q, 0, (size_t)count);
        return scale;
    }
    for (int64_t i = 0; i < count; i++) {
        float scaled = x[i] * inverse;
        // A scale below the normal halves may be too small by half.
        scaled = scaled > 127 ? 127 : scaled < -127 ? -127 : scaled;
        // To the nearest integer: from 2²³ to 2²⁴ floats have no other.
        const float shift = 12582912;
        q[i] = (int8_t)(int32_t)((scaled + shift) - shift);
    }
    return scale;
}

static void store_bytes(
    const float *key, const float *value, int64_t dim, uint8_t *key_block, uint8_t *value_block, int64_t place) {
    const int64_t runs = ck_scale_runs(dim), scales = ck_scales_of_block(CK_Q8_0, dim);
    uint16_t *key_scales = (uint16_t *)key_block + place, *value_scales = (uint16_t *)value_block + place * runs;
    int8_t *keys = (int8_t *)key_block + 2 * scales + place, *values = (int8_t *)value_block + 2 * scales + place * dim;
    for (int64_t run = 0; run < runs; run++) {
        const int64_t first = run * CK_SCALE_RUN, count = ck_min(CK_SCALE_RUN, dim - first);
        float turned[CK_SCALE_RUN];
        int8_t q[CK_SCALE_RUN];
        memcpy(turned, key + first, sizeof(float) * (size_t)count);
        ck_spread_run(turned, count);
        key_scales[run * CK_CACHE_BLOCK] = round_run(turned, count, q);
        for (int64_t i = 0; i < count; i++) keys[(first + i) * CK_CACHE_BLOCK] = q[i];
        value_scales[run] = round_run(value + first, count, values + first);
    }
}

static void store_token(const storing *s, int64_t index) {
    const ck_cache *cache = s->tokens[index].cache;
    const int64_t slot = s->tokens[index].position, dim = s->head_dim;
    const int64_t blocks = cache->capacity / CK_CACHE_BLOCK, place = slot % CK_CACHE_BLOCK;
    const size_t block_bytes = ck_cache_block_bytes(cache->type, dim);
    for (int64_t h = 0; h < s->kv_heads; h++) {
        const float *key = s->keys + index * s->keys_stride + h * dim;
        const float *value = s->values + index * s->values_stride + h * dim;
        const size_t offset = (size_t)(h * blocks + slot / CK_CACHE_BLOCK) * block_bytes;
        uint8_t *key_block = (uint8_t *)cache->keys + offset, *value_block = (uint8_t *)cache->values + offset;
        if (cache->type == CK_Q8_0) {
            store_bytes(key, value, dim, key_block, value_block, place);
        } else {
            store_halves(key, value, dim, (uint16_t *)key_block, (uint16_t *)value_block, place);
        }
    }
}

/// Eight tokens, which usually share their blocks of keys, so that threads do not write to the same cache lines.
static void store_tokens(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const storing *s = context;
    for (int64_t t = 8 * index; t < ck_min(s->count, 8 * index + 8); t++) store_token(s, t);
}

void ck_cache_store(
    ck_pool *pool, const float *keys, int64_t keys_stride, const float *values, int64_t values_stride, const ck_token *tokens,
    int64_t count, int32_t kv_heads, int32_t head_dim) {
    storing s = {keys, values, keys_stride, values_stride, tokens, count, kv_heads, head_dim};
    ck_pool_for(pool, (count + 7) / 8, store_tokens, &s);
}

// MARK: - Attending
//
// What a token gets must not depend on the tokens beside it, on the number of threads or on which of them computes what:
// an answer is then the same whether its tokens come one by one, in a batch with others or as a draft. So slots are cut at
// fixed places, whoever computes them, and the parts are always put together in the same order.

/// Slots of a range, a multiple of what kernels take at once.
#define RANGE_SLOTS 256
/// What kernels take at once: a window begins at a multiple of it.
#define WINDOW_SLOTS 64

typedef struct {
    ck_pool *pool;
    const ck_kernels *kernels;
    const float *q;
    int64_t q_stride;
    const ck_token *tokens;
    int64_t count;
    int64_t slots;             ///< that every token sees; 0: those up to its own
    ck_attention_shape shape;
    float *out;
    int64_t out_stride;
    size_t kernel_scratch;
    const int64_t *runs;       ///< starts of the runs, and the end
    int64_t ranges;            ///< the most of a run
    float *partials;           ///< [count, kv_heads, ranges, group, head_dim + 2], where ranges are shared out
} call;

/// The slots that a run of tokens sees.
static void slots_of(const call *c, int64_t token, int64_t tokens, int64_t *begin, int64_t *end) {
    if (c->slots > 0) {
        *begin = 0;
        *end = c->slots;
        return;
    }
    const int64_t first = c->tokens[token].position;
    *begin = c->shape.window > 0 ? ck_max(0, first - c->shape.window + 1) / WINDOW_SLOTS * WINDOW_SLOTS : 0;
    *end = first + tokens;
}

static int64_t ranges_of(const call *c, int64_t token, int64_t tokens) {
    int64_t begin, end;
    slots_of(c, token, tokens, &begin, &end);
    return (end - 1) / RANGE_SLOTS - begin / RANGE_SLOTS + 1;
}

/// For one range of a run; the range may be past the end.
static ck_attention_job job_of(
    const call *c, int64_t token, int64_t tokens, int64_t kv_head, int64_t range, int32_t thread) {
    const ck_cache *cache = c->tokens[token].cache;
    const int32_t dim = c->shape.head_dim, group = c->shape.heads / c->shape.kv_heads;
    int64_t begin, end;
    slots_of(c, token, tokens, &begin, &end);
    const int64_t first = (begin / RANGE_SLOTS + range) * RANGE_SLOTS;
    const size_t head_offset = (size_t)kv_head * ck_cache_bytes(cache->type, 1, dim, cache->capacity);
    return (ck_attention_job){
        .q = c->q + token * c->q_stride + kv_head * group * dim,
        .q_stride = c->q_stride,
        .tokens = tokens,
        // From the last slot on there is nothing to hide.
        .position = c->slots > 0 ? c->slots - 1 : c->tokens[token].position,
        .group = group,
        .head_dim = dim,
        .type = cache->type,
        .keys = (const uint8_t *)cache->keys + head_offset,
        .values = (const uint8_t *)cache->values + head_offset,
        .scale = c->shape.scale,
        .soft_cap = c->shape.soft_cap,
        .window = c->shape.window,
        .begin = ck_min(end, ck_max(begin, first)),
        .end = ck_min(end, first + RANGE_SLOTS),
        .out = c->out + token * c->out_stride + kv_head * group * dim,
        .out_stride = c->out_stride,
        .scratch = ck_pool_scratch(c->pool, thread),
    };
}

/// Adds one row's sums over a range to those over the ranges before. Both are the weighted sum of the values, the greatest
/// score and the sum of the weights; without a score that is greater than -infinity, a range had nothing to see.
static __attribute__((noinline)) void join(float *so_far, const float *part, int64_t dim) {
    if (!(part[dim] > -INFINITY)) return;
    if (!(so_far[dim] > -INFINITY)) {
        memcpy(so_far, part, (size_t)(dim + 2) * sizeof(float));
        return;
    }
    const float greatest = fmaxf(so_far[dim], part[dim]);
    const float old = expf(so_far[dim] - greatest), new = expf(part[dim] - greatest);
    for (int64_t i = 0; i < dim; i++) so_far[i] = so_far[i] * old + part[i] * new;
    so_far[dim] = greatest;
    so_far[dim + 1] = so_far[dim + 1] * old + part[dim + 1] * new;
}

static __attribute__((noinline)) void finish(const float *sums, int64_t dim, float *out) {
    const float inverse = sums[dim + 1] > 0 ? 1 / sums[dim + 1] : 0;
    for (int64_t i = 0; i < dim; i++) out[i] = sums[i] * inverse;
}

/// All ranges of a run, one after the other.
static void attend_run(void *context, int64_t index, int32_t thread) {
    const call *c = context;
    const int64_t run = index / c->shape.kv_heads, kv_head = index % c->shape.kv_heads;
    const int64_t first = c->runs[run], tokens = c->runs[run + 1] - first, ranges = ranges_of(c, first, tokens);
    ck_attention_job job = job_of(c, first, tokens, kv_head, 0, thread);
    if (ranges == 1) {
        c->kernels->attention(&job);
        return;
    }
    const int64_t rows = tokens * job.group, width = job.head_dim + 2;
    float *so_far = (float *)((uint8_t *)job.scratch + c->kernel_scratch), *part = so_far + rows * width;
    for (int64_t range = 0; range < ranges; range++) {
        job = job_of(c, first, tokens, kv_head, range, thread);
        job.partial = range == 0 ? so_far : part;
        c->kernels->attention(&job);
        if (range == 0) continue;
        for (int64_t row = 0; row < rows; row++) join(so_far + row * width, part + row * width, job.head_dim);
    }
    for (int64_t row = 0; row < rows; row++) {
        finish(
            so_far + row * width, job.head_dim,
            job.out + row / job.group * job.out_stride + row % job.group * job.head_dim);
    }
}

/// Where the sums of a run's range begin.
static float *partial_of(const call *c, int64_t run, int64_t kv_head, int64_t range) {
    const int64_t group = c->shape.heads / c->shape.kv_heads, first = c->runs[run], tokens = c->runs[run + 1] - first;
    return c->partials
        + ((first * c->shape.kv_heads + kv_head * tokens) * c->ranges + range * tokens) * group * (c->shape.head_dim + 2);
}

/// One range of a run.
static void attend_range(void *context, int64_t index, int32_t thread) {
    const call *c = context;
    const int64_t range = index % c->ranges, kv_head = index / c->ranges % c->shape.kv_heads;
    const int64_t run = index / c->ranges / c->shape.kv_heads;
    const int64_t first = c->runs[run], tokens = c->runs[run + 1] - first;
    if (range >= ranges_of(c, first, tokens)) return;
    ck_attention_job job = job_of(c, first, tokens, kv_head, range, thread);
    job.partial = partial_of(c, run, kv_head, range);
    c->kernels->attention(&job);
}

/// Puts together the ranges of a run.
static void join_ranges(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const call *c = context;
    const int64_t run = index / c->shape.kv_heads, kv_head = index % c->shape.kv_heads;
    const int64_t group = c->shape.heads / c->shape.kv_heads, dim = c->shape.head_dim, width = dim + 2;
    const int64_t first = c->runs[run], tokens = c->runs[run + 1] - first, ranges = ranges_of(c, first, tokens);
    float *so_far = partial_of(c, run, kv_head, 0);
    for (int64_t row = 0; row < tokens * group; row++) {
        for (int64_t range = 1; range < ranges; range++) {
            join(so_far + row * width, partial_of(c, run, kv_head, range) + row * width, dim);
        }
        float *out = c->out + (first + row / group) * c->out_stride + (kv_head * group + row % group) * dim;
        finish(so_far + row * width, dim, out);
    }
}

static bool attend(
    ck_pool *pool, const float *q, int64_t q_stride, const ck_token *tokens, int64_t count, int64_t slots,
    ck_attention_shape shape, float *out, int64_t out_stride) {
    if (count <= 0) return true;
    const int32_t group = shape.heads / shape.kv_heads;
    call c = {
        .pool = pool,
        .kernels = ck_kernels_in_use(),
        .q = q,
        .q_stride = q_stride,
        .tokens = tokens,
        .count = count,
        .slots = slots,
        .shape = shape,
        .out = out,
        .out_stride = out_stride,
    };
    // Runs of neighbouring positions of one cache.
    int64_t *runs = ck_pool_shared(pool, 1, (size_t)(count + 1) * sizeof(int64_t));
    if (!runs) return false;
    int64_t run_count = 0, longest = 0;
    for (int64_t t = 0; t < count; t++) {
        const bool follows = t > 0 && tokens[t].cache == tokens[t - 1].cache
            && tokens[t].position == tokens[t - 1].position + 1
            && (t + 1 - runs[run_count - 1]) * group <= CK_ATTENTION_ROWS;
        if (!follows) runs[run_count++] = t;
        longest = ck_max(longest, t + 1 - runs[run_count - 1]);
    }
    runs[run_count] = count;
    c.runs = runs;
    for (int64_t run = 0; run < run_count; run++) {
        c.ranges = ck_max(c.ranges, ranges_of(&c, runs[run], runs[run + 1] - runs[run]));
    }
    const size_t row_bytes = (size_t)(shape.head_dim + 2) * sizeof(float);
    c.kernel_scratch = (c.kernels->attention_scratch(group, shape.head_dim) + 63) / 64 * 64;
    if (!ck_pool_reserve(pool, c.kernel_scratch + 2 * (size_t)(longest * group) * row_bytes)) return false;

    // With few jobs (decoding with few heads), the ranges of long contexts are shared out, so that every thread has
    // something to do.
    const int64_t jobs = run_count * shape.kv_heads, wanted = 4 * ck_pool_threads(pool);
    if (c.ranges > 1 && jobs < wanted && ck_pool_threads(pool) > 1) {
        if (!(c.partials = ck_pool_shared(pool, 2, (size_t)(count * shape.kv_heads * c.ranges * group) * row_bytes))) {
            return false;
        }
        ck_pool_for(pool, jobs * c.ranges, attend_range, &c);
        ck_pool_for(pool, jobs, join_ranges, &c);
    } else {
        ck_pool_for(pool, jobs, attend_run, &c);
    }
    return true;
}

bool ck_attention(
    ck_pool *pool, const float *q, int64_t q_stride, const ck_token *tokens, int64_t count, ck_attention_shape shape, float *out,
    int64_t out_stride) {
    return attend(pool, q, q_stride, tokens, count, 0, shape, out, out_stride);
}

bool ck_attention_to_all(
    ck_pool *pool, const float *q, int64_t q_stride, const ck_token *tokens, int64_t count, int64_t slots,
    ck_attention_shape shape, float *out, int64_t out_stride) {
    shape.window = 0;
    return attend(pool, q, q_stride, tokens, count, slots, shape, out, out_stride);
}
