/// Matrix products whose activations are rounded to 8 bits, with the instruction of VNNI that multiplies four unsigned bytes by
/// four signed ones and adds all to 32 bits. Otherwise as in `avx2_matmul.c`, with the same activations and the same sums
/// to the last bit: those of a sub-block are exact in either, and stay below 2²⁴ with their integer scales (at most
/// 32 · 32 · 127 · 128, Q6_K), so that floats multiply them exactly as well.
///
/// A file includes this once, after it has defined `DPBUSD` as its form of the instruction; with `PANEL_STEP` 2, many tokens take
/// vectors of 512 bits.

#include <string.h>

#include "avx2.h"
#include "avx2_weights.h"

/// Four activations in every lane.
INLINE __m256i four(const int8_t *q) {
    int32_t value;
    memcpy(&value, q, 4);
    return _mm256_set1_epi32(value);
}

/// Exact sums of a sub-block.
INLINE int halves_of(const ck_type type) { return family_of(type) == HALVED ? 2 : 1; }

/// Vector `v` of sub-block `sub`, for every type. Those of split types stand shifted by 128, no longer split.
INLINE __m256i byte_weights(const ck_type type, const uint8_t *block, const int sub, const int v) {
    if (family_of(type) != SPLIT) return weights(type, block, sub, v);
    if (type == CK_Q8_0) return _mm256_xor_si256(load(block + 16 + 32 * v), _mm256_set1_epi8((char)0x80));
    const __m256i levels = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        1, 24, 45, 63, 79, 93, 106, 118, (char)129, (char)141, (char)153, (char)166, (char)181, (char)197, (char)217, (char)241));
    const uint8_t *q = type == CK_IQ4_NL ? block + 16 : block + 64 + 128 * sub;
    return _mm256_shuffle_epi8(levels, v < 4 ? low_bits(load(q + 32 * v)) : high_bits(load(q + 32 * (v - 4))));
}

/// What sums of products begin with, since weights stand shifted: minus the shift times the sum of the activations of a half or of a
/// whole sub-block.
INLINE int32_t start(const ck_type type, const ck_activation *x, const int half) {
    if (family_of(type) == SPLIT) return 128 / 16 * x->start16;
    switch (shift_of(type)) {
    case 0: return 0;
    case 8: return x->start8;
    case 16: return x->start16;
    default: return x->start32[half];
    }
}

// MARK: - A sub-block

/// What the sums of a sub-block are multiplied with: the integer scales of its halves, or the one of all, as floats; of a block of 32
/// columns scale and minimum.
INLINE int factors_of(const ck_type type) { return subs_of(type) == 8 ? halves_of(type) : 1 + has_minimum(type); }

INLINE void load_factors(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, __m256 factors[2]) {
    if (subs_of(type) == 1) {
        block_scale(type, block, &factors[0], &factors[1]);
        return;
    }
    __m256i pairs[2];
    sub_pairs(type, block, s, sub, pairs);
    for (int half = 0; half < halves_of(type); half++) {
        factors[half] = _mm256_cvtepi32_ps(_mm256_srai_epi32(pairs[half], 16));
    }
}

/// Where the weights of a sub-block are: in a block, or unpacked in a panel.
typedef struct {
    const uint8_t *block;
    int sub;
    const __m256i *unpacked;
    __m256 factors[2];
} sub_block;

/// Adds one sub-block of `G` groups to `sums[G, TILE]` of `T` tokens.
INLINE void multiply(
    const ck_type type, const int G, const int T, const bool unpacked, const sub_block *w, const ck_activation *x[], __m256 *sums) {
    const int vectors = 8 / halves_of(type);
    __m256 products[GROUPS][TILE];
#pragma clang loop unroll(full)
    for (int half = 0; half < halves_of(type); half++) {
        __m256i lanes[GROUPS][TILE];
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) lanes[i / T][i % T] = _mm256_set1_epi32(start(type, x[i % T], half));
#pragma clang loop unroll(full)
        for (int v = half * vectors; v < (half + 1) * vectors; v++) {
            __m256i vector[GROUPS];
#pragma clang loop unroll(full)
            for (int g = 0; g < G; g++) {
                vector[g] = unpacked ? w[g].unpacked[v] : byte_weights(type, w[g].block, w[g].sub, v);
            }
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                const __m256i q = four(x[t]->q + 4 * v);
#pragma clang loop unroll(full)
                for (int g = 0; g < G; g++) {
                    lanes[g][t] = DPBUSD(lanes[g][t], vector[g], q);
                    __asm__("" : "+v"(lanes[g][t]));    // one after the other, else registers are short
                }
            }
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) {
            const int g = i / T, t = i % T;
            const __m256 total = _mm256_cvtepi32_ps(lanes[g][t]);
            products[g][t] = subs_of(type) == 1 ? total
                           : half == 0          ? _mm256_mul_ps(total, w[g].factors[0])
                                                : _mm256_fmadd_ps(total, w[g].factors[1], products[g][t]);
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        const __m256 d = _mm256_broadcast_ss(&x[t]->d);
#pragma clang loop unroll(full)
        for (int g = 0; g < G; g++) {
            __m256 sum = sums[g * TILE + t];
            sum = _mm256_fmadd_ps(products[g][t], subs_of(type) == 8 ? d : _mm256_mul_ps(w[g].factors[0], d), sum);
            if (subs_of(type) == 1 && has_minimum(type)) {
                sum = _mm256_fmadd_ps(w[g].factors[1], _mm256_broadcast_ss(&x[t]->sum), sum);
            }
            sums[g * TILE + t] = sum;
        }
    }
}

