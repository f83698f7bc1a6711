/// The plain implementation of every kernel, in portable C. It is what the fast ones are held against, and what processors
/// without one run.
#include <float.h>
#include <math.h>
#include <string.h>

#include "formats.h"
#include "internal.h"
#include "layout.h"
#include "spread.h"

static size_t matmul_scratch(int64_t cols) { return sizeof(float) * (size_t)cols; }

static size_t attention_scratch(int32_t group, int32_t head_dim) {
    (void)group;
    return sizeof(float) * 2 * (size_t)head_dim;
}

/// The greater of two, and no number where one of them is none.
static inline float ck_greater_or_nan(float a, float b) { return isnan(a) || isnan(b) ? NAN : a > b ? a : b; }

// MARK: - Products

static void quantize(const float *x, int64_t cols, ck_activation *out) {
    for (int64_t b = 0; b < cols / 32; b++, x += 32, out++) {
        float greatest = 0;
        for (int i = 0; i < 32; i++) greatest = ck_greater_or_nan(greatest, fabsf(x[i]));
        out->d = greatest / 127;
        float inverse = greatest > 0 ? 127 / greatest : 0;
        if (!(inverse <= 3.4e38f)) inverse = 0;    // subnormal or not finite
        int sums[2][2] = {{0, 0}, {0, 0}};
        for (int i = 0; i < 32; i++) {
            float scaled = x[i] * inverse;
            int q = scaled >= -127 && scaled <= 127 ? (int)rintf(scaled) : scaled > 127 ? 127 : scaled < -127 ? -127 : 0;
            out->q[i] = (int8_t)q;
            sums[i / 16][(i & 3) / 2] += q;
        }
        for (int lane = 0; lane < 2; lane++) {
            out->bias32[0][lane] = (int16_t)(-32 * sums[0][lane]);
            out->bias32[1][lane] = (int16_t)(-32 * sums[1][lane]);
            out->bias16[lane] = (int16_t)(-16 * (sums[0][lane] + sums[1][lane]));
            out->bias8[lane] = (int16_t)(-8 * (sums[0][lane] + sums[1][lane]));
        }
        for (int half = 0; half < 2; half++) out->half_sum[half] = out->d * (float)(sums[half][0] + sums[half][1]);
        out->sum = out->half_sum[0] + out->half_sum[1];
    }
}

static void quantize_fine(const float *x, int64_t cols, ck_fine_activation *out) {
    const float limit = CK_FINE_LIMIT;
    for (int64_t b = 0; b < cols / 32; b++, x += 32, out++) {
        float greatest = 0;
        for (int i = 0; i < 32; i++) greatest = ck_greater_or_nan(greatest, fabsf(x[i]));
        out->d = greatest / limit;
        float inverse = greatest > 0 ? limit / greatest : 0;
        if (!(inverse <= 3.4e38f)) inverse = 0;    // subnormal or not finite
        out->half_total[0] = out->half_total[1] = 0;
        for (int i = 0; i < 32; i++) {
            float scaled = x[i] * inverse;
            int q = scaled >= -limit && scaled <= limit ? (int)rintf(scaled)
                : scaled > limit                        ? CK_FINE_LIMIT
                : scaled < -limit                       ? -CK_FINE_LIMIT
                                                        : 0;
            out->q[ck_fine_place(i)] = (int16_t)q;
            out->half_total[i / 16] += q;
        }
        out->total = out->half_total[0] + out->half_total[1];
        for (int half = 0; half < 2; half++) out->half_sum[half] = out->d * (float)out->half_total[half];
        out->sum = out->d * (float)out->total;
        out->unused = 0;
    }
}

static void unpack_row(const ck_matmul_job *job, const uint8_t *group, int32_t row, float *weights) {
    const int32_t size = ck_type_block_size(job->type), bytes = ck_type_block_bytes(job->type);
    _Alignas(16) uint8_t block[256];
    for (int64_t b = 0; b < job->cols / size; b++) {
        ck_unpack_block(job->type, group + (size_t)b * (size_t)bytes * CK_GROUP_ROWS, row, block);
        ck_dequantize(job->type, block, weights + b * size, size);
    }
}

