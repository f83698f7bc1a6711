/// Element-wise operations with AVX2. Remainders of fewer than 8 elements go through masked loads and stores.
#if defined(__x86_64__)

#include <float.h>
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)

#include "avx2.h"
#include "avx2_math.h"
#include "formats.h"

void ck_avx2_f32_to_f16(const float *source, uint16_t *destination, int64_t count) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        _mm_storeu_si128(
            (__m128i *)(destination + i), _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT));
    }
    for (; i < count; i++) destination[i] = ck_float_to_half(source[i]);
}

void ck_avx2_f16_to_f32(const uint16_t *source, float *destination, int64_t count) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        _mm256_storeu_ps(destination + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(source + i))));
    }
    for (; i < count; i++) destination[i] = ck_half_to_float(source[i]);
}

void ck_avx2_rms_norm(const float *x, const float *weight, float epsilon, int64_t width, float *out) {
    __m256 squares[4];
    for (int j = 0; j < 4; j++) squares[j] = _mm256_setzero_ps();
    int64_t i = 0;
    for (; i + 32 <= width; i += 32) {
        for (int j = 0; j < 4; j++) {
            const __m256 v = _mm256_loadu_ps(x + i + 8 * j);
            squares[j] = _mm256_fmadd_ps(v, v, squares[j]);
        }
    }
    for (; i < width; i += 8) {
        const __m256 v = _mm256_maskload_ps(x + i, first_lanes(ck_min(8, width - i)));
        squares[0] = _mm256_fmadd_ps(v, v, squares[0]);
    }
    const float sum = sum_of(_mm256_add_ps(_mm256_add_ps(squares[0], squares[1]), _mm256_add_ps(squares[2], squares[3])));
    // A sum that overflowed would make noughts of all: a vector that is no longer one must not pass for one.
    const float factor = sum <= FLT_MAX ? 1 / sqrtf(sum / (float)width + epsilon) : NAN;
    const __m256 factors = _mm256_set1_ps(factor);
    if (weight) {
        for (i = 0; i + 8 <= width; i += 8) {
            const __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + i), factors);
            _mm256_storeu_ps(out + i, _mm256_mul_ps(v, _mm256_loadu_ps(weight + i)));
        }
        for (; i < width; i++) out[i] = x[i] * factor * weight[i];
    } else {
        for (i = 0; i + 8 <= width; i += 8) _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), factors));
        for (; i < width; i++) out[i] = x[i] * factor;
    }
}

void ck_avx2_add(float *x, const float *y, int64_t count) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
    for (; i < count; i++) x[i] += y[i];
}

void ck_avx2_scale(float *x, float factor, int64_t count) {
    const __m256 factors = _mm256_set1_ps(factor);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) _mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), factors));
    for (; i < count; i++) x[i] *= factor;
}

