/// Element-wise operations shared out over threads, rotation tables, and helpers over the vocabulary.
#include <math.h>
#include <string.h>

#include "internal.h"

/// Elements below which a second thread costs more than it helps.
#define WORTH_SHARING 16384

void ck_f32_to_f16(const float *source, uint16_t *destination, int64_t count) {
    ck_kernels_in_use()->f32_to_f16(source, destination, count);
}

void ck_f16_to_f32(const uint16_t *source, float *destination, int64_t count) {
    ck_kernels_in_use()->f16_to_f32(source, destination, count);
}

static void share(ck_pool *pool, int64_t count, int64_t elements, ck_body body, void *context) {
    if (elements >= WORTH_SHARING) {
        ck_pool_for(pool, count, body, context);
    } else {
        for (int64_t i = 0; i < count; i++) body(context, i, 0);
    }
}

// MARK: - By row

typedef struct {
    const ck_kernels *kernels;
    const float *x, *y;
    int64_t x_stride, y_stride, width;
    float *out;
    int64_t out_stride;
    float number;
    int64_t rows, rows_each;
} rows_call;

static void norm_rows(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const rows_call *c = context;
    for (int64_t r = index * c->rows_each; r < ck_min(c->rows, (index + 1) * c->rows_each); r++) {
        c->kernels->rms_norm(c->x + r * c->x_stride, c->y, c->number, c->width, c->out + r * c->out_stride);
    }
}

void ck_rms_norm(
    ck_pool *pool, const float *x, int64_t x_stride, const float *weight, float epsilon, int64_t rows, int64_t width, float *out,
    int64_t out_stride) {
    rows_call c = {ck_kernels_in_use(), x, weight, x_stride, 0, width, out, out_stride, epsilon, rows, 0};
    c.rows_each = ck_max(1, 2048 / ck_max(1, width));
    share(pool, (rows + c.rows_each - 1) / c.rows_each, rows * width, norm_rows, &c);
}

static void silu_row(void *context, int64_t r, int32_t thread) {
    (void)thread;
    const rows_call *c = context;
    c->kernels->silu_multiply(c->x + r * c->x_stride, c->y + r * c->y_stride, c->width, c->out + r * c->out_stride);
}

static void gelu_row(void *context, int64_t r, int32_t thread) {
    (void)thread;
    const rows_call *c = context;
    c->kernels->gelu_multiply(c->x + r * c->x_stride, c->y + r * c->y_stride, c->width, c->out + r * c->out_stride);
}

void ck_silu_multiply(
    ck_pool *pool, const float *gate, int64_t gate_stride, const float *up, int64_t up_stride, int64_t tokens, int64_t width,
    float *out, int64_t out_stride) {
    rows_call c = {ck_kernels_in_use(), gate, up, gate_stride, up_stride, width, out, out_stride, 0, tokens, 1};
    share(pool, tokens, tokens * width, silu_row, &c);
}

void ck_gelu_multiply(
    ck_pool *pool, const float *gate, int64_t gate_stride, const float *up, int64_t up_stride, int64_t tokens, int64_t width,
    float *out, int64_t out_stride) {
    rows_call c = {ck_kernels_in_use(), gate, up, gate_stride, up_stride, width, out, out_stride, 0, tokens, 1};
    share(pool, tokens, tokens * width, gelu_row, &c);
}

bool ck_all_finite(const float *x, int64_t count) {
    // Infinities and what is no number have all bits of the exponent set.
    uint32_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        found |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
    }
    return !found;
}

// MARK: - By piece

#define PIECE 8192

typedef struct {
    const ck_kernels *kernels;
    float *x;
    const float *y;
    float number;
    int64_t count;
} flat_call;

static void add_piece(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const flat_call *c = context;
    c->kernels->add(c->x + index * PIECE, c->y + index * PIECE, ck_min(PIECE, c->count - index * PIECE));
}

static void scale_piece(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const flat_call *c = context;
    c->kernels->scale(c->x + index * PIECE, c->number, ck_min(PIECE, c->count - index * PIECE));
}

static void cap_piece(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const flat_call *c = context;
    c->kernels->soft_cap(c->x + index * PIECE, c->number, ck_min(PIECE, c->count - index * PIECE));
}

