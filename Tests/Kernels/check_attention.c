// Attention, against sums in double.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "formats.h"
#include "spread.h"

typedef struct {
    int32_t heads, kv_heads, dim;
    int64_t window;
    float soft_cap;
    ck_type type;    ///< of the cache
} test_case;

/// One sequence's cache and the numbers that were stored, as it keeps them.
typedef struct {
    ck_cache cache;
    float *keys, *values;    ///< [slots, kv_heads, dim]
    size_t bytes;
} test_cache;

/// Rounds the numbers of a head as a cache does.
static void keep(ck_type type, float *head, int64_t dim) {
    for (int64_t first = 0; first < dim; first += CK_SCALE_RUN) {
        const int64_t end = ck_min(dim, first + CK_SCALE_RUN);
        float greatest = 0;
        for (int64_t i = first; i < end; i++) greatest = fmaxf(greatest, fabsf(head[i]));
        const float scale = ck_half_to_float(ck_float_to_half(greatest / 127));
        for (int64_t i = first; i < end; i++) {
            head[i] = type == CK_Q8_0 ? scale * rintf(head[i] * (1 / scale)) : ck_half_to_float(ck_float_to_half(head[i]));
        }
    }
}

static test_cache *make_cache(const test_case *c, int64_t slots, ck_pool *pool) {
    test_cache *cache = allocate(sizeof *cache);
    const int64_t capacity = (slots + 20) / 8 * 8, width = (int64_t)c->kv_heads * c->dim;
    cache->bytes = ck_cache_bytes(c->type, c->kv_heads, c->dim, capacity);
    cache->cache = (ck_cache){ck_allocate(cache->bytes), ck_allocate(cache->bytes), capacity, c->type};
    cache->keys = random_floats(slots * width);
    cache->values = random_floats(slots * width);
    ck_token *tokens = allocate(sizeof(ck_token) * (size_t)slots);
    for (int64_t t = 0; t < slots; t++) tokens[t] = (ck_token){&cache->cache, t};
    ck_cache_store(pool, cache->keys, width, cache->values, width, tokens, slots, c->kv_heads, c->dim);
    for (int64_t i = 0; i < slots * c->kv_heads; i++) {
        float *key = cache->keys + i * c->dim;
        if (c->type == CK_Q8_0) ck_spread_head(key, c->dim);
        keep(c->type, key, c->dim);
        if (c->type == CK_Q8_0) ck_spread_head(key, c->dim);
        keep(c->type, cache->values + i * c->dim, c->dim);
    }
    free(tokens);
    return cache;
}

static void free_cache(test_cache *cache) {
    ck_free(cache->cache.keys, cache->bytes);
    ck_free(cache->cache.values, cache->bytes);
    free(cache->keys);
    free(cache->values);
    free(cache);
}

static ck_attention_shape shape_of(const test_case *c) {
    return (ck_attention_shape){c->heads, c->kv_heads, c->dim, 1 / sqrtf((float)c->dim), c->soft_cap, c->window};
}

/// What one token should get.
static void reference(const test_case *c, const test_cache *cache, const float *q, int64_t position, double *out) {
    const int64_t first = c->window > 0 ? ck_max(0, position - c->window + 1) : 0;
    double *weights = allocate(sizeof(double) * (size_t)(position + 1));
    for (int32_t head = 0; head < c->heads; head++, q += c->dim, out += c->dim) {
        const int64_t kv_head = head / (c->heads / c->kv_heads);
        double greatest = -INFINITY, total = 0;
        for (int64_t s = first; s <= position; s++) {
            const float *key = cache->keys + (s * c->kv_heads + kv_head) * c->dim;
            double score = 0;
            for (int32_t i = 0; i < c->dim; i++) score += (double)q[i] * key[i];
            score /= sqrt((double)c->dim);
            if (c->soft_cap > 0) score = c->soft_cap * tanh(score / c->soft_cap);
            weights[s] = score;
            greatest = fmax(greatest, score);
        }
        for (int32_t i = 0; i < c->dim; i++) out[i] = 0;
        for (int64_t s = first; s <= position; s++) {
            const float *value = cache->values + (s * c->kv_heads + kv_head) * c->dim;
            const double weight = exp(weights[s] - greatest);
            total += weight;
            for (int32_t i = 0; i < c->dim; i++) out[i] += weight * value[i];
        }
        for (int32_t i = 0; i < c->dim; i++) out[i] /= total;
    }
    free(weights);
}