static float dot_rounded(const float *weights, const ck_activation *x, int64_t cols) {
    float sum = 0;
    for (int64_t b = 0; b < cols / 32; b++) {
        float part = 0;
        for (int i = 0; i < 32; i++) part += weights[b * 32 + i] * (float)x[b].q[i];
        sum += part * x[b].d;
    }
    return sum;
}

static float dot_fine(const float *weights, const ck_fine_activation *x, int64_t cols) {
    float sum = 0;
    for (int64_t b = 0; b < cols / 32; b++) {
        float part = 0;
        for (int i = 0; i < 32; i++) part += weights[b * 32 + i] * (float)x[b].q[ck_fine_place(i)];
        sum += part * x[b].d;
    }
    return sum;
}

static float dot(const float *a, const float *b, int64_t count) {
    float sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static void matmul(const ck_matmul_job *job) {
    const size_t group_bytes = ck_row_bytes(job->type, job->cols) * CK_GROUP_ROWS;
    float *weights = job->scratch;
    for (int64_t row = 0; row < job->groups * CK_GROUP_ROWS; row++) {
        unpack_row(job, job->data + (size_t)(row / CK_GROUP_ROWS) * group_bytes, (int32_t)(row % CK_GROUP_ROWS), weights);
        for (int64_t t = 0; t < job->tokens; t++) {
            float sum = !ck_rounds_input(job->type) ? dot(weights, job->x + t * job->x_stride, job->cols)
                : job->fine                         ? dot_fine(weights, job->fine + t * (job->cols / 32), job->cols)
                            : dot_rounded(weights, job->activations + t * (job->cols / 32), job->cols);
            if (job->bias) sum += job->bias[row];
            float *y = job->y + t * job->y_stride + row;
            *y = job->accumulates ? *y + sum : sum;
        }
    }
}

// MARK: - Attention

/// Number `index` of a block of keys or values, in the order of the block, of which run `scale` has the scale.
static float cached(const ck_attention_job *job, const uint8_t *block, int64_t index, int64_t scale) {
    const uint16_t *halves = (const uint16_t *)block;
    if (job->type != CK_Q8_0) return ck_half_to_float(halves[index]);
    const int8_t *bytes = (const int8_t *)(halves + ck_scales_of_block(job->type, job->head_dim));
    return ck_half_to_float(halves[scale]) * (float)bytes[index];
}

static void attention(const ck_attention_job *job) {
    const int32_t dim = job->head_dim;
    const int64_t runs = ck_scale_runs(dim);
    const size_t block_bytes = ck_cache_block_bytes(job->type, dim);
    float *sums = job->scratch, *q = sums + dim;
    for (int64_t t = 0; t < job->tokens; t++) {
        const int64_t position = job->position + t;
        const int64_t first = job->window > 0 ? ck_max(0, position - job->window + 1) : 0;
        const int64_t begin = ck_max(job->begin, first), end = ck_min(job->end, position + 1);
        for (int32_t g = 0; g < job->group; g++) {
            memcpy(q, job->q + t * job->q_stride + g * dim, sizeof(float) * (size_t)dim);
            if (job->type == CK_Q8_0) ck_spread_head(q, dim);
            float greatest = -INFINITY, total = 0;
            memset(sums, 0, sizeof(float) * (size_t)dim);
            for (int64_t s = begin; s < end; s++) {
                const size_t offset = (size_t)(s / CK_CACHE_BLOCK) * block_bytes;
                const int64_t place = s % CK_CACHE_BLOCK;
                float score = 0;
                for (int32_t i = 0; i < dim; i++) {
                    score += q[i]
                        * cached(
                                 job, job->keys + offset, i * CK_CACHE_BLOCK + place,
                                 i / CK_SCALE_RUN * CK_CACHE_BLOCK + place);
                }
                score *= job->scale;
                if (job->soft_cap > 0) score = job->soft_cap * tanhf(score / job->soft_cap);
                if (!(score > -INFINITY)) {    // overflowed or no number: nothing after it makes the sums numbers again
                    score = NAN;
                    greatest = total = INFINITY;
                }
                if (score > greatest) {
                    float shrink = expf(greatest - score);
                    for (int32_t i = 0; i < dim; i++) sums[i] *= shrink;
                    total *= shrink;
                    greatest = score;
                }
                float weight = expf(score - greatest);
                for (int32_t i = 0; i < dim; i++) {
                    sums[i] += weight
                        * cached(job, job->values + offset, place * dim + i, place * runs + i / CK_SCALE_RUN);
                }
                total += weight;
            }
            if (job->partial) {
                float *partial = job->partial + (t * job->group + g) * (dim + 2);
                memcpy(partial, sums, sizeof(float) * (size_t)dim);
                partial[dim] = greatest;
                partial[dim + 1] = total;
            } else {
                float *out = job->out + t * job->out_stride + g * dim;
                const float inverse = total > 0 ? 1 / total : 0;
                for (int32_t i = 0; i < dim; i++) out[i] = sums[i] * inverse;
            }
        }
    }
}

// MARK: - Element-wise

static void f32_to_f16(const float *source, uint16_t *destination, int64_t count) {
    for (int64_t i = 0; i < count; i++) destination[i] = ck_float_to_half(source[i]);
}

static void f16_to_f32(const uint16_t *source, float *destination, int64_t count) {
    for (int64_t i = 0; i < count; i++) destination[i] = ck_half_to_float(source[i]);
}

static void rms_norm(const float *x, const float *weight, float epsilon, int64_t width, float *out) {
    double squares = 0;
    for (int64_t i = 0; i < width; i++) squares += (double)x[i] * x[i];
    // Beyond what a float holds, the fast kernel has no factor.
    float factor = squares <= FLT_MAX ? (float)(1 / sqrt(squares / (double)width + epsilon)) : NAN;
    for (int64_t i = 0; i < width; i++) out[i] = x[i] * factor * (weight ? weight[i] : 1);
}

static void add(float *x, const float *y, int64_t count) {
    for (int64_t i = 0; i < count; i++) x[i] += y[i];
}

static void scale(float *x, float factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) x[i] *= factor;
}

