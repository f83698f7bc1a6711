// Element-wise operations, against the same in double.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 64, 100, 1024, 4099};

static double silu(double v) { return v / (1 + exp(-v)); }

static double gelu(double v) { return 0.5 * v * (1 + tanh(sqrt(2 / acos(-1.0)) * (v + 0.044715 * v * v * v))); }

enum operation { ADD, SCALE, CAP, SILU, GELU, NORM, BARE_NORM, OPERATIONS };

static void check_operations(ck_pool *pool, int64_t count) {
    const char *names[] = {"add", "scale", "cap", "silu", "gelu", "norm", "bare norm"};
    float *x = random_floats(count), *y = random_floats(count), *out = allocate(sizeof(float) * (size_t)(count + 1));
    double *expected = allocate(sizeof(double) * (size_t)count), *scale = allocate(sizeof(double) * (size_t)count);
    double squares = 0;
    for (int64_t i = 0; i < count; i++) squares += (double)x[i] * x[i];
    const double factor = 1 / sqrt(squares / (double)count + 1e-6);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        memcpy(out, x, sizeof(float) * (size_t)count);
        out[count] = 77;
        switch (operation) {
        case ADD: ck_add(pool, out, y, count); break;
        case SCALE: ck_scale(pool, out, 0.37f, count); break;
        case CAP: ck_soft_cap(pool, out, 5, count); break;
        case SILU: ck_silu_multiply(pool, out, count, y, count, 1, count, out, count); break;
        case GELU: ck_gelu_multiply(pool, out, count, y, count, 1, count, out, count); break;
        case NORM: ck_rms_norm(pool, x, count, y, 1e-6f, 1, count, out, count); break;
        default: ck_rms_norm(pool, out, count, NULL, 1e-6f, 1, count, out, count);
        }
        for (int64_t i = 0; i < count; i++) {
            const double v = x[i], w = y[i];
            const double results[] = {
                v + w, v * 0.37f, 5 * tanh(v / 5), silu(v) * w, gelu(v) * w, v * factor * w, v * factor};
            expected[i] = results[operation];
            scale[i] = fabs(expected[i]) + 0.1;
        }
        const double error = greatest_error(out, expected, scale, count);
        CHECK(error < 5e-6, "%s of %lld: error %g", names[operation], (long long)count, error);
        CHECK(out[count] == 77, "%s of %lld wrote past the end", names[operation], (long long)count);
    }
    free(x);
    free(y);
    free(out);
    free(expected);
    free(scale);
}

static void check_ends(ck_pool *pool) {
    const float x[] = {-1e4f, -1000, -104, -88, 88, 104, 1000, 1e4f, 0, NAN};
    float ones[10], silus[10], gelus[10], caps[10];
    for (int i = 0; i < 10; i++) ones[i] = 1;
    memcpy(caps, x, sizeof x);
    ck_silu_multiply(pool, x, 10, ones, 10, 1, 10, silus, 10);
    ck_gelu_multiply(pool, x, 10, ones, 10, 1, 10, gelus, 10);
    ck_soft_cap(pool, caps, 3, 10);
    for (int i = 0; i < 9; i++) {
        const float wanted = i < 4 ? 0 : x[i];
        CHECK(fabsf(silus[i] - wanted) < 1e-30f, "silu of %g is %g", x[i], silus[i]);
        CHECK(fabsf(gelus[i] - wanted) < 1e-30f, "gelu of %g is %g", x[i], gelus[i]);
        CHECK(fabsf(caps[i] - copysignf(i < 8 ? 3 : 0, x[i])) < 1e-6f, "cap of %g is %g", x[i], caps[i]);
    }
    CHECK(isnan(silus[9]) && isnan(gelus[9]) && isnan(caps[9]), "what is no number became one");
    const float numbers[] = {NAN, INFINITY, -FLT_MAX};
    for (int i = 0; i < 3; i++) {
        float row[100], out[100];
        for (int j = 0; j < 100; j++) row[j] = 1;
        row[77] = numbers[i];
        ck_rms_norm(pool, row, 100, NULL, 1e-6f, 1, 100, out, 100);
        CHECK(!ck_all_finite(out, 100), "a norm with %g", numbers[i]);
    }
}

