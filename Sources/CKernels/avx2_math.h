/// Vector functions that the AVX2 kernels share.
#ifndef CK_AVX2_MATH_H
#define CK_AVX2_MATH_H

#include <immintrin.h>
#include <math.h>

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif

/// e to the `x`, relative error below 2e-7; 0 below -87.3 (no subnormal results), the greatest float's vicinity above 88.3.
/// Range reduction by powers of two, then a polynomial of degree 6 (Taylor; its remainder on ±ln 2 / 2 is 1.2e-7 relative).
INLINE __m256 exp_vector(__m256 x) {
    const __m256 lowest = _mm256_set1_ps(-87.3f);
    const __m256 counts = _mm256_cmp_ps(x, lowest, _CMP_NLT_UQ);    // true for NaN, which passes through
    x = _mm256_min_ps(_mm256_set1_ps(88.3f), x);
    const __m256 n = _mm256_round_ps(
        _mm256_mul_ps(x, _mm256_set1_ps(1.44269504088896341f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693145751953125f), x);    // ln 2 in two parts
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(1.42860682030941723e-6f), r);
    __m256 p = _mm256_set1_ps(1.0f / 720);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
    const __m256i power = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return _mm256_and_ps(_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power)), counts);
}

/// Hyperbolic tangent by way of the exponential of minus twice the magnitude; absolute error below 2e-7.
INLINE __m256 tanh_vector(__m256 x) {
    const __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0f)), one = _mm256_set1_ps(1);
    const __m256 e = exp_vector(_mm256_mul_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), x), _mm256_set1_ps(-2)));
    return _mm256_or_ps(_mm256_div_ps(_mm256_sub_ps(one, e), _mm256_add_ps(one, e)), sign);
}

INLINE float sum_of(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

INLINE float greatest_of(__m256 v) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

INLINE __m256 soft_cap_vector(__m256 x, __m256 cap, __m256 inverse) {
    return _mm256_mul_ps(cap, tanh_vector(_mm256_mul_ps(x, inverse)));
}

/// The first `count` (0...8) lanes, as a mask.
INLINE __m256i first_lanes(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

#endif