static void rope(float *x, const float *table, int32_t pairs, ck_rope_style style) {
    for (int32_t i = 0; i < pairs; i++) {
        float *a = style == CK_ROPE_HALVES ? x + i : x + 2 * i;
        float *b = style == CK_ROPE_HALVES ? x + i + pairs : x + 2 * i + 1;
        float cosine = table[2 * i], sine = table[2 * i + 1], first = *a, second = *b;
        *a = first * cosine - second * sine;
        *b = first * sine + second * cosine;
    }
}

static void silu_multiply(const float *gate, const float *up, int64_t count, float *out) {
    for (int64_t i = 0; i < count; i++) out[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
}

static void gelu_multiply(const float *gate, const float *up, int64_t count, float *out) {
    for (int64_t i = 0; i < count; i++) {
        float v = gate[i], inner = 0.79788456080286535588f * v * (1 + 0.044715f * v * v);
        out[i] = 0.5f * v * (1 + tanhf(inner)) * up[i];
    }
}

static void soft_cap(float *x, float cap, int64_t count) {
    for (int64_t i = 0; i < count; i++) x[i] = cap * tanhf(x[i] / cap);
}

static float softmax(float *x, float factor, int64_t count) {
    float greatest = -INFINITY;
    for (int64_t i = 0; i < count; i++) greatest = fmaxf(greatest, x[i] * factor);
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        x[i] = greatest > -INFINITY ? expf(x[i] * factor - greatest) : 0;
        sum += x[i];
    }
    float inverse = sum > 0 ? (float)(1 / sum) : 0;
    for (int64_t i = 0; i < count; i++) x[i] *= inverse;
    return greatest;
}

static int64_t argmax(const float *x, int64_t count) {
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++) {
        if (x[i] > (best < 0 ? -INFINITY : x[best]) || (best < 0 && x[i] == -INFINITY)) best = i;
    }
    return best;
}

const ck_kernels ck_scalar_kernels = {
    .set = CK_SET_SCALAR,
    .many_tokens = 2,
    .matmul_scratch = matmul_scratch,
    .attention_scratch = attention_scratch,
    .quantize = quantize,
    .quantize_fine = quantize_fine,
    .matmul = matmul,
    .attention = attention,
    .f32_to_f16 = f32_to_f16,
    .f16_to_f32 = f16_to_f32,
    .rms_norm = rms_norm,
    .add = add,
    .scale = scale,
    .rope = rope,
    .silu_multiply = silu_multiply,
    .gelu_multiply = gelu_multiply,
    .soft_cap = soft_cap,
    .softmax = softmax,
    .argmax = argmax,
};