void ck_avx2_rope(float *x, const float *table, int32_t pairs, ck_rope_style style) {
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        // (c0 s0 c1 s1 | …) and the next eight, parted into cosines and sines in the order 0 1 4 5 2 3 6 7 …
        const __m256 t0 = _mm256_loadu_ps(table + 2 * i), t1 = _mm256_loadu_ps(table + 2 * i + 8);
        if (style == CK_ROPE_NEIGHBOURS) {
            for (int j = 0; j < 2; j++) {
                const __m256 t = j ? t1 : t0, v = _mm256_loadu_ps(x + 2 * i + 8 * j);
                const __m256 swapped = _mm256_permute_ps(v, 0xb1);
                const __m256 across = _mm256_mul_ps(swapped, _mm256_movehdup_ps(t));
                _mm256_storeu_ps(x + 2 * i + 8 * j, _mm256_fmaddsub_ps(v, _mm256_moveldup_ps(t), across));
            }
        } else {
            const __m256d cosines = _mm256_castps_pd(_mm256_shuffle_ps(t0, t1, 0x88));
            const __m256d sines = _mm256_castps_pd(_mm256_shuffle_ps(t0, t1, 0xdd));
            const __m256 c = _mm256_castpd_ps(_mm256_permute4x64_pd(cosines, 0xd8));
            const __m256 s = _mm256_castpd_ps(_mm256_permute4x64_pd(sines, 0xd8));
            const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + pairs);
            _mm256_storeu_ps(x + i, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
            _mm256_storeu_ps(x + i + pairs, _mm256_fmadd_ps(a, s, _mm256_mul_ps(b, c)));
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

INLINE __m256 silu(__m256 v) {
    const __m256 e = exp_vector(_mm256_xor_ps(v, _mm256_set1_ps(-0.0f)));
    return _mm256_div_ps(v, _mm256_add_ps(_mm256_set1_ps(1), e));
}

INLINE __m256 gelu(__m256 v) {
    const __m256 cubic = _mm256_fmadd_ps(_mm256_mul_ps(v, v), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1));
    const __m256 inner = _mm256_mul_ps(_mm256_mul_ps(v, cubic), _mm256_set1_ps(0.79788456080286535588f));
    return _mm256_mul_ps(
        _mm256_mul_ps(v, _mm256_set1_ps(0.5f)), _mm256_add_ps(_mm256_set1_ps(1), tanh_vector(inner)));
}

#define GATED(NAME, FUNCTION)                                                                              \
    void NAME(const float *gate, const float *up, int64_t count, float *out) {                             \
        int64_t i = 0;                                                                                     \
        for (; i + 8 <= count; i += 8) {                                                                   \
            const __m256 v = FUNCTION(_mm256_loadu_ps(gate + i));                                          \
            _mm256_storeu_ps(out + i, _mm256_mul_ps(v, _mm256_loadu_ps(up + i)));                          \
        }                                                                                                  \
        if (i < count) {                                                                                   \
            const __m256i mask = first_lanes(count - i);                                                   \
            const __m256 v = FUNCTION(_mm256_maskload_ps(gate + i, mask));                                 \
            _mm256_maskstore_ps(out + i, mask, _mm256_mul_ps(v, _mm256_maskload_ps(up + i, mask)));        \
        }                                                                                                  \
    }

GATED(ck_avx2_silu_multiply, silu)
GATED(ck_avx2_gelu_multiply, gelu)

void ck_avx2_soft_cap(float *x, float cap, int64_t count) {
    const __m256 caps = _mm256_set1_ps(cap), inverse = _mm256_set1_ps(1 / cap);
    for (int64_t i = 0; i < count; i += 8) {
        const __m256i mask = first_lanes(ck_min(8, count - i));
        _mm256_maskstore_ps(x + i, mask, soft_cap_vector(_mm256_maskload_ps(x + i, mask), caps, inverse));
    }
}

float ck_avx2_softmax(float *x, float factor, int64_t count) {
    const __m256 factors = _mm256_set1_ps(factor), none = _mm256_set1_ps(-INFINITY);
    __m256 most = none;
    for (int64_t i = 0; i < count; i += 8) {
        const __m256i mask = first_lanes(ck_min(8, count - i));
        const __m256 v = _mm256_mul_ps(_mm256_maskload_ps(x + i, mask), factors);
        most = _mm256_max_ps(_mm256_blendv_ps(none, v, _mm256_castsi256_ps(mask)), most);
    }
    const float greatest = greatest_of(most);
    if (!(greatest > -INFINITY)) {
        for (int64_t i = 0; i < count; i++) x[i] = 0;
        return greatest;
    }
    const __m256 shift = _mm256_set1_ps(greatest);
    __m256d sums[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (int64_t i = 0; i < count; i += 8) {
        const __m256i mask = first_lanes(ck_min(8, count - i));
        __m256 v = exp_vector(_mm256_fmsub_ps(_mm256_maskload_ps(x + i, mask), factors, shift));
        v = _mm256_and_ps(v, _mm256_castsi256_ps(mask));
        _mm256_maskstore_ps(x + i, mask, v);
        sums[0] = _mm256_add_pd(sums[0], _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
        sums[1] = _mm256_add_pd(sums[1], _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    }
    double parts[4];
    _mm256_storeu_pd(parts, _mm256_add_pd(sums[0], sums[1]));
    ck_avx2_scale(x, (float)(1 / (parts[0] + parts[1] + parts[2] + parts[3])), count);
    return greatest;
}

int64_t ck_avx2_argmax(const float *x, int64_t count) {
    // First the greatest value, by vectors; then its first place. NaN loses against the second operand of a maximum.
    __m256 most[4];
    for (int j = 0; j < 4; j++) most[j] = _mm256_set1_ps(-INFINITY);
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        for (int j = 0; j < 4; j++) most[j] = _mm256_max_ps(_mm256_loadu_ps(x + i + 8 * j), most[j]);
    }
    float greatest = greatest_of(_mm256_max_ps(_mm256_max_ps(most[0], most[1]), _mm256_max_ps(most[2], most[3])));
    for (; i < count; i++) {
        if (x[i] > greatest) greatest = x[i];
    }
    const __m256 wanted = _mm256_set1_ps(greatest);
    for (i = 0; i + 8 <= count; i += 8) {
        const int equal = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + i), wanted, _CMP_EQ_OQ));
        if (equal) return i + __builtin_ctz((unsigned)equal);
    }
    for (; i < count; i++) {
        if (x[i] == greatest) return i;
    }
    return -1;
}

#pragma clang attribute pop
#endif