static void check_result(const char *what, const test_case *c, const float *out, const double *expected, int64_t count) {
    double *scale = allocate(sizeof(double) * (size_t)count);
    for (int64_t i = 0; i < count; i++) scale[i] = fabs(expected[i]) + 1;
    const double error = greatest_error(out, expected, scale, count);
    CHECK(error < 2e-5, "%s, %d/%d heads of %d, %s: error %g", what, c->heads, c->kv_heads, c->dim, ck_type_name(c->type), error);
    free(scale);
}

/// A batch of two sequences: a chunk of one, single tokens of the other, at positions that fall on and off blocks.
static void check_batch(const test_case *c, ck_pool *pool) {
    test_cache *long_cache = make_cache(c, 150, pool), *other = make_cache(c, 70, pool);
    const int64_t positions[] = {0, 69, 149, 63, 64, 7};
    enum { RUN = 10, TOKENS = RUN + 6 };
    test_cache *of[TOKENS];
    ck_token tokens[TOKENS];
    for (int t = 0; t < TOKENS; t++) {
        of[t] = t < RUN || t == RUN + 2 ? long_cache : other;
        tokens[t] = (ck_token){&of[t]->cache, t < RUN ? 122 + t : positions[t - RUN]};
    }
    const int64_t width = (int64_t)c->heads * c->dim;
    float *q = random_floats(TOKENS * width), *out = allocate(sizeof(float) * (size_t)(TOKENS * width));
    double *expected = allocate(sizeof(double) * (size_t)(TOKENS * width));
    for (int t = 0; t < TOKENS; t++) reference(c, of[t], q + t * width, tokens[t].position, expected + t * width);
    for (int scalar = 0; scalar < 2; scalar++) {
        CHECK(ck_select(scalar ? CK_SET_SCALAR : tested), "choice");
        CHECK(ck_attention(pool, q, width, tokens, TOKENS, shape_of(c), out, width), "no memory");
        check_result(scalar ? "scalar" : "batch", c, out, expected, TOKENS * width);
    }
    CHECK(ck_select(tested), "choice");
    // Out may be where the input is.
    CHECK(ck_attention(pool, q, width, tokens, TOKENS, shape_of(c), q, width), "no memory");
    check_result("in place", c, q, expected, TOKENS * width);
    free(q);
    free(out);
    free(expected);
    free_cache(long_cache);
    free_cache(other);
}

/// Without an order of time, at lengths on both sides of what is taken at once.
static void check_to_all(ck_pool *pool, int64_t length) {
    const test_case c = {4, 2, 24, 0, 0, CK_F16};
    test_cache *cache = make_cache(&c, length + 5, pool);
    const int64_t width = (int64_t)c.heads * c.dim;
    float *q = random_floats(length * width), *out = allocate(sizeof(float) * (size_t)(length * width));
    double *expected = allocate(sizeof(double) * (size_t)(length * width));
    ck_token *tokens = allocate(sizeof(ck_token) * (size_t)length);
    for (int64_t t = 0; t < length; t++) {
        tokens[t] = (ck_token){&cache->cache, t};
        reference(&c, cache, q + t * width, length - 1, expected + t * width);
    }
    CHECK(ck_attention_to_all(pool, q, width, tokens, length, length, shape_of(&c), out, width), "no memory");
    check_result("to all", &c, out, expected, length * width);
    free(q);
    free(out);
    free(expected);
    free(tokens);
    free_cache(cache);
}

