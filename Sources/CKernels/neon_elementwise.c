/// Element-wise operations with NEON. Remainders of fewer than 4 elements go through a vector of their own.
#if defined(__aarch64__)

#include <arm_neon.h>
#include <float.h>
#include <math.h>

#include "formats.h"
#include "neon.h"
#include "neon_math.h"

void ck_neon_f32_to_f16(const float *source, uint16_t *destination, int64_t count) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) vst1_u16(destination + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(source + i))));
    for (; i < count; i++) destination[i] = ck_float_to_half(source[i]);
}

void ck_neon_f16_to_f32(const uint16_t *source, float *destination, int64_t count) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) vst1q_f32(destination + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(source + i))));
    for (; i < count; i++) destination[i] = ck_half_to_float(source[i]);
}

void ck_neon_rms_norm(const float *x, const float *weight, float epsilon, int64_t width, float *out) {
    float32x4_t squares[4];
    for (int j = 0; j < 4; j++) squares[j] = vdupq_n_f32(0);
    int64_t i = 0;
    for (; i + 16 <= width; i += 16) {
        for (int j = 0; j < 4; j++) {
            const float32x4_t v = vld1q_f32(x + i + 4 * j);
            squares[j] = vfmaq_f32(squares[j], v, v);
        }
    }
    for (; i < width; i += 4) {
        const float32x4_t v = i + 4 <= width ? vld1q_f32(x + i) : load_some(x + i, width - i);
        squares[0] = vfmaq_f32(squares[0], v, v);
    }
    const float sum = vaddvq_f32(vaddq_f32(vaddq_f32(squares[0], squares[1]), vaddq_f32(squares[2], squares[3])));
    // A sum that overflowed would make noughts of all: a vector that is no longer one must not pass for one.
    const float factor = sum <= FLT_MAX ? 1 / sqrtf(sum / (float)width + epsilon) : NAN;
    for (i = 0; i + 4 <= width; i += 4) {
        const float32x4_t v = vmulq_n_f32(vld1q_f32(x + i), factor);
        vst1q_f32(out + i, weight ? vmulq_f32(v, vld1q_f32(weight + i)) : v);
    }
    for (; i < width; i++) out[i] = x[i] * factor * (weight ? weight[i] : 1);
}

void ck_neon_add(float *x, const float *y, int64_t count) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) vst1q_f32(x + i, vaddq_f32(vld1q_f32(x + i), vld1q_f32(y + i)));
    for (; i < count; i++) x[i] += y[i];
}

void ck_neon_scale(float *x, float factor, int64_t count) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) vst1q_f32(x + i, vmulq_n_f32(vld1q_f32(x + i), factor));
    for (; i < count; i++) x[i] *= factor;
}

/// Rotates pairs (a, b) by angles whose (cos, sin) are `t`.
INLINE void rotate(float32x4_t *a, float32x4_t *b, float32x4x2_t t) {
    const float32x4_t first = *a;
    *a = vfmsq_f32(vmulq_f32(first, t.val[0]), *b, t.val[1]);
    *b = vfmaq_f32(vmulq_f32(*b, t.val[0]), first, t.val[1]);
}

void ck_neon_rope(float *x, const float *table, int32_t pairs, ck_rope_style style) {
    int32_t i = 0;
    for (; i + 4 <= pairs; i += 4) {
        const float32x4x2_t t = vld2q_f32(table + 2 * i);
        if (style == CK_ROPE_NEIGHBOURS) {
            float32x4x2_t v = vld2q_f32(x + 2 * i);
            rotate(&v.val[0], &v.val[1], t);
            vst2q_f32(x + 2 * i, v);
        } else {
            float32x4_t a = vld1q_f32(x + i), b = vld1q_f32(x + i + pairs);
            rotate(&a, &b, t);
            vst1q_f32(x + i, a);
            vst1q_f32(x + i + pairs, b);
        }
    }
    for (; i < pairs; i++) {
        float *a = style == CK_ROPE_HALVES ? x + i : x + 2 * i;
        float *b = style == CK_ROPE_HALVES ? x + i + pairs : x + 2 * i + 1;
        const float cosine = table[2 * i], sine = table[2 * i + 1], first = *a, second = *b;
        *a = first * cosine - second * sine;
        *b = first * sine + second * cosine;
    }
}

