/// Block layouts of GGUF's quantised types as they stand in files, and how their fields are read.
/// Source of the layouts: ggml-common.h and ggml-quants.c of llama.cpp; the numbers are facts of the format.
#ifndef CK_FORMATS_H
#define CK_FORMATS_H

#include <stdint.h>
#include <string.h>

#include "CKernels.h"

typedef struct { uint16_t d; uint8_t q[16]; } ck_q4_0;                        // d·(q − 8)
typedef struct { uint16_t d, m; uint8_t q[16]; } ck_q4_1;                     // d·q + m
typedef struct { uint16_t d; uint8_t h[4]; uint8_t q[16]; } ck_q5_0;          // d·(q − 16), fifth bits in h
typedef struct { uint16_t d, m; uint8_t h[4]; uint8_t q[16]; } ck_q5_1;       // d·q + m
typedef struct { uint16_t d; int8_t q[32]; } ck_q8_0;                         // d·q
typedef struct { uint8_t scales[16]; uint8_t q[64]; uint16_t d, m; } ck_q2_k; // d·sc·q − m·mn, 16 sub-blocks of 16
typedef struct { uint8_t h[32]; uint8_t q[64]; uint8_t scales[12]; uint16_t d; } ck_q3_k;    // d·(sc − 32)·(q − 4)
typedef struct { uint16_t d, m; uint8_t scales[12]; uint8_t q[128]; } ck_q4_k;               // d·sc·q − m·mn, 8 of 32
typedef struct { uint16_t d, m; uint8_t scales[12]; uint8_t h[32]; uint8_t q[128]; } ck_q5_k;
typedef struct { uint8_t q[128]; uint8_t h[64]; int8_t scales[16]; uint16_t d; } ck_q6_k;    // d·sc·(q − 32), 16 of 16
typedef struct { uint16_t d; uint8_t q[16]; } ck_iq4_nl;                      // d·table[q]
typedef struct { uint16_t d, scales_high; uint8_t scales_low[4]; uint8_t q[128]; } ck_iq4_xs; // d·(sc − 32)·table[q]

_Static_assert(sizeof(ck_q4_0) == 18 && sizeof(ck_q4_1) == 20 && sizeof(ck_q5_0) == 22 && sizeof(ck_q5_1) == 24, "");
_Static_assert(sizeof(ck_q8_0) == 34 && sizeof(ck_q2_k) == 84 && sizeof(ck_q3_k) == 110 && sizeof(ck_q4_k) == 144, "");
_Static_assert(sizeof(ck_q5_k) == 176 && sizeof(ck_q6_k) == 210 && sizeof(ck_iq4_nl) == 18 && sizeof(ck_iq4_xs) == 136, "");

/// The 16 levels of the non-linear 4-bit types.
static const int8_t ck_iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// Scale of sub-block `i` of Q3_K, 0...63 (32 stands for nought).
static inline uint8_t ck_q3_k_scale(const uint8_t *scales, int i) {
    uint8_t low = i < 8 ? scales[i] & 15 : scales[i - 8] >> 4;
    uint8_t high = (scales[8 + (i & 3)] >> (2 * (i >> 2))) & 3;
    return (uint8_t)(low | high << 4);
}

/// Scale and minimum of sub-block `i` of Q4_K and Q5_K, 0...63 each.
static inline void ck_q4_k_scale(const uint8_t *scales, int i, uint8_t *scale, uint8_t *minimum) {
    if (i < 4) {
        *scale = scales[i] & 63;
        *minimum = scales[i + 4] & 63;
    } else {
        *scale = (uint8_t)((scales[i + 4] & 15) | (scales[i - 4] >> 6) << 4);
        *minimum = (uint8_t)((scales[i + 4] >> 4) | (scales[i] >> 6) << 4);
    }
}

/// Scale of sub-block `i` of IQ4_XS, 0...63 (32 stands for nought).
static inline uint8_t ck_iq4_xs_scale(const ck_iq4_xs *block, int i) {
    uint8_t low = (block->scales_low[i / 2] >> (4 * (i & 1))) & 15;
    uint8_t high = (block->scales_high >> (2 * i)) & 3;
    return (uint8_t)(low | high << 4);
}

/// Half to single precision, exact. Written so that a compiler needs no run-time library for it.
static inline float ck_half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff, bits;
    float value;
    if (rest >= 0x7c00) {
        bits = 0x7f800000 | (rest & 0x3ff) << 13;
        if (rest > 0x7c00) bits |= 0x400000;    // a quiet NaN, as the conversion instructions give
    } else if (rest >= 0x400) {
        bits = (rest << 13) + (112u << 23);
    } else {    // subnormal or nought: an integer times 2⁻²⁴
        value = (float)rest * 5.9604644775390625e-8f;
        memcpy(&bits, &value, 4);
    }
    bits |= sign;
    memcpy(&value, &bits, 4);
    return value;
}

/// Single to half precision, to nearest even.
static inline uint16_t ck_float_to_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
    if (bits >= 0x477ff000) return sign | 0x7c00;       // rounds to 65536 or more
    if (bits >= 0x38800000) {                           // normal
        uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
        return (uint16_t)(sign | ((rounded - (112u << 23)) >> 13));
    }
    if (bits < 0x33000000) return sign;                 // less than half the smallest subnormal
    uint32_t exponent = bits >> 23, mantissa = (bits & 0x7fffff) | 0x800000;
    uint32_t shift = 126 - exponent;                    // 14...24
    uint32_t half = mantissa >> shift, lost = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
    if (lost > middle || (lost == middle && (half & 1))) half++;
    return (uint16_t)(sign | half);
}

static inline float ck_bfloat_to_float(uint16_t value) {
    uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, 4);
    return result;
}

static inline uint16_t ck_load16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, 2);
    return value;
}

static inline uint32_t ck_load32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, 4);
    return value;
}

#endif
