/// Matrix products whose activations are rounded to 15 bits. Otherwise as in `avx2_matmul.c`: there 8 bits multiply 8, here 16
/// multiply 16, two columns of 8 rows at once, and a sub-block adds up exactly in 32 bits.
///
/// A file includes this once: `avx2_fine.c`, and the two for VNNI, which define `DPWSSD` as their form of the instruction that
/// multiplies and adds in one; with `PANEL_STEP` 2, many tokens take vectors of 512 bits. They take the same activations and give the same sums to the last bit.

#include <string.h>

#include "avx2.h"
#include "avx2_weights.h"

/// Two neighbouring activations in every lane.
INLINE __m256i two(const int16_t *q) {
    int32_t value;
    memcpy(&value, q, 4);
    return _mm256_set1_epi32(value);
}

/// `sums` plus the products of `w` and `q`, two neighbours added up.
INLINE __m256i add_products(__m256i sums, __m256i w, __m256i q) {
#ifdef DPWSSD
    return DPWSSD(sums, w, q);
#else
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(w, q));
    // Keeps the compiler from turning a chain of these into a tree, which would need more registers than there are.
    __asm__("" : "+x"(sums));
    return sums;
#endif
}

/// What the shift of the weights, a power of two, has added to a sum of products, from the sum of the activations.
INLINE __m256i shifted(const ck_type type, int32_t total) {
    return _mm256_slli_epi32(_mm256_set1_epi32(total), __builtin_ctz((unsigned)shift_of(type) | 256));
}

// MARK: - A sub-block

/// Whether the products of a whole sub-block are below 2²⁴, so that it makes no difference to the last bit whether they are
/// multiplied by the integer scale before or after they become floats.
INLINE bool scales_as_float(const ck_type type) { return type == CK_Q4_K || type == CK_Q5_K; }

/// Adds one sub-block to the sums of `T` tokens.
INLINE void multiply_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int T, const ck_fine_activation *x[],
    __m256 sums[]) {
    const int halves_ = family_of(type) == HALVED ? 2 : 1, vectors = 8 / halves_;
    // One token's products would wait for each other.
    const int chains = T == 1 ? 2 : 1;
    __m256i totals[TILE];
    __m256i pairs[2];
    if (subs_of(type) == 8) sub_pairs(type, block, s, sub, pairs);
#pragma clang loop unroll(full)
    for (int half = 0; half < halves_; half++) {
        __m256i products[TILE], others[TILE];
        for (int t = 0; t < T; t++) products[t] = others[t] = _mm256_setzero_si256();
#pragma clang loop unroll(full)
        for (int v = half * vectors; v < (half + 1) * vectors; v++) {
            __m256i w[2];
            wide_weights(type, block, sub, v, w);
            for (int t = 0; t < T; t++) {
                products[t] = add_products(products[t], w[0], two(x[t]->q + 4 * v));
                __m256i *second = chains == 2 ? &others[t] : &products[t];
                *second = add_products(*second, w[1], two(x[t]->q + 4 * v + 2));
            }
        }
        for (int t = 0; t < T; t++) {
            if (chains == 2) products[t] = _mm256_add_epi32(products[t], others[t]);
            if (shift_of(type) > 0) {
                products[t] = _mm256_sub_epi32(
                    products[t], shifted(type, family_of(type) == HALVED ? x[t]->half_total[half] : x[t]->total));
            }
            if (subs_of(type) == 8 && !scales_as_float(type)) {
                products[t] = _mm256_mullo_epi32(products[t], _mm256_srai_epi32(pairs[half], 16));
            }
            totals[t] = half == 0 ? products[t] : _mm256_add_epi32(totals[t], products[t]);
        }
    }
    if (subs_of(type) == 8) {
        for (int t = 0; t < T; t++) {
            __m256 products = _mm256_cvtepi32_ps(totals[t]);
            if (scales_as_float(type)) {
                products = _mm256_mul_ps(products, _mm256_cvtepi32_ps(_mm256_srai_epi32(pairs[0], 16)));
            }
            sums[t] = _mm256_fmadd_ps(products, _mm256_broadcast_ss(&x[t]->d), sums[t]);
        }
    } else {
        __m256 scale, minimum;
        block_scale(type, block, &scale, &minimum);
        for (int t = 0; t < T; t++) {
            sums[t] = _mm256_fmadd_ps(
                _mm256_cvtepi32_ps(totals[t]), _mm256_mul_ps(scale, _mm256_broadcast_ss(&x[t]->d)), sums[t]);
            if (has_minimum(type)) sums[t] = _mm256_fmadd_ps(minimum, _mm256_broadcast_ss(&x[t]->sum), sums[t]);
        }
    }
}

// MARK: - A sub-block unpacked
//
// Its weights around nought, two columns to a vector in the order of `ck_fine_activation`, with the integer scale multiplied
// in; of a block of 32 columns scale and minimum after them.

