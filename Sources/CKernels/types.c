/// The element types: sizes, names, and the plain way from a file's blocks to floats.
#include "formats.h"
#include "internal.h"

typedef struct {
    const char *name;
    int32_t size, bytes;
} ck_type_facts;

static const ck_type_facts facts[31] = {
    [CK_F32] = {"F32", 1, 4},
    [CK_F16] = {"F16", 1, 2},
    [CK_Q4_0] = {"Q4_0", 32, 18},
    [CK_Q4_1] = {"Q4_1", 32, 20},
    [CK_Q5_0] = {"Q5_0", 32, 22},
    [CK_Q5_1] = {"Q5_1", 32, 24},
    [CK_Q8_0] = {"Q8_0", 32, 34},
    [CK_Q2_K] = {"Q2_K", 256, 84},
    [CK_Q3_K] = {"Q3_K", 256, 110},
    [CK_Q4_K] = {"Q4_K", 256, 144},
    [CK_Q5_K] = {"Q5_K", 256, 176},
    [CK_Q6_K] = {"Q6_K", 256, 210},
    [CK_IQ4_NL] = {"IQ4_NL", 32, 18},
    [CK_IQ4_XS] = {"IQ4_XS", 256, 136},
    [CK_BF16] = {"BF16", 1, 2},
};

bool ck_type_is_known(uint32_t type) { return type < 31 && facts[type].name != NULL; }

const char *ck_type_name(ck_type type) { return facts[type].name; }

int32_t ck_type_block_size(ck_type type) { return facts[type].size; }

int32_t ck_type_block_bytes(ck_type type) { return facts[type].bytes; }

size_t ck_row_bytes(ck_type type, int64_t cols) {
    return (size_t)(cols / facts[type].size) * (size_t)facts[type].bytes;
}

size_t ck_matrix_bytes(ck_type type, int64_t rows, int64_t cols) { return (size_t)rows * ck_row_bytes(type, cols); }

// MARK: - One block to floats

static void q4_0(const ck_q4_0 *b, float *y) {
    float d = ck_half_to_float(b->d);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)((b->q[i] & 15) - 8) * d;
        y[i + 16] = (float)((b->q[i] >> 4) - 8) * d;
    }
}

static void q4_1(const ck_q4_1 *b, float *y) {
    float d = ck_half_to_float(b->d), m = ck_half_to_float(b->m);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)(b->q[i] & 15) * d + m;
        y[i + 16] = (float)(b->q[i] >> 4) * d + m;
    }
}

static void q5_0(const ck_q5_0 *b, float *y) {
    float d = ck_half_to_float(b->d);
    uint32_t h = ck_load32(b->h);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)((int)((b->q[i] & 15) | (h >> i & 1) << 4) - 16) * d;
        y[i + 16] = (float)((int)((b->q[i] >> 4) | (h >> (i + 16) & 1) << 4) - 16) * d;
    }
}

static void q5_1(const ck_q5_1 *b, float *y) {
    float d = ck_half_to_float(b->d), m = ck_half_to_float(b->m);
    uint32_t h = ck_load32(b->h);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)((b->q[i] & 15) | (h >> i & 1) << 4) * d + m;
        y[i + 16] = (float)((b->q[i] >> 4) | (h >> (i + 16) & 1) << 4) * d + m;
    }
}

static void q8_0(const ck_q8_0 *b, float *y) {
    float d = ck_half_to_float(b->d);
    for (int i = 0; i < 32; i++) y[i] = (float)b->q[i] * d;
}

static void iq4_nl(const ck_iq4_nl *b, float *y) {
    float d = ck_half_to_float(b->d);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)ck_iq4_levels[b->q[i] & 15];
        y[i + 16] = d * (float)ck_iq4_levels[b->q[i] >> 4];
    }
}

static void q2_k(const ck_q2_k *b, float *y) {
    float d = ck_half_to_float(b->d), m = ck_half_to_float(b->m);
    for (int e = 0; e < 256; e++) {
        int sub = e >> 4, q = b->q[(e >> 7) * 32 + (e & 31)] >> (2 * (e >> 5 & 3)) & 3;
        y[e] = d * (float)(b->scales[sub] & 15) * (float)q - m * (float)(b->scales[sub] >> 4);
    }
}

