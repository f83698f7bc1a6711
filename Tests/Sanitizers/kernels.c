// Runs every kernel of every instruction set on exactly sized heap memory, for the sanitizers to watch, and holds the fast
// ones against the plain one. Built and run by `kernels.sh`.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CKernels.h"

/// The plain set, and a fast one.
static ck_instruction_set sets[2] = {CK_SET_SCALAR, CK_SET_SCALAR};

static uint64_t state = 1;

static uint32_t next(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static float number(void) { return (float)(next() % 2001) / 1000 - 1; }

static float *numbers(int64_t count) {
    float *x = malloc(sizeof(float) * (size_t)(count > 0 ? count : 1));
    for (int64_t i = 0; i < count; i++) x[i] = number();
    return x;
}

static void check(const char *what, const float *a, const float *b, int64_t count, float tolerance) {
    for (int64_t i = 0; i < count; i++) {
        if (!(fabsf(a[i] - b[i]) <= tolerance * (1 + fabsf(b[i])))) {
            fprintf(stderr, "%s: element %lld is %g instead of %g\n", what, (long long)i, a[i], b[i]);
            exit(1);
        }
    }
}

static void matmul(ck_pool *pool, ck_type type, bool fine, int64_t rows, int64_t cols, int64_t tokens) {
    const size_t bytes = ck_matrix_bytes(type, rows, cols);
    uint8_t *file = malloc(bytes);
    // Two bytes of a half or float never have an exponent that is large.
    for (size_t i = 0; i < bytes; i++) file[i] = (uint8_t)(next() & (i % 2 ? 0x33 : 0xff));
    if (type == CK_F32) {
        for (int64_t i = 0; i < rows * cols; i++) ((float *)(void *)file)[i] = number();
    }
    void *prepared = malloc(bytes);
    if (!ck_pack(type, file, prepared, rows, cols)) exit(1);
    const ck_matrix matrix = {type, rows, cols, prepared, fine};
    float *x = numbers(tokens * cols), *bias = numbers(rows), *ys[2];
    int32_t *some = malloc(sizeof(int32_t) * (size_t)rows);
    for (int64_t i = 0; i < rows; i++) some[i] = (int32_t)(rows - 1 - i);
    for (int set = 0; set < 2; set++) {
        ys[set] = calloc((size_t)(tokens * rows), sizeof(float));
        if (!ck_select(sets[set])) {
            memcpy(ys[set], ys[0], sizeof(float) * (size_t)(tokens * rows));
            continue;
        }
        const ck_product products[2] = {{&matrix, ys[set], rows, bias, false}, {&matrix, ys[set], rows, NULL, true}};
        if (!ck_matmul(pool, x, cols, tokens, products, 1) || !ck_matmul(pool, x, cols, tokens, products + 1, 1)) exit(1);
        float *few = malloc(sizeof(float) * (size_t)rows);
        if (!ck_matmul_rows(pool, x, &matrix, NULL, some, rows, few)) exit(1);
        free(few);
        float *row = malloc(sizeof(float) * (size_t)(rows * cols));
        ck_embed(pool, &matrix, some, rows, 2, row);
        free(row);
    }
    float scale = 0;
    for (int64_t i = 0; i < tokens * rows; i++) scale = fmaxf(scale, fabsf(ys[0][i]));
    for (int64_t i = 0; i < tokens * rows; i++) {
        ys[0][i] /= 1 + scale;
        ys[1][i] /= 1 + scale;
    }
    check(ck_type_name(type), ys[1], ys[0], tokens * rows, 1e-5f);
    free(file);
    free(prepared);
    free(x);
    free(bias);
    free(some);
    free(ys[0]);
    free(ys[1]);
}

static void attention(
    ck_pool *pool, ck_type type, int32_t heads, int32_t kv_heads, int32_t dim, int64_t window, float cap) {
    const int64_t capacity = 608, count = 45;
    const size_t bytes = ck_cache_bytes(type, kv_heads, dim, capacity);
    ck_cache cache = {calloc(bytes, 1), calloc(bytes, 1), capacity, type};
    ck_token *tokens = malloc(sizeof(ck_token) * (size_t)capacity);
    for (int64_t t = 0; t < capacity; t++) tokens[t] = (ck_token){&cache, t};
    const int64_t kv_width = (int64_t)kv_heads * dim, width = (int64_t)heads * dim;
    float *keys = numbers(capacity * kv_width), *values = numbers(capacity * kv_width), *q = numbers(count * width);
    const ck_attention_shape shape = {heads, kv_heads, dim, 0.3f, cap, window};
    float *outs[2], *ones[2];
    for (int set = 0; set < 2; set++) {
        outs[set] = malloc(sizeof(float) * (size_t)(count * width));
        ones[set] = malloc(sizeof(float) * (size_t)width);
        if (!ck_select(sets[set])) {
            memcpy(outs[set], outs[0], sizeof(float) * (size_t)(count * width));
            memcpy(ones[set], ones[0], sizeof(float) * (size_t)width);
            continue;
        }
        ck_cache_store(pool, keys, kv_width, values, kv_width, tokens, capacity, kv_heads, dim);
        if (!ck_attention(pool, q, width, tokens + capacity - count, count, shape, outs[set], width)) exit(1);
        if (!ck_attention(pool, q, width, tokens + capacity - 1, 1, shape, ones[set], width)) exit(1);
    }
    check("attention", outs[1], outs[0], count * width, 1e-5f);
    check("attention of one", ones[1], ones[0], width, 1e-5f);
    free(cache.keys);
    free(cache.values);
    free(tokens);
    free(keys);
    free(values);
    free(q);
    for (int set = 0; set < 2; set++) {
        free(outs[set]);
        free(ones[set]);
    }
}

static void elementwise(ck_pool *pool, int64_t count) {
    float *x = numbers(count), *y = numbers(count), *results[2][8];
    uint16_t *halves = malloc(2 * (size_t)count);
    int32_t *top = malloc(4 * (size_t)count);
    const size_t bytes = sizeof(float) * (size_t)count;
    for (int set = 0; set < 2; set++) {
        const bool runs = ck_select(sets[set]);
        float **r = results[set];
        for (int i = 0; i < 8; i++) r[i] = memcpy(malloc(bytes), runs ? x : results[0][i], bytes);
        if (!runs) continue;
        ck_add(pool, r[0], y, count);
        ck_scale(pool, r[1], 0.3f, count);
        ck_soft_cap(pool, r[2], 2, count);
        ck_silu_multiply(pool, x, count, y, count, 1, count, r[3], count);
        ck_gelu_multiply(pool, x, count, y, count, 1, count, r[4], count);
        ck_rms_norm(pool, x, count, y, 1e-6f, 1, count, r[5], count);
        ck_softmax(r[6], 3, count);
        ck_rope(pool, r[7], count, 1, 1, (int32_t)count, y, (int32_t)(count / 2), CK_ROPE_HALVES);
        ck_f32_to_f16(x, halves, count);
        ck_f16_to_f32(halves, r[1], count);
        ck_argmax(x, count);
        ck_top_k(x, count, count < 40 ? count : 40, top);
    }
    for (int i = 0; i < 8; i++) {
        check("element-wise", results[1][i], results[0][i], count, 1e-5f);
        free(results[0][i]);
        free(results[1][i]);
    }
    free(x);
    free(y);
    free(halves);
    free(top);
}

static void products(ck_pool *pool) {
    for (uint32_t type = 0; type < 31; type++) {
        if (!ck_type_is_known(type)) continue;
        const int64_t odd = ck_type_block_size((ck_type)type) == 256 ? 512 : 32 * 11;
        for (int64_t tokens = 1; tokens <= 9; tokens++) {
            for (int fine = 0; fine < 2; fine++) {
                matmul(pool, (ck_type)type, fine, 8 * (tokens % 4) + tokens % 3, odd, tokens);
            }
        }
        for (int fine = 0; fine < 2; fine++) {
            matmul(pool, (ck_type)type, fine, 24, odd, 19);
            matmul(pool, (ck_type)type, fine, 200, odd, 70);
        }
    }
}

int main(void) {
    ck_pool *pool = ck_pool_create(3);
    for (int set = CK_SET_SCALAR + 1; set <= CK_SET_LAST; set++) {
        if (!ck_supports((ck_instruction_set)set)) continue;
        sets[1] = (ck_instruction_set)set;
        printf("kernels: %s\n", ck_set_name(sets[1]));
        products(pool);
    }
    // The fast sets of a processor share all others.
    for (int i = 0; i < 2; i++) {
        const ck_type type = i == 0 ? CK_F16 : CK_Q8_0;
        attention(pool, type, 9, 3, 64, 0, 0);
        attention(pool, type, 4, 1, 128, 17, 3);
        attention(pool, type, 7, 7, 24, 0, 0);
        attention(pool, type, 70, 1, 8, 0, 0);
    }
    const int64_t sizes[] = {1, 2, 7, 8, 9, 31, 33, 100, 4097, 40000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) elementwise(pool, sizes[i]);
    ck_pool_destroy(pool);
    puts("kernels: clean");
}
