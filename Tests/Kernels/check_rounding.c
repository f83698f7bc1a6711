// Rounding of activations and half precision: the fast ones are the plain ones to the bit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

/// The activation in column `c`, however this table keeps it.
static int rounded(const ck_fine_activation *x, int c) {
    return tested == CK_SET_NEON ? 128 * x->high[c] + x->low[c] : x->q[ck_fine_place(c)];
}

static void check_blocks(const char *what, const float *x) {
    ck_activation coarse[2];
    ck_fine_activation fine[2];
    memset(coarse, 0, sizeof coarse);
    memset(fine, 0, sizeof fine);
    ck_scalar_kernels.quantize(x, 32, &coarse[0]);
    ck_kernels_in_use()->quantize(x, 32, &coarse[1]);
    const bool is_number = isfinite(coarse[0].d);
    CHECK(memcmp(coarse[0].q, coarse[1].q, 32) == 0, "%s", what);
    CHECK(!is_number || memcmp(&coarse[0], &coarse[1], sizeof coarse[0]) == 0, "%s: scales and sums", what);
    CHECK(is_number || (!isfinite(coarse[1].d) && !isfinite(coarse[1].sum)), "%s passes for numbers", what);

    ck_scalar_kernels.quantize_fine(x, 32, &fine[0]);
    ck_kernels_in_use()->quantize_fine(x, 32, &fine[1]);
    bool same = true, small = true;
    for (int c = 0; c < 32; c++) {
        same &= fine[0].q[ck_fine_place(c)] == rounded(&fine[1], c);
        small &= tested != CK_SET_NEON || (abs(fine[1].high[c]) <= 127 && abs(fine[1].low[c]) <= 127);
    }
    CHECK(same, "%s: 15 bits", what);
    CHECK(small, "%s: a part of 15 bits is -128", what);
    const size_t sums = offsetof(ck_fine_activation, half_total);
    const char *first = (const char *)&fine[0] + sums, *second = (const char *)&fine[1] + sums;
    CHECK(!is_number || memcmp(first, second, sizeof fine[0] - sums) == 0, "%s: 15 bits, scales and sums", what);
    CHECK(is_number || (!isfinite(fine[1].d) && !isfinite(fine[1].sum)), "%s passes for numbers in 15 bits", what);
}

static void check_halves(void) {
    const int64_t count = 1 << 16, most = 5 * count + 3;
    uint16_t *all = allocate(2 * (size_t)count), *halves[2];
    float *wide[2], *numbers = allocate(sizeof(float) * (size_t)most);
    for (int64_t i = 0; i < count; i++) all[i] = (uint16_t)i;
    for (int set = 0; set < 2; set++) {
        const ck_kernels *kernels = set ? ck_kernels_in_use() : &ck_scalar_kernels;
        wide[set] = allocate(sizeof(float) * (size_t)count);
        kernels->f16_to_f32(all, wide[set], count);
    }
    CHECK(memcmp(wide[0], wide[1], sizeof(float) * (size_t)count) == 0, "half precision to floats");
    // Every half, the floats around the middle between it and the next, and whatever.
    for (int64_t i = 0; i < count; i++) {
        const uint32_t others[4] = {0xfff, 0x1000, 0x1001, random_bits()};
        uint32_t bits;
        numbers[5 * i] = wide[0][i];
        memcpy(&bits, wide[0] + i, 4);
        for (int j = 0; j < 4; j++) {
            const uint32_t other = j < 3 ? bits | others[j] : others[j];
            memcpy(numbers + 5 * i + 1 + j, &other, 4);
        }
    }
    for (int set = 0; set < 2; set++) {
        const ck_kernels *kernels = set ? ck_kernels_in_use() : &ck_scalar_kernels;
        halves[set] = allocate(2 * (size_t)most);
        kernels->f32_to_f16(numbers, halves[set], most);
    }
    int64_t wrong = 0;
    for (int64_t i = 0; i < most; i++) wrong += halves[0][i] != halves[1][i];
    CHECK(wrong == 0, "floats to half precision: %lld of %lld differ", (long long)wrong, (long long)most);
    for (int set = 0; set < 2; set++) {
        free(wide[set]);
        free(halves[set]);
    }
    free(all);
    free(numbers);
}

void check_rounding(void) {
    for (int i = 0; i < 500; i++) {
        float *x = random_floats(32);
        if (i % 5 == 1) {    // integers and halves of them, where a rounding has ties
            for (int j = 0; j < 32; j++) x[j] = (float)((int)(random_bits() % 255) - 127) / 2;
            x[7] = 127;
        }
        if (i % 5 == 2) x[random_bits() % 32] *= 1e6f;
        if (i % 5 == 3) {
            for (int j = 0; j < 32; j++) x[j] = ldexpf(x[j], (int)(random_bits() % 280) - 150);
        }
        check_blocks("random", x);
        free(x);
    }
    const float ends[] = {0, -0.0f, 1e-45f, 714e-45f, 1.2e-38f, 3.4e38f, -3.4e38f, NAN, -NAN, INFINITY, -INFINITY};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        for (int ordinary = 0; ordinary < 2; ordinary++) {
            float x[32];
            for (int j = 0; j < 32; j++) x[j] = ordinary ? (float)j - 9 : ends[e];
            x[e + 3] = ends[e];
            check_blocks("an end", x);
        }
    }
    check_halves();
}
