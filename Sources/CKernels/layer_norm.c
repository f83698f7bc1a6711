/// Normalisation by mean and variance, as encoders have it. A small part of their time, so that one plain form will do.
/// Source: Ba et al. 2016, "Layer Normalization".
#include <math.h>

#include "internal.h"

typedef struct {
    const float *x, *weight, *bias;
    int64_t x_stride, rows, width;
    float epsilon;
    float *out;
    int64_t out_stride;
} call;

/// Rows that one piece of work has.
#define ROWS 16

static void norm_row(const call *c, int64_t row) {
    const float *x = c->x + row * c->x_stride;
    float *out = c->out + row * c->out_stride;
    double sum = 0;
    for (int64_t i = 0; i < c->width; i++) sum += x[i];
    const double mean = sum / (double)c->width;
    double squares = 0;
    for (int64_t i = 0; i < c->width; i++) squares += (x[i] - mean) * (x[i] - mean);
    const double factor = 1 / sqrt(squares / (double)c->width + c->epsilon);
    for (int64_t i = 0; i < c->width; i++) {
        out[i] = (float)((x[i] - mean) * factor) * c->weight[i] + c->bias[i];
    }
}

static void norm_rows(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const call *c = context;
    for (int64_t row = index * ROWS; row < ck_min(c->rows, (index + 1) * ROWS); row++) norm_row(c, row);
}

void ck_layer_norm(
    ck_pool *pool, const float *x, int64_t x_stride, const float *weight, const float *bias, float epsilon, int64_t rows,
    int64_t width, float *out, int64_t out_stride) {
    call c = {x, weight, bias, x_stride, rows, width, epsilon, out, out_stride};
    ck_pool_for(pool, (rows + ROWS - 1) / ROWS, norm_rows, &c);
}
