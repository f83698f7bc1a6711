// Matrix products of every type, against sums in double and against the scalar kernels.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "formats.h"

/// Tokens of a test: more than are multiplied without unpacking, and no multiple of a tile.
#define MOST 35

static bool is_half(ck_type type, int offset) {
    switch (type) {
    case CK_Q2_K: return offset >= 80;
    case CK_Q3_K: return offset >= 108;
    case CK_Q6_K: return offset >= 208;
    case CK_Q4_1: case CK_Q5_1: case CK_Q4_K: case CK_Q5_K: return offset < 4;
    default: return offset < 2;
    }
}

/// Random blocks whose scales are ordinary numbers; all bytes but those of the scales are `byte` unless it is negative.
static uint8_t *blocks_of(ck_type type, int64_t rows, int64_t cols, int byte) {
    const int size = ck_type_block_bytes(type);
    const int64_t bytes = (int64_t)ck_matrix_bytes(type, rows, cols);
    uint8_t *file = allocate((size_t)bytes);
    if (!ck_rounds_input(type)) {
        float *values = random_floats(rows * cols);
        for (int64_t i = 0; i < rows * cols; i++) {
            const uint16_t half = ck_float_to_half(values[i]);
            uint32_t bits;
            memcpy(&bits, values + i, 4);
            const uint16_t upper = (uint16_t)(bits >> 16);
            if (type == CK_F32) memcpy(file + 4 * i, &bits, 4);
            if (type == CK_F16) memcpy(file + 2 * i, &half, 2);
            if (type == CK_BF16) memcpy(file + 2 * i, &upper, 2);
        }
        free(values);
        return file;
    }
    for (int64_t i = 0; i < bytes; i++) {
        if (is_half(type, (int)(i % size))) {
            const uint16_t half = ck_float_to_half(((float)(random_bits() % 2001) - 1000) / 10000);
            memcpy(file + i, &half, 2);
            i++;
        } else {
            file[i] = byte < 0 ? (uint8_t)(random_bits() >> 11) : (uint8_t)byte;
        }
    }
    return file;
}

/// A prepared matrix with the floats that it stands for.
typedef struct {
    ck_matrix matrix;
    void *data;
    float *values;
} test_matrix;

static test_matrix make_matrix(ck_type type, bool fine, int64_t rows, int64_t cols, int byte) {
    uint8_t *file = blocks_of(type, rows, cols, byte);
    test_matrix m = {
        .data = allocate(ck_matrix_bytes(type, rows, cols)),
        .values = allocate(sizeof(float) * (size_t)(rows * cols)),
    };
    ck_dequantize(type, file, m.values, rows * cols);
    CHECK(ck_pack(type, file, m.data, rows, cols), "packing");
    m.matrix = (ck_matrix){type, rows, cols, m.data, fine};
    free(file);
    return m;
}

static void free_matrix(test_matrix *m) {
    free(m->data);
    free(m->values);
}

/// One token's activations as they are multiplied.
static void round_input(ck_type type, bool fine, const float *x, int64_t cols, double *out) {
    const float limit = fine ? CK_FINE_LIMIT : 127;
    for (int64_t first = 0; first < cols; first += 32) {
        float greatest = 0;
        for (int i = 0; i < 32; i++) greatest = fmaxf(greatest, fabsf(x[first + i]));
        for (int64_t i = first; i < ck_min(cols, first + 32); i++) {
            out[i] = !ck_rounds_input(type) ? x[i] : greatest > 0 ? rintf(x[i] * (limit / greatest)) * (greatest / limit) : 0;
        }
    }
}

/// One token's products and the sums of their magnitudes.
static void reference(const test_matrix *m, const float *x, double *y, double *scale) {
    const int64_t cols = m->matrix.cols;
    double *rounded = allocate(sizeof(double) * (size_t)cols);
    round_input(m->matrix.type, m->matrix.fine, x, cols, rounded);
    for (int64_t r = 0; r < m->matrix.rows; r++) {
        y[r] = scale[r] = 0;
        for (int64_t c = 0; c < cols; c++) {
            const double product = rounded[c] * m->values[r * cols + c];
            y[r] += product;
            scale[r] += fabs(product);
        }
    }
    free(rounded);
}

static void multiply(
    ck_pool *pool, const test_matrix *m, const float *x, int64_t stride, int64_t tokens, const float *bias, float *y,
    int64_t y_stride) {
    const ck_product product = {&m->matrix, y, y_stride, bias, bias != NULL};
    CHECK(ck_matmul(pool, x, stride, tokens, &product, 1), "no memory");
}