INLINE void multiply_sub(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int T, const ck_activation *x[],
    __m256 sums[]) {
    sub_block w = {.block = block, .sub = sub};
    load_factors(type, block, s, sub, w.factors);
    multiply(type, 1, T, false, &w, x, sums);
}

// MARK: - A sub-block unpacked: its vectors of weights, then its factors

INLINE size_t unpacked_bytes(const ck_type type) { return (size_t)(8 + factors_of(type)) * sizeof(__m256i); }

INLINE void unpack_sub(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, void *out) {
    __m256i *w = out;
    __m256 factors[2];
#pragma clang loop unroll(full)
    for (int v = 0; v < 8; v++) w[PANEL_STEP * v] = byte_weights(type, block, sub, v);
    load_factors(type, block, s, sub, factors);
    for (int i = 0; i < factors_of(type); i++) w[PANEL_STEP * (8 + i)] = _mm256_castps_si256(factors[i]);
}

#if PANEL_STEP == 1
INLINE void multiply_unpacked(
    const ck_type type, const int G, const int T, const char *panel, const size_t stride, const ck_activation *x[], __m256 *sums) {
    sub_block w[GROUPS];
#pragma clang loop unroll(full)
    for (int g = 0; g < G; g++) {
        w[g].unpacked = (const __m256i *)(const void *)(panel + (size_t)g * stride);
        for (int i = 0; i < factors_of(type); i++) w[g].factors[i] = _mm256_castsi256_ps(w[g].unpacked[8 + i]);
    }
    multiply(type, G, T, true, w, x, sums);
}
#else
/// Adds one unpacked sub-block of `P` pairs of groups, `stride` bytes apart and two groups to a vector, to the sums of `T` tokens.
INLINE void multiply_pairs(
    const ck_type type, const int P, const int T, const char *panel, const size_t stride, const ck_activation *x[],
    __m512 sums[PAIRS][TILE]) {
    const int vectors = 8 / halves_of(type);
    const __m512i *w[PAIRS];
    __m512 products[PAIRS][TILE];
#pragma clang loop unroll(full)
    for (int p = 0; p < P; p++) w[p] = (const __m512i *)(const void *)(panel + (size_t)p * stride);
#pragma clang loop unroll(full)
    for (int half = 0; half < halves_of(type); half++) {
        __m512i lanes[PAIRS][TILE];
#pragma clang loop unroll(full)
        for (int i = 0; i < P * T; i++) lanes[i / T][i % T] = _mm512_set1_epi32(start(type, x[i % T], half));
#pragma clang loop unroll(full)
        for (int v = half * vectors; v < (half + 1) * vectors; v++) {
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                int32_t four;
                memcpy(&four, x[t]->q + 4 * v, 4);
                const __m512i q = _mm512_set1_epi32(four);
#pragma clang loop unroll(full)
                for (int p = 0; p < P; p++) {
                    lanes[p][t] = _mm512_dpbusd_epi32(lanes[p][t], w[p][v], q);
                    __asm__("" : "+v"(lanes[p][t]));
                }
            }
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < P * T; i++) {
            const int p = i / T, t = i % T;
            const __m512 total = _mm512_cvtepi32_ps(lanes[p][t]);
            const __m512 factor = _mm512_castsi512_ps(w[p][8 + half]);
            products[p][t] = subs_of(type) == 1 ? total
                           : half == 0          ? _mm512_mul_ps(total, factor)
                                                : _mm512_fmadd_ps(total, factor, products[p][t]);
        }
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        const __m512 d = _mm512_set1_ps(x[t]->d);
#pragma clang loop unroll(full)
        for (int p = 0; p < P; p++) {
            const __m512 factor = subs_of(type) == 8 ? d : _mm512_mul_ps(_mm512_castsi512_ps(w[p][8]), d);
            sums[p][t] = _mm512_fmadd_ps(products[p][t], factor, sums[p][t]);
            if (subs_of(type) == 1 && has_minimum(type)) {
                sums[p][t] = _mm512_fmadd_ps(_mm512_castsi512_ps(w[p][9]), _mm512_set1_ps(x[t]->sum), sums[p][t]);
            }
        }
    }
}
#endif

#define ACTIVATION ck_activation
#define ACTIVATIONS(job) ((job)->activations)
#include "avx2_products.h"