INLINE float32x4_t silu(float32x4_t v) { return vdivq_f32(v, vaddq_f32(vdupq_n_f32(1), exp_vector(vnegq_f32(v)))); }

INLINE float32x4_t gelu(float32x4_t v) {
    const float32x4_t cubic = vfmaq_n_f32(vdupq_n_f32(1), vmulq_f32(v, v), 0.044715f);
    const float32x4_t inner = vmulq_n_f32(vmulq_f32(v, cubic), 0.79788456080286535588f);
    return vmulq_f32(vmulq_n_f32(v, 0.5f), vaddq_f32(vdupq_n_f32(1), tanh_vector(inner)));
}

#define GATED(NAME, FUNCTION)                                                                                           \
    void NAME(const float *gate, const float *up, int64_t count, float *out) {                                          \
        int64_t i = 0;                                                                                                  \
        for (; i + 4 <= count; i += 4) {                                                                                \
            vst1q_f32(out + i, vmulq_f32(FUNCTION(vld1q_f32(gate + i)), vld1q_f32(up + i)));                            \
        }                                                                                                               \
        if (i < count) {                                                                                                \
            const float32x4_t v = FUNCTION(load_some(gate + i, count - i));                                             \
            store_some(out + i, vmulq_f32(v, load_some(up + i, count - i)), count - i);                                 \
        }                                                                                                               \
    }

GATED(ck_neon_silu_multiply, silu)
GATED(ck_neon_gelu_multiply, gelu)

void ck_neon_soft_cap(float *x, float cap, int64_t count) {
    const float inverse = 1 / cap;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) vst1q_f32(x + i, soft_cap_vector(vld1q_f32(x + i), cap, inverse));
    if (i < count) store_some(x + i, soft_cap_vector(load_some(x + i, count - i), cap, inverse), count - i);
}

float ck_neon_softmax(float *x, float factor, int64_t count) {
    // The greater number of the two: what is none does not count.
    float32x4_t most = vdupq_n_f32(-INFINITY);
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) most = vmaxnmq_f32(most, vmulq_n_f32(vld1q_f32(x + i), factor));
    float greatest = vmaxnmvq_f32(most);
    for (; i < count; i++) greatest = fmaxf(greatest, x[i] * factor);
    if (!(greatest > -INFINITY)) {
        for (i = 0; i < count; i++) x[i] = 0;
        return greatest;
    }
    const float32x4_t shift = vdupq_n_f32(-greatest);
    float64x2_t sums[2] = {vdupq_n_f64(0), vdupq_n_f64(0)};
    for (i = 0; i < count; i += 4) {
        const bool whole = i + 4 <= count;
        const float32x4_t v = whole ? vld1q_f32(x + i) : load_some(x + i, count - i);
        float32x4_t e = exp_vector(vfmaq_n_f32(shift, v, factor));
        if (whole) {
            vst1q_f32(x + i, e);
        } else {
            store_some(x + i, e, count - i);
            e = load_some(x + i, count - i);
        }
        sums[0] = vaddq_f64(sums[0], vcvt_f64_f32(vget_low_f32(e)));
        sums[1] = vaddq_f64(sums[1], vcvt_high_f64_f32(e));
    }
    ck_neon_scale(x, (float)(1 / vaddvq_f64(vaddq_f64(sums[0], sums[1]))), count);
    return greatest;
}

/// The greater one of each two, and `a` where `b` is no number.
INLINE float32x4_t greater(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(b, a), b, a); }

int64_t ck_neon_argmax(const float *x, int64_t count) {
    // First the greatest value, by vectors; then its first place.
    float32x4_t most[4];
    for (int j = 0; j < 4; j++) most[j] = vdupq_n_f32(-INFINITY);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        for (int j = 0; j < 4; j++) most[j] = greater(most[j], vld1q_f32(x + i + 4 * j));
    }
    float greatest = vmaxvq_f32(vmaxq_f32(vmaxq_f32(most[0], most[1]), vmaxq_f32(most[2], most[3])));
    for (; i < count; i++) {
        if (x[i] > greatest) greatest = x[i];
    }
    const float32x4_t wanted = vdupq_n_f32(greatest);
    for (i = 0; i + 4 <= count; i += 4) {
        if (vmaxvq_u32(vceqq_f32(vld1q_f32(x + i), wanted)) != 0) break;    // it is one of these
    }
    for (; i < count; i++) {
        if (x[i] == greatest) return i;
    }
    return -1;
}

#endif