/// Every token alone is right, beside any others it is the same to the last bit, and nothing beside the results is written.
static void check_shape(ck_pool *pools[2], ck_type type, bool fine, int64_t rows, int64_t cols, bool plain) {
    const char *name = ck_type_name(type);
    test_matrix m = make_matrix(type, fine, rows, cols, -1);
    // Neither input nor output begin where vectors do.
    const int64_t stride = cols + 3, y_stride = rows + 5;
    float *memory = random_floats(1 + MOST * stride), *x = memory + 1;
    float *bias = plain ? NULL : random_floats(rows), *residual = random_floats(1 + MOST * y_stride);
    const size_t bytes = sizeof(float) * (size_t)(1 + MOST * y_stride);
    float *alone = allocate(bytes), *together = allocate(bytes);
    memcpy(alone, residual, bytes);
    for (int64_t t = 0; t < MOST; t++) {
        multiply(pools[t % 2], &m, x + t * stride, stride, 1, bias, alone + 1 + t * y_stride, y_stride);
    }
    bool untouched = alone[0] == residual[0];
    for (int64_t t = 0; t < MOST; t++) {
        const size_t gap = sizeof(float) * (size_t)(y_stride - rows);
        untouched &= memcmp(alone + 1 + t * y_stride + rows, residual + 1 + t * y_stride + rows, gap) == 0;
    }
    CHECK(untouched, "%s, %lld rows", name, (long long)rows);
    take_into_hash(alone, bytes);

    double *expected = allocate(sizeof(double) * (size_t)rows), *scale = allocate(sizeof(double) * (size_t)rows);
    float *scalar = allocate(sizeof(float) * (size_t)rows);
    for (int64_t t = 0; t < MOST; t += 7) {
        const float *before = residual + 1 + t * y_stride, *got = alone + 1 + t * y_stride;
        reference(&m, x + t * stride, expected, scale);
        for (int64_t r = 0; r < rows; r++) {
            if (!plain) expected[r] += bias[r] + before[r];
            if (!plain) scale[r] += fabsf(bias[r]) + fabsf(before[r]);
        }
        const double error = greatest_error(got, expected, scale, rows);
        CHECK(error < 1e-6, "%s, fine: %d, %lld × %lld: error %g", name, fine, (long long)rows, (long long)cols, error);
        if (t > 0) continue;
        memcpy(scalar, before, sizeof(float) * (size_t)rows);
        CHECK(ck_select(CK_SET_SCALAR), "scalar");
        multiply(pools[0], &m, x, stride, 1, bias, scalar, rows);
        CHECK(ck_select(tested), "choice");
        for (int64_t r = 0; r < rows; r++) expected[r] = scalar[r];
        CHECK(greatest_error(got, expected, scale, rows) < 3e-6, "%s, fine: %d, against the scalar kernels", name, fine);
    }

    const int64_t counts[] = {2, 3, 4, 5, 7, 8, 16, 17, 18, 20, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int64_t first = MOST - counts[i];
        memcpy(together, residual, bytes);
        multiply(pools[i % 2], &m, x + first * stride, stride, counts[i], bias, together + 1 + first * y_stride, y_stride);
        const size_t offset = (size_t)(1 + first * y_stride);
        CHECK(
            memcmp(together + offset, alone + offset, bytes - sizeof(float) * offset) == 0
                && memcmp(together, residual, sizeof(float) * offset) == 0,
            "%s, fine: %d, %lld × %lld, %lld tokens", name, fine, (long long)rows, (long long)cols, (long long)counts[i]);
    }

    // Some rows, in no order.
    float *all = allocate(sizeof(float) * (size_t)rows), *few = allocate(sizeof(float) * (size_t)rows);
    int32_t *some = allocate(sizeof(int32_t) * (size_t)rows);
    for (int64_t i = 0; i < rows; i++) some[i] = (int32_t)(i * 5 % rows);
    const ck_product product = {&m.matrix, all, rows, bias, false};
    CHECK(ck_matmul(pools[0], x, stride, 1, &product, 1), "no memory");
    CHECK(ck_matmul_rows(pools[1], x, &m.matrix, bias, some, rows, few), "no memory");
    bool same = true;
    for (int64_t i = 0; i < rows; i++) same &= few[i] == all[some[i]];
    CHECK(same, "%s, fine: %d: some rows", name, fine);

    free_matrix(&m);
    free(memory);
    free(bias);
    free(residual);
    free(alone);
    free(together);
    free(expected);
    free(scale);
    free(scalar);
    free(all);
    free(few);
    free(some);
}

/// One job with more groups than a panel has.
static void check_large_job(ck_pool *pool, ck_type type, bool fine) {
    const int64_t rows = 8 * 21, cols = 256, tokens = 18;
    test_matrix m = make_matrix(type, fine, rows, cols, -1);
    float *x = random_floats(tokens * cols);
    const size_t bytes = sizeof(float) * (size_t)(tokens * rows);
    float *expected = allocate(bytes), *y = allocate(bytes);
    multiply(pool, &m, x, cols, tokens, NULL, expected, rows);
    const ck_kernels *kernels = ck_kernels_in_use();
    ck_activation *coarse = allocate(sizeof(ck_activation) * (size_t)(tokens * cols / 32));
    ck_fine_activation *fines = allocate(sizeof(ck_fine_activation) * (size_t)(tokens * cols / 32));
    kernels->quantize(x, tokens * cols, coarse);
    kernels->quantize_fine(x, tokens * cols, fines);
    const size_t scratch = kernels->matmul_scratch(cols);
    ck_matmul_job job = {
        .type = type, .data = m.data, .groups = rows / 8, .cols = cols, .tokens = tokens, .activations = coarse,
        .fine = fine && ck_rounds_input(type) ? fines : NULL, .x = x, .x_stride = cols, .y = y, .y_stride = rows,
        .scratch = ck_allocate(scratch),
    };
    kernels->matmul(&job);
    CHECK(memcmp(y, expected, bytes) == 0, "%s, fine: %d: a large job", ck_type_name(type), fine);
    ck_free(job.scratch, scratch);
    free_matrix(&m);
    free(x);
    free(expected);
    free(y);
    free(coarse);
    free(fines);
}