INLINE size_t unpacked_bytes(const ck_type type) {
    return (size_t)(16 + (subs_of(type) == 8 ? 0 : 1 + has_minimum(type))) * sizeof(__m256i);
}

INLINE void unpack_sub(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, void *out) {
    __m256i *w = out, pairs[2];
    if (subs_of(type) == 8) sub_pairs(type, block, s, sub, pairs);
#pragma clang loop unroll(full)
    for (int v = 0; v < 8; v++) {
        __m256i wide[2];
        wide_weights(type, block, sub, v, wide);
        for (int i = 0; i < 2; i++) {
            if (shift_of(type) > 0) wide[i] = _mm256_sub_epi16(wide[i], _mm256_set1_epi16((int16_t)shift_of(type)));
            if (subs_of(type) == 8) wide[i] = _mm256_mullo_epi16(wide[i], pairs[family_of(type) == HALVED ? v / 4 : 0]);
            w[PANEL_STEP * (2 * v + i)] = wide[i];
        }
    }
    if (subs_of(type) == 1) {
        __m256 scale, minimum;
        block_scale(type, block, &scale, &minimum);
        w[PANEL_STEP * 16] = _mm256_castps_si256(scale);
        if (has_minimum(type)) w[PANEL_STEP * 17] = _mm256_castps_si256(minimum);
    }
}

#if PANEL_STEP == 1
/// Adds one unpacked sub-block of `G` groups, `stride` bytes apart, to `sums[G, TILE]` of `T` tokens.
INLINE void multiply_unpacked(
    const ck_type type, const int G, const int T, const char *panel, const size_t stride, const ck_fine_activation *x[], __m256 *sums) {
    const __m256i *w[GROUPS];
    __m256i products[GROUPS][TILE];
#pragma clang loop unroll(full)
    for (int g = 0; g < G; g++) {
        w[g] = (const __m256i *)(const void *)(panel + (size_t)g * stride);
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) products[g][t] = _mm256_setzero_si256();
    }
#pragma clang loop unroll(full)
    for (int v = 0; v < 16; v++) {
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            const __m256i q = two(x[t]->q + 2 * v);
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) products[g][t] = add_products(products[g][t], w[g][v], q);
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        const __m256 d = _mm256_broadcast_ss(&x[t]->d);
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            const __m256 product = _mm256_cvtepi32_ps(products[g][t]);
            __m256 sum = sums[g * TILE + t];
            if (subs_of(type) == 8) {
                sum = _mm256_fmadd_ps(product, d, sum);
            } else {
                sum = _mm256_fmadd_ps(product, _mm256_mul_ps(_mm256_castsi256_ps(w[g][16]), d), sum);
                if (has_minimum(type)) {
                    sum = _mm256_fmadd_ps(_mm256_castsi256_ps(w[g][17]), _mm256_broadcast_ss(&x[t]->sum), sum);
                }
            }
            sums[g * TILE + t] = sum;
        }
    }
}

#else
/// Adds one unpacked sub-block of `P` pairs of groups, `stride` bytes apart and two groups to a vector, to the sums of `T` tokens.
INLINE void multiply_pairs(
    const ck_type type, const int P, const int T, const char *panel, const size_t stride, const ck_fine_activation *x[],
    __m512 sums[PAIRS][TILE]) {
    const __m512i *w[PAIRS];
    __m512i products[PAIRS][TILE];
#pragma clang loop unroll(full)
    for (int p = 0; p < P; p++) {
        w[p] = (const __m512i *)(const void *)(panel + (size_t)p * stride);
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) products[p][t] = _mm512_setzero_si512();
    }
#pragma clang loop unroll(full)
    for (int v = 0; v < 16; v++) {
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            int32_t two;
            memcpy(&two, x[t]->q + 2 * v, 4);
            const __m512i q = _mm512_set1_epi32(two);
#pragma clang loop unroll(full)
            for (int p = 0; p < P; p++) {
                __asm__("vpdpwssd %2, %1, %0" : "+v"(products[p][t]) : "v"(w[p][v]), "v"(q));
            }
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        const __m512 d = _mm512_set1_ps(x[t]->d);
#pragma clang loop unroll(full)
        for (int p = 0; p < P; p++) {
            const __m512 factor = subs_of(type) == 8 ? d : _mm512_mul_ps(_mm512_castsi512_ps(w[p][16]), d);
            sums[p][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[p][t]), factor, sums[p][t]);
            if (subs_of(type) == 1 && has_minimum(type)) {
                sums[p][t] = _mm512_fmadd_ps(_mm512_castsi512_ps(w[p][17]), _mm512_set1_ps(x[t]->sum), sums[p][t]);
            }
        }
    }
}
#endif

#define ACTIVATION ck_fine_activation
#define ACTIVATIONS(job) ((job)->fine)
#include "avx2_products.h"