void ck_add(ck_pool *pool, float *x, const float *y, int64_t count) {
    flat_call c = {ck_kernels_in_use(), x, y, 0, count};
    share(pool, (count + PIECE - 1) / PIECE, count, add_piece, &c);
}

void ck_scale(ck_pool *pool, float *x, float factor, int64_t count) {
    flat_call c = {ck_kernels_in_use(), x, NULL, factor, count};
    share(pool, (count + PIECE - 1) / PIECE, count, scale_piece, &c);
}

void ck_soft_cap(ck_pool *pool, float *x, float cap, int64_t count) {
    flat_call c = {ck_kernels_in_use(), x, NULL, cap, count};
    share(pool, (count + PIECE - 1) / PIECE, count, cap_piece, &c);
}

// MARK: - Rotation

void ck_rope_table(
    const int32_t *positions, int64_t count, const float *frequencies, int32_t pairs, float magnitude, float *table) {
    for (int64_t t = 0; t < count; t++) {
        for (int32_t i = 0; i < pairs; i++) {
            float angle = (float)positions[t] * frequencies[i];
            *table++ = cosf(angle) * magnitude;
            *table++ = sinf(angle) * magnitude;
        }
    }
}

typedef struct {
    const ck_kernels *kernels;
    float *x;
    int64_t x_stride;
    int32_t heads, head_dim;
    const float *table;
    int32_t pairs;
    ck_rope_style style;
} rope_call;

static void rotate_token(void *context, int64_t t, int32_t thread) {
    (void)thread;
    const rope_call *c = context;
    for (int32_t h = 0; h < c->heads; h++) {
        c->kernels->rope(c->x + t * c->x_stride + (int64_t)h * c->head_dim, c->table + t * 2 * c->pairs, c->pairs, c->style);
    }
}

void ck_rope(
    ck_pool *pool, float *x, int64_t x_stride, int64_t tokens, int32_t heads, int32_t head_dim, const float *table, int32_t pairs,
    ck_rope_style style) {
    rope_call c = {ck_kernels_in_use(), x, x_stride, heads, head_dim, table, pairs, style};
    share(pool, tokens, tokens * heads * head_dim, rotate_token, &c);
}

// MARK: - Vocabulary

float ck_softmax(float *x, float scale, int64_t count) { return ck_kernels_in_use()->softmax(x, scale, count); }

int64_t ck_argmax(const float *x, int64_t count) { return ck_kernels_in_use()->argmax(x, count); }

/// Whether element `a` comes after `b` in the order of `ck_top_k`.
static inline bool is_lesser(const float *x, int32_t a, int32_t b) { return x[a] < x[b] || (x[a] == x[b] && a > b); }

/// Lets the element at the top of the heap (least first) sink to its place.
static void sink(const float *x, int32_t *heap, int64_t count) {
    int32_t moving = heap[0];
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && is_lesser(x, heap[child + 1], heap[child])) child++;
        if (!is_lesser(x, heap[child], moving)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

int64_t ck_top_k(const float *x, int64_t count, int64_t k, int32_t *indices) {
    int64_t held = 0;
    if (k <= 0) return 0;
    for (int64_t i = 0; i < count; i++) {
        if (held == k) {
            if (!(x[i] > x[indices[0]])) continue;
            indices[0] = (int32_t)i;
            sink(x, indices, held);
        } else if (x[i] == x[i]) {
            int64_t at = held++;
            while (at > 0 && is_lesser(x, (int32_t)i, indices[(at - 1) / 2])) {
                indices[at] = indices[(at - 1) / 2];
                at = (at - 1) / 2;
            }
            indices[at] = (int32_t)i;
        }
    }
    // The least to the end, one after the other.
    for (int64_t rest = held; rest > 1; rest--) {
        int32_t least = indices[0];
        indices[0] = indices[rest - 1];
        indices[rest - 1] = least;
        sink(x, indices, rest - 1);
    }
    return held;
}

void ck_mask(float *x, const uint64_t *mask, int64_t count) {
    for (int64_t first = 0; first < count; first += 64) {
        const uint64_t word = mask[first / 64];
        if (word == ~(uint64_t)0) continue;
        const int64_t bits = ck_min(64, count - first);
        for (int64_t i = 0; i < bits; i++) {
            if (!(word >> i & 1)) x[first + i] = -INFINITY;
        }
    }
}