/// The greatest weights and activations there are, all of one sign: where a sum would overflow.
static void check_extremes(ck_pool *pool, ck_type type, bool fine) {
    const int bytes[] = {0x00, 0x7f, 0x80, 0xff, 0x88};
    const int64_t counts[] = {1, 2, 4, 19}, rows = 8, cols = 256;
    for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++) {
        test_matrix m = make_matrix(type, fine, rows, cols, bytes[b]);
        for (int sign = -1; sign <= 1; sign += 2) {
            float x[19 * 256], y[19 * 8];
            double expected[8], scale[8];
            for (int i = 0; i < 19 * 256; i++) x[i] = (float)(100 * sign);
            reference(&m, x, expected, scale);
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                multiply(pool, &m, x, cols, counts[c], NULL, y, rows);
                for (int64_t t = 0; t < counts[c]; t += 3) {
                    CHECK(
                        greatest_error(y + t * rows, expected, scale, rows) < 2e-6, "%s, fine: %d, bytes %02x, sign %d",
                        ck_type_name(type), fine, (unsigned)bytes[b], sign);
                }
            }
        }
        free_matrix(&m);
    }
}

/// What is no number makes none of its own token's products, and leaves the others'.
static void check_no_numbers(ck_pool *pool, ck_type type, bool fine) {
    const float numbers[] = {NAN, INFINITY, -INFINITY};
    const int64_t counts[] = {1, 6, 19}, rows = 16, cols = 512;
    test_matrix m = make_matrix(type, fine, rows, cols, -1);
    for (int n = 0; n < 3; n++) {
        for (int c = 0; c < 3; c++) {
            const int64_t tokens = counts[c], last = tokens - 1;
            float *x = random_floats(tokens * cols), y[19 * 16];
            x[last * cols + 301] = numbers[n];
            multiply(pool, &m, x, cols, tokens, NULL, y, rows);
            int wrong = 0;
            for (int64_t r = 0; r < rows; r++) wrong += !isfinite(y[last * rows + r]);
            // Of all rows but those that have nought there.
            CHECK(wrong >= rows / 2, "%s, fine: %d, %g: only %d of 16 rows", ck_type_name(type), fine, numbers[n], wrong);
            CHECK(ck_all_finite(y, last * rows), "%s, fine: %d, %g spreads", ck_type_name(type), fine, numbers[n]);
            free(x);
        }
    }
    free_matrix(&m);
}

/// What is below the smallest scale counts as nought, and does no harm to other blocks.
static void check_subnormals(ck_pool *pool, bool fine) {
    test_matrix m = make_matrix(CK_Q4_0, fine, 8, 128, -1);
    float x[128] = {0}, counted[128] = {0}, y[8];
    double expected[8], scale[8];
    for (int i = 0; i < 32; i++) x[i] = 714e-45f;
    for (int i = 32; i < 64; i++) x[i] = counted[i] = (float)i;
    multiply(pool, &m, x, 128, 1, NULL, y, 8);
    reference(&m, counted, expected, scale);
    CHECK(greatest_error(y, expected, scale, 8) < 1e-6, "fine: %d", fine);
    free_matrix(&m);
}

void check_products(void) {
    ck_pool *pools[2] = {ck_pool_create(1), ck_pool_create(3)};
    for (uint32_t number = 0; number < 31; number++) {
        if (!ck_type_is_known(number)) continue;
        const ck_type type = (ck_type)number;
        for (int fine = 0; fine <= (ck_rounds_input(type) ? 1 : 0); fine++) {
            check_shape(pools, type, fine, 43, 512, false);
            check_shape(pools, type, fine, 5, 256, true);
            check_shape(pools, type, fine, 72, 256, true);
            if (ck_type_block_size(type) == 32) check_shape(pools, type, fine, 27, 32 * 19, false);
            if (ck_type_block_size(type) == 1) check_shape(pools, type, fine, 19, 77, false);
            check_large_job(pools[0], type, fine);
            check_no_numbers(pools[0], type, fine);
            if (ck_rounds_input(type)) check_extremes(pools[0], type, fine);
        }
    }
    for (int fine = 0; fine < 2; fine++) check_subnormals(pools[0], fine);
    for (int i = 0; i < 2; i++) ck_pool_destroy(pools[i]);
}
