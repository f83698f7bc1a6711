/// Matrix products with NEON whose weights are floats, which nothing is rounded for. The words of a column's 8 rows are
/// neighbours, so that a column is two vectors.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "neon.h"
#include "neon_weights.h"


/// Tokens of a tile. More would not fit the registers.
#define TILE 3
/// Chains of additions, enough to hide the latency of a multiply-add, and as many for any number of tokens: their sums are added
/// up in the same order then.
#define CHAINS 4

/// The weights of a quad in column `col`.
INLINE float32x4_t column(const ck_type type, const uint8_t *group, int64_t col, const int quad) {
    if (type == CK_F32) return vreinterpretq_f32_u8(vld1q_u8(group + 32 * col + 16 * quad));
    const uint8_t *field = group + 16 * col;
    if (type == CK_F16) return halves(field, quad);
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(field + 8 * quad)), 16));
}

/// One group, `T` tokens from `first` on.
INLINE void multiply(const ck_type type, const int T, const ck_matmul_job *job, int64_t group, int64_t first) {
    const uint8_t *w = job->data + (size_t)group * (size_t)job->cols * (type == CK_F32 ? 32 : 16);
    const float *x = job->x + first * job->x_stride;
    float32x4_t sums[CHAINS][QUADS][TILE];
    UNROLL for (int i = 0; i < CHAINS * QUADS * T; i++) sums[i / (QUADS * T)][i / T % QUADS][i % T] = vdupq_n_f32(0);
    int64_t col = 0;
    for (; col + CHAINS <= job->cols; col += CHAINS) {
        float32x4_t four[TILE];
        UNROLL for (int t = 0; t < T; t++) four[t] = vld1q_f32(x + t * job->x_stride + col);
        UNROLL for (int i = 0; i < CHAINS * QUADS; i++) {
            const int c = i / QUADS, quad = i % QUADS;
            const float32x4_t weight = column(type, w, col + c, quad);
            UNROLL for (int t = 0; t < T; t++) sums[c][quad][t] = vfmaq_n_f32(sums[c][quad][t], weight, four[t][c]);
        }
    }
    for (; col < job->cols; col++) {
        UNROLL for (int quad = 0; quad < QUADS; quad++) {
            const float32x4_t weight = column(type, w, col, quad);
            UNROLL for (int t = 0; t < T; t++) {
                sums[0][quad][t] = vfmaq_n_f32(sums[0][quad][t], weight, x[t * job->x_stride + col]);
            }
        }
    }
    UNROLL for (int t = 0; t < T; t++) {
        UNROLL for (int quad = 0; quad < QUADS; quad++) {
            const int64_t row = group * CK_GROUP_ROWS + quad * QUAD;
            float *y = job->y + (first + t) * job->y_stride + row;
            float32x4_t sum = sums[0][quad][t];
            UNROLL for (int c = 1; c < CHAINS; c++) sum = vaddq_f32(sum, sums[c][quad][t]);
            if (job->bias) sum = vaddq_f32(sum, vld1q_f32(job->bias + row));
            if (job->accumulates) sum = vaddq_f32(sum, vld1q_f32(y));
            vst1q_f32(y, sum);
        }
    }
}

INLINE void multiply_all(const ck_type type, const ck_matmul_job *job) {
    for (int64_t group = 0; group < job->groups; group++) {
        int64_t t = 0;
        for (; t + 3 <= job->tokens; t += 3) multiply(type, 3, job, group, t);
        for (; t + 2 <= job->tokens; t += 2) multiply(type, 2, job, group, t);
        for (; t < job->tokens; t++) multiply(type, 1, job, group, t);
    }
}

void ck_neon_float_matmul(const ck_matmul_job *job) {
    switch (job->type) {
    case CK_F32: multiply_all(CK_F32, job); break;
    case CK_F16: multiply_all(CK_F16, job); break;
    case CK_BF16: multiply_all(CK_BF16, job); break;
    default: break;    // quantised
    }
}

#endif