static void check_softmax(int64_t count) {
    float *x = random_floats(count), *out = allocate(sizeof(float) * (size_t)(count + 1));
    double *expected = allocate(sizeof(double) * (size_t)count), *scale = allocate(sizeof(double) * (size_t)count);
    if (count > 8) x[3] = -INFINITY;
    double greatest = -INFINITY, total = 0;
    for (int64_t i = 0; i < count; i++) greatest = fmax(greatest, (double)(x[i] * 0.7f));
    for (int64_t i = 0; i < count; i++) total += expected[i] = exp((double)(x[i] * 0.7f) - greatest);
    for (int64_t i = 0; i < count; i++) {
        expected[i] /= total;
        scale[i] = expected[i] + 1e-9;
    }
    memcpy(out, x, sizeof(float) * (size_t)count);
    out[count] = 77;
    const float returned = ck_softmax(out, 0.7f, count);
    CHECK(fabs(returned - greatest) <= fabs(greatest) * 1e-6, "%g instead of %g", returned, greatest);
    const double error = greatest_error(out, expected, scale, count);
    CHECK(error < 1e-5, "softmax of %lld: error %g", (long long)count, error);
    CHECK(out[count] == 77, "softmax of %lld wrote past the end", (long long)count);
    CHECK(count <= 8 || out[3] == 0, "softmax of -infinity is %g", out[3]);
    // Nothing that counts.
    for (int64_t i = 0; i < count; i++) out[i] = i % 2 ? NAN : -INFINITY;
    CHECK(ck_softmax(out, 1, count) == -INFINITY && out[0] == 0 && out[count - 1] == 0, "softmax of no numbers");
    // One that is none shows.
    memcpy(out, x, sizeof(float) * (size_t)count);
    out[count / 2] = NAN;
    ck_softmax(out, 1, count);
    CHECK(count == 1 || isnan(out[0]), "a softmax with what is no number");
    free(x);
    free(out);
    free(expected);
    free(scale);
}

static void check_rope(ck_pool *pool, int32_t dim, int32_t pairs, ck_rope_style style) {
    enum { TOKENS = 5, HEADS = 3 };
    const int32_t positions[TOKENS] = {0, 1, 2, 77, 500};
    const int64_t count = (int64_t)TOKENS * HEADS * dim;
    float frequencies[64], table[TOKENS * 64 * 2], *x = random_floats(count), *out = allocate(sizeof(float) * (size_t)count);
    double *expected = allocate(sizeof(double) * (size_t)count), *scale = allocate(sizeof(double) * (size_t)count);
    for (int32_t i = 0; i < pairs; i++) frequencies[i] = powf(10000, -(float)i / (float)pairs);
    ck_rope_table(positions, TOKENS, frequencies, pairs, 1.25f, table);
    for (int64_t i = 0; i < count; i++) expected[i] = x[i];
    for (int64_t head = 0; head < TOKENS * HEADS; head++) {
        for (int32_t i = 0; i < pairs; i++) {
            const double angle = (double)((float)positions[head / HEADS] * frequencies[i]);
            const int64_t a = head * dim + (style == CK_ROPE_HALVES ? i : 2 * i);
            const int64_t b = a + (style == CK_ROPE_HALVES ? pairs : 1);
            expected[a] = 1.25 * (x[a] * cos(angle) - x[b] * sin(angle));
            expected[b] = 1.25 * (x[a] * sin(angle) + x[b] * cos(angle));
        }
    }
    for (int64_t i = 0; i < count; i++) scale[i] = fabs(expected[i]) + 1;
    memcpy(out, x, sizeof(float) * (size_t)count);
    ck_rope(pool, out, HEADS * dim, TOKENS, HEADS, dim, table, pairs, style);
    const double error = greatest_error(out, expected, scale, count);
    CHECK(error < 1e-5, "rotation of %d pairs of %d, style %d: error %g", pairs, dim, (int)style, error);
    free(x);
    free(out);
    free(expected);
    free(scale);
}

static void check_argmax(int64_t count) {
    float *x = random_floats(count);
    for (int round = 0; round < 4; round++) {
        uint32_t signalling = 0x7f800001;    // must not take away what was found before it
        for (int64_t i = 0; i < count; i++) x[i] = roundf(x[i] * 4);    // many equal ones
        if (count > 8 && round > 0) x[random_bits() % (uint32_t)count] = NAN;
        if (count > 8 && round > 1) memcpy(x + count / 2, &signalling, 4);
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++) {
            if (!isnan(x[i]) && (best < 0 || x[i] > x[best])) best = i;
        }
        CHECK(ck_argmax(x, count) == best, "of %lld, round %d", (long long)count, round);
        float *others = random_floats(count);
        memcpy(x, others, sizeof(float) * (size_t)count);
        free(others);
    }
    free(x);
}

void check_elementwise(void) {
    ck_pool *pool = ck_pool_create(2);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_operations(pool, sizes[i]);
        check_softmax(sizes[i]);
        check_argmax(sizes[i]);
    }
    check_ends(pool);
    const int32_t shapes[][2] = {{64, 32}, {80, 36}, {128, 64}, {16, 3}, {16, 7}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int style = 0; style < 2; style++) check_rope(pool, shapes[i][0], shapes[i][1], (ck_rope_style)style);
    }
    const float none[] = {NAN, -NAN, NAN, NAN, -NAN}, least[] = {-INFINITY, NAN, -INFINITY, NAN, NAN};
    CHECK(ck_argmax(none, 0) == -1 && ck_argmax(none, 5) == -1, "no numbers");
    CHECK(ck_argmax(least, 5) == 0 && ck_argmax(least + 1, 4) == 1, "infinities");
    ck_pool_destroy(pool);
}
