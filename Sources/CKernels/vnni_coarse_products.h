/// Matrix products whose activations are rounded to 8 bits, with the instruction of VNNI that multiplies four unsigned bytes by
/// four signed ones and adds all to 32 bits. Otherwise as in `avx2_matmul.c`, with the same activations and the same sums
/// to the last bit: those of a sub-block are exact in either, and stay below 2²⁴ with their integer scales (at most
/// 32 · 32 · 127 · 128, Q6_K), so that floats multiply them exactly as well.
///
/// A file includes this once, after it has defined `DPBUSD` as its form of the instruction.

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
/// whole sub-block, from their sums of either pair of columns.
INLINE __m256i begun(const ck_type type, const ck_activation *x, const int half) {
    const int16_t *bias = family_of(type) == HALVED ? x->bias32[half] : shift_of(type) == 8 ? x->bias8 : x->bias16;
    int32_t pair;
    if (family_of(type) != SPLIT && shift_of(type) == 0) return _mm256_setzero_si256();
    memcpy(&pair, bias, 4);
    return _mm256_madd_epi16(_mm256_set1_epi32(pair), _mm256_set1_epi16(family_of(type) == SPLIT ? 128 / 16 : 1));
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
        for (int i = 0; i < G * T; i++) lanes[i / T][i % T] = begun(type, x[i % T], half);
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
    for (int v = 0; v < 8; v++) w[v] = byte_weights(type, block, sub, v);
    load_factors(type, block, s, sub, factors);
    for (int i = 0; i < factors_of(type); i++) w[8 + i] = _mm256_castps_si256(factors[i]);
}

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

#define ACTIVATION ck_activation
#define ACTIVATIONS(job) ((job)->activations)
#include "avx2_products.h"