static void q3_k(const ck_q3_k *b, float *y) {
    float d = ck_half_to_float(b->d);
    for (int e = 0; e < 256; e++) {
        int q = b->q[(e >> 7) * 32 + (e & 31)] >> (2 * (e >> 5 & 3)) & 3;
        int high = b->h[e & 31] >> (e >> 5) & 1;
        y[e] = d * (float)(ck_q3_k_scale(b->scales, e >> 4) - 32) * (float)(q + 4 * high - 4);
    }
}

static void q4_k(const ck_q4_k *b, float *y) {
    float d = ck_half_to_float(b->d), m = ck_half_to_float(b->m);
    for (int sub = 0; sub < 8; sub++) {
        uint8_t scale, minimum;
        ck_q4_k_scale(b->scales, sub, &scale, &minimum);
        float ds = d * (float)scale, ms = m * (float)minimum;
        for (int i = 0; i < 32; i++) {
            y[sub * 32 + i] = ds * (float)(b->q[(sub >> 1) * 32 + i] >> (4 * (sub & 1)) & 15) - ms;
        }
    }
}

static void q5_k(const ck_q5_k *b, float *y) {
    float d = ck_half_to_float(b->d), m = ck_half_to_float(b->m);
    for (int sub = 0; sub < 8; sub++) {
        uint8_t scale, minimum;
        ck_q4_k_scale(b->scales, sub, &scale, &minimum);
        float ds = d * (float)scale, ms = m * (float)minimum;
        for (int i = 0; i < 32; i++) {
            int q = (b->q[(sub >> 1) * 32 + i] >> (4 * (sub & 1)) & 15) | (b->h[i] >> sub & 1) << 4;
            y[sub * 32 + i] = ds * (float)q - ms;
        }
    }
}

static void q6_k(const ck_q6_k *b, float *y) {
    float d = ck_half_to_float(b->d);
    for (int e = 0; e < 256; e++) {
        int half = e >> 7, quarter = e >> 5 & 3, i = e & 31;
        int low = b->q[half * 64 + (quarter & 1) * 32 + i] >> (4 * (quarter >> 1)) & 15;
        int high = b->h[half * 32 + i] >> (2 * quarter) & 3;
        y[e] = d * (float)b->scales[e >> 4] * (float)((low | high << 4) - 32);
    }
}

static void iq4_xs(const ck_iq4_xs *b, float *y) {
    float d = ck_half_to_float(b->d);
    for (int sub = 0; sub < 8; sub++) {
        float ds = d * (float)(ck_iq4_xs_scale(b, sub) - 32);
        for (int i = 0; i < 16; i++) {
            y[sub * 32 + i] = ds * (float)ck_iq4_levels[b->q[sub * 16 + i] & 15];
            y[sub * 32 + 16 + i] = ds * (float)ck_iq4_levels[b->q[sub * 16 + i] >> 4];
        }
    }
}

#define BLOCKS(NAME, SIZE)                                                                                   \
    for (int64_t i = 0; i < count / SIZE; i++) NAME((const ck_##NAME *)source + i, destination + i * SIZE);  \
    break

void ck_dequantize(ck_type type, const void *source, float *destination, int64_t count) {
    switch (type) {
    case CK_F32: memcpy(destination, source, (size_t)count * 4); break;
    case CK_F16: ck_f16_to_f32(source, destination, count); break;
    case CK_BF16:
        for (int64_t i = 0; i < count; i++) destination[i] = ck_bfloat_to_float(ck_load16((const uint8_t *)source + 2 * i));
        break;
    case CK_Q4_0: BLOCKS(q4_0, 32);
    case CK_Q4_1: BLOCKS(q4_1, 32);
    case CK_Q5_0: BLOCKS(q5_0, 32);
    case CK_Q5_1: BLOCKS(q5_1, 32);
    case CK_Q8_0: BLOCKS(q8_0, 32);
    case CK_IQ4_NL: BLOCKS(iq4_nl, 32);
    case CK_Q2_K: BLOCKS(q2_k, 256);
    case CK_Q3_K: BLOCKS(q3_k, 256);
    case CK_Q4_K: BLOCKS(q4_k, 256);
    case CK_Q5_K: BLOCKS(q5_k, 256);
    case CK_Q6_K: BLOCKS(q6_k, 256);
    case CK_IQ4_XS: BLOCKS(iq4_xs, 256);
    }
}
