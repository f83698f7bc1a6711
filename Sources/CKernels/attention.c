/// Attention over the cache: storing, cutting into jobs (tokens × kv heads × ranges of slots), putting ranges together.
#include <math.h>
#include <string.h>

#include "internal.h"

// MARK: - Storing

typedef struct {
    const float *keys, *values;
    int64_t keys_stride, values_stride;
    const ck_token *tokens;
    int64_t count;
    int32_t kv_heads, head_dim;
} storing;

static void store_token(const storing *s, int64_t index) {
    const ck_cache *cache = s->tokens[index].cache;
    const int64_t slot = s->tokens[index].position, dim = s->head_dim;
    for (int64_t h = 0; h < s->kv_heads; h++) {
        const float *key = s->keys + index * s->keys_stride + h * dim;
        uint16_t *place = cache->keys + (h * (cache->capacity / CK_KEY_BLOCK) + slot / CK_KEY_BLOCK) * dim * CK_KEY_BLOCK
            + slot % CK_KEY_BLOCK;
        for (int64_t i = 0; i < dim; i += 8) {
            uint16_t halves[8];
            ck_f32_to_f16(key + i, halves, 8);
            for (int j = 0; j < 8; j++) place[(i + j) * CK_KEY_BLOCK] = halves[j];
        }
        ck_f32_to_f16(s->values + index * s->values_stride + h * dim, cache->values + (h * cache->capacity + slot) * dim, dim);
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

/// Slots of a range at least; below it the work is not worth cutting.
#define RANGE_SLOTS 256

typedef struct {
    ck_pool *pool;
    const ck_kernels *kernels;
    const float *q;
    int64_t q_stride;
    const ck_token *tokens;
    int64_t count;
    ck_attention_shape shape;
    float *out;
    int64_t out_stride;
    int64_t ranges;            ///< per token; 1 when runs of tokens are long
    float *partials;           ///< [count, kv_heads, ranges, group, head_dim + 2], with ranges > 1
    const int64_t *runs;       ///< starts of the runs, and the end; NULL: every token is its own run
} call;

static void slots_of(const call *c, int64_t token, int64_t tokens, int64_t *begin, int64_t *end) {
    const int64_t first = c->tokens[token].position;
    *begin = c->shape.window > 0 ? ck_max(0, first - c->shape.window + 1) / CK_KEY_BLOCK * CK_KEY_BLOCK : 0;
    *end = first + tokens;
}

static ck_attention_job job_of(const call *c, int64_t token, int64_t tokens, int64_t kv_head, int32_t thread) {
    const ck_cache *cache = c->tokens[token].cache;
    const int32_t dim = c->shape.head_dim, group = c->shape.heads / c->shape.kv_heads;
    return (ck_attention_job){
        .q = c->q + token * c->q_stride + kv_head * group * dim,
        .q_stride = c->q_stride,
        .tokens = tokens,
        .position = c->tokens[token].position,
        .group = group,
        .head_dim = dim,
        .keys = cache->keys + kv_head * cache->capacity * dim,
        .values = cache->values + kv_head * cache->capacity * dim,
        .scale = c->shape.scale,
        .soft_cap = c->shape.soft_cap,
        .window = c->shape.window,
        .out = c->out + token * c->out_stride + kv_head * group * dim,
        .out_stride = c->out_stride,
        .scratch = ck_pool_scratch(c->pool, thread),
    };
}

static void attend_run(void *context, int64_t index, int32_t thread) {
    const call *c = context;
    const int64_t run = index / c->shape.kv_heads, kv_head = index % c->shape.kv_heads;
    const int64_t first = c->runs ? c->runs[run] : run, end = c->runs ? c->runs[run + 1] : run + 1;
    ck_attention_job job = job_of(c, first, end - first, kv_head, thread);
    slots_of(c, first, job.tokens, &job.begin, &job.end);
    c->kernels->attention(&job);
}

static void attend_range(void *context, int64_t index, int32_t thread) {
    const call *c = context;
    const int64_t range = index % c->ranges, kv_head = index / c->ranges % c->shape.kv_heads;
    const int64_t token = index / c->ranges / c->shape.kv_heads;
    ck_attention_job job = job_of(c, token, 1, kv_head, thread);
    int64_t begin, end;
    slots_of(c, token, 1, &begin, &end);
    const int64_t each = ((end - begin + c->ranges - 1) / c->ranges + CK_KEY_BLOCK - 1) / CK_KEY_BLOCK * CK_KEY_BLOCK;
    job.begin = ck_min(end, begin + range * each);
    job.end = ck_min(end, job.begin + each);
    job.partial = c->partials + index * job.group * (job.head_dim + 2);
    c->kernels->attention(&job);
}

/// Puts together the ranges of one token's heads.
static void join_ranges(const call *c, int64_t token) {
    const int64_t dim = c->shape.head_dim, group = c->shape.heads / c->shape.kv_heads;
    for (int64_t head = 0; head < c->shape.heads; head++) {
        const float *parts = c->partials
            + ((token * c->shape.kv_heads + head / group) * c->ranges * group + head % group) * (dim + 2);
        float *out = c->out + token * c->out_stride + head * dim;
        float greatest = -INFINITY, total = 0;
        for (int64_t r = 0; r < c->ranges; r++) greatest = fmaxf(greatest, parts[r * group * (dim + 2) + dim]);
        for (int64_t i = 0; i < dim; i++) out[i] = 0;
        for (int64_t r = 0; r < c->ranges; r++) {
            const float *part = parts + r * group * (dim + 2);
            if (!(part[dim] > -INFINITY)) continue;
            float weight = expf(part[dim] - greatest);
            total += weight * part[dim + 1];
            for (int64_t i = 0; i < dim; i++) out[i] += weight * part[i];
        }
        float inverse = total > 0 ? 1 / total : 0;
        for (int64_t i = 0; i < dim; i++) out[i] *= inverse;
    }
}

bool ck_attention(
    ck_pool *pool, const float *q, int64_t q_stride, const ck_token *tokens, int64_t count, ck_attention_shape shape, float *out,
    int64_t out_stride) {
    if (count <= 0) return true;
    const int32_t group = shape.heads / shape.kv_heads;
    call c = {
        .pool = pool,
        .kernels = ck_kernels_in_use(),
        .q = q,
        .q_stride = q_stride,
        .tokens = tokens,
        .count = count,
        .shape = shape,
        .out = out,
        .out_stride = out_stride,
        .ranges = 1,
    };
    if (!ck_pool_reserve(pool, c.kernels->attention_scratch(group, shape.head_dim))) return false;
    // Runs of neighbouring positions of one cache.
    int64_t *runs = ck_pool_shared(pool, 1, (size_t)(count + 1) * sizeof(int64_t));
    if (!runs) return false;
    int64_t run_count = 0, longest = 0, slots = 0;
    for (int64_t t = 0; t < count; t++) {
        const bool follows = t > 0 && tokens[t].cache == tokens[t - 1].cache
            && tokens[t].position == tokens[t - 1].position + 1
            && (t + 1 - runs[run_count - 1]) * group <= CK_ATTENTION_ROWS;
        if (!follows) runs[run_count++] = t;
        longest = ck_max(longest, t + 1 - runs[run_count - 1]);
        int64_t begin, end;
        slots_of(&c, t, 1, &begin, &end);
        slots = ck_max(slots, end - begin);
    }
    runs[run_count] = count;
    c.runs = runs;

    // With few jobs (decoding with few heads), long contexts are cut so that every thread has something to do.
    const int64_t jobs = run_count * shape.kv_heads, wanted = 4 * ck_pool_threads(pool);
    if (longest == 1 && jobs < wanted && ck_pool_threads(pool) > 1) {
        c.ranges = ck_max(1, ck_min((wanted + jobs - 1) / jobs, slots / RANGE_SLOTS));
    }
    if (c.ranges > 1) {
        size_t bytes = (size_t)(jobs * c.ranges * group * (shape.head_dim + 2)) * sizeof(float);
        if (!(c.partials = ck_pool_shared(pool, 2, bytes))) return false;
        c.runs = NULL;
        ck_pool_for(pool, jobs * c.ranges, attend_range, &c);
        for (int64_t t = 0; t < count; t++) join_ranges(&c, t);
    } else {
        ck_pool_for(pool, jobs, attend_run, &c);
    }
    return true;
}