/// To the last bit, over several ranges of slots, beside any others and on any number of threads.
static void check_invariance(const test_case *c, ck_pool *pools[3]) {
    const int64_t slots = 1100, width = (int64_t)c->heads * c->dim;
    test_cache *cache = make_cache(c, slots, pools[0]), *other = make_cache(c, 40, pools[0]);
    float *q = random_floats(slots * width);
    const int64_t runs[][2] = {{508, 8}, {1023, 2}, {500, 14}, {1000, 24}, {0, 70}, {900, 1}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        const int64_t first = runs[r][0], count = runs[r][1], beside = 17;
        const size_t bytes = sizeof(float) * (size_t)(count * width);
        float *alone = allocate(bytes), *queries = allocate(sizeof(float) * (size_t)((count + beside) * width));
        float *out = allocate(sizeof(float) * (size_t)((count + beside) * width));
        ck_token tokens[70 + 17];
        for (int64_t t = 0; t < count; t++) {
            tokens[t] = (ck_token){&cache->cache, first + t};
            CHECK(
                ck_attention(
                    pools[0], q + (first + t) * width, width, tokens + t, 1, shape_of(c), alone + t * width, width),
                "no memory");
        }
        for (int64_t t = 0; t < beside; t++) tokens[count + t] = (ck_token){&other->cache, t};
        memcpy(queries, q + first * width, bytes);
        memcpy(queries + count * width, q, sizeof(float) * (size_t)(beside * width));
        for (int i = 0; i < 4; i++) {
            const int64_t together = count + (i % 2 ? beside : 0);
            CHECK(ck_attention(pools[i * 2 / 3], queries, width, tokens, together, shape_of(c), out, width), "no memory");
            CHECK(
                memcmp(out, alone, bytes) == 0, "%d/%d heads of %d, %lld tokens from %lld, %lld together", c->heads,
                c->kv_heads, c->dim, (long long)count, (long long)first, (long long)together);
        }
        free(alone);
        free(queries);
        free(out);
    }
    free(q);
    free_cache(cache);
    free_cache(other);
}

static void check_no_numbers(ck_pool *pool, int64_t slots, ck_type type) {
    const test_case c = {2, 1, 32, 0, 0, type};
    test_cache *cache = make_cache(&c, slots, pool);
    const ck_token token = {&cache->cache, slots - 1};
    float *q = random_floats(64), out[64];
    q[5] = NAN;
    CHECK(ck_attention(pool, q, 64, &token, 1, shape_of(&c), out, 64), "no memory");
    // One head's; the other's is sound.
    int none = 0;
    for (int i = 0; i < 32; i++) none += isnan(out[i]);
    CHECK(none == 32 && ck_all_finite(out + 32, 32), "%lld slots: %d of 32", (long long)slots, none);
    free(q);
    free_cache(cache);
}

void check_attention(void) {
    ck_pool *pools[3] = {ck_pool_create(1), ck_pool_create(2), ck_pool_create(4)};
    const ck_type types[] = {CK_F16, CK_Q8_0};
    for (int t = 0; t < 2; t++) {
        const ck_type type = types[t];
        const test_case cases[] = {
            {9, 3, 64, 0, 0, type}, {4, 1, 256, 24, 0, type}, {12, 2, 128, 0, 0, type}, {14, 2, 64, 1, 0, type},
            {2, 2, 80, 0, 20, type}, {3, 3, 96, 70, 0, type}, {5, 1, 8, 0, 0, type}, {72, 1, 40, 0, 5, type},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_batch(&cases[i], pools[i % 3]);
        const test_case invariant[] = {
            {6, 1, 16, 0, 0, type}, {2, 1, 32, 600, 0, type}, {2, 2, 24, 0, 0, type}, {2, 2, 8, 0, 20, type}};
        for (size_t i = 0; i < sizeof invariant / sizeof *invariant; i++) check_invariance(&invariant[i], pools);
        const int64_t slots[] = {1, 20, 1100};
        for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) check_no_numbers(pools[0], slots[i], type);
    }
    const int64_t lengths[] = {1, 7, 8, 9, 64, 65, 150};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) check_to_all(pools[1], lengths[i]);
    for (int i = 0; i < 3; i++) ck_pool_destroy(pools[i]);
}
