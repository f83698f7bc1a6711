/// Reading interleaved weights into NEON registers. See `layout.h` for how they lie.
///
/// A *quad* is four rows of a group, the first four or the last: one vector has four columns of them, so that one `sdot` with
/// four activations adds to four rows' sums, each in its lane. A group is two quads, which nothing joins.
///
/// Every function here takes the type as a constant and is inlined, so that the switches vanish. A *sub-block* is 32 columns.
/// Its weights come as eight vectors of signed bytes: byte `4r + c` of vector `v` is row `r` of the quad, column `4v + c`.
/// Two families of types differ in how they are multiplied: those of `halves_of` 2 have an integer scale per 16 columns, all
/// others one per sub-block, or none.
#ifndef CK_NEON_WEIGHTS_H
#define CK_NEON_WEIGHTS_H

#include <arm_neon.h>

#include "internal.h"
#include "neon_loops.h"

/// Rows of a quad, and quads of a group.
#define QUAD 4
#define QUADS 2

/// Sub-blocks per block of the file.
INLINE int subs_of(const ck_type type) {
    switch (type) {
    case CK_Q2_K: case CK_Q3_K: case CK_Q4_K: case CK_Q5_K: case CK_Q6_K: case CK_IQ4_XS: return 8;
    default: return 1;
    }
}

/// Integer scales per sub-block, where there are any.
INLINE int halves_of(const ck_type type) { return type == CK_Q2_K || type == CK_Q3_K || type == CK_Q6_K ? 2 : 1; }

/// Bytes of an interleaved block.
INLINE int stride_of(const ck_type type) {
    switch (type) {
    case CK_Q4_0: case CK_IQ4_NL: return 8 * 18;
    case CK_Q4_1: return 8 * 20;
    case CK_Q5_0: return 8 * 22;
    case CK_Q5_1: return 8 * 24;
    case CK_Q8_0: return 8 * 34;
    case CK_Q2_K: return 8 * 84;
    case CK_Q3_K: return 8 * 110;
    case CK_Q4_K: return 8 * 144;
    case CK_Q5_K: return 8 * 176;
    case CK_Q6_K: return 8 * 210;
    case CK_IQ4_XS: return 8 * 136;
    default: return 0;
    }
}

/// What stands for nought among the weights, and so how often the sum of the activations is taken off.
INLINE int shift_of(const ck_type type) {
    switch (type) {
    case CK_Q4_0: return 8;
    case CK_Q5_0: return 16;
    case CK_Q6_K: return 32;
    default: return 0;
    }
}

/// Minima of a sub-block.
INLINE int minima_of(const ck_type type) {
    switch (type) {
    case CK_Q2_K: return 2;
    case CK_Q4_1: case CK_Q5_1: case CK_Q4_K: case CK_Q5_K: return 1;
    default: return 0;
    }
}

// MARK: - Weights

/// Vector `v` of quad `quad` in a field whose words are of four bytes.
INLINE uint8x16_t words(const uint8_t *field, int v, int quad) { return vld1q_u8(field + 32 * v + 16 * quad); }

INLINE uint8x16_t bytes_of(int value) { return vdupq_n_u8((uint8_t)value); }

INLINE uint8x16_t low_bits(uint8x16_t v) { return vandq_u8(v, bytes_of(15)); }

INLINE uint8x16_t high_bits(uint8x16_t v) { return vshrq_n_u8(v, 4); }

/// The bits of `v` under `mask` (of each byte), which begin at bit `from`, moved to bit `to`.
INLINE uint8x16_t move_bits(uint8x16_t v, const int mask, const int from, const int to) {
    const uint8x16_t bits = vandq_u8(v, bytes_of(mask << from));
    return vshlq_u8(bits, vdupq_n_s8((int8_t)(to - from)));    // by a constant, so an immediate shift
}

/// Four bits of a type with 32 columns to a block: the first 16 columns are the lower ones.
INLINE uint8x16_t four_bits(const uint8_t *q, const int v, const int quad) {
    return v < 4 ? low_bits(words(q, v, quad)) : high_bits(words(q, v - 4, quad));
}

/// Vector `v` of sub-block `sub` of an interleaved block, more by `shift_of` than what it means.
INLINE int8x16_t weights(const ck_type type, const uint8_t *block, const int sub, const int v, const int quad) {
    static const int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    uint8x16_t w;
    switch (type) {
    case CK_Q4_0: w = four_bits(block + 16, v, quad); break;
    case CK_Q4_1: w = four_bits(block + 32, v, quad); break;
    case CK_Q5_0:
    case CK_Q5_1: {
        const uint8_t *h = block + (type == CK_Q5_0 ? 16 : 32);
        w = vorrq_u8(four_bits(h + 32, v, quad), move_bits(words(h, 0, quad), 1, v, 4));
        break;
    }
    case CK_Q8_0: w = words(block + 16, v, quad); break;
    case CK_IQ4_NL: return vqtbl1q_s8(vld1q_s8(levels), four_bits(block + 16, v, quad));
    case CK_IQ4_XS: return vqtbl1q_s8(vld1q_s8(levels), four_bits(block + 64 + 128 * sub, v, quad));
    case CK_Q4_K:
    case CK_Q5_K: {
        const uint8_t *h = block + 128;
        const uint8x16_t q = words(type == CK_Q4_K ? h : h + 256, 8 * (sub / 2) + v, quad);
        w = sub % 2 == 0 ? low_bits(q) : high_bits(q);
        if (type == CK_Q5_K) w = vorrq_u8(w, move_bits(words(h, v, quad), 1, sub, 4));
        break;
    }
    case CK_Q6_K: {
        const uint8_t *planes = block + 768 * (sub / 4);
        if (sub % 4 < 3) {
            w = vandq_u8(words(planes, 8 * (sub % 4) + v, quad), bytes_of(63));
        } else {
            w = vorrq_u8(
                vorrq_u8(vshrq_n_u8(words(planes, v, quad), 6), move_bits(words(planes, 8 + v, quad), 3, 6, 2)),
                move_bits(words(planes, 16 + v, quad), 3, 6, 4));
        }
        break;
    }
    case CK_Q2_K: w = move_bits(words(block + 128, 8 * (sub / 4) + v, quad), 3, 2 * (sub % 4), 0); break;
    case CK_Q3_K: {
        const uint8x16_t q = move_bits(words(block + 256, 8 * (sub / 4) + v, quad), 3, 2 * (sub % 4), 0);
        w = vsubq_u8(vorrq_u8(q, move_bits(words(block, v, quad), 1, sub, 2)), bytes_of(4));
        break;
    }
    default: w = bytes_of(0);
    }
    return vreinterpretq_s8_u8(w);
}

// MARK: - Scales

/// The half-precision numbers of a quad, out of eight.
INLINE float32x4_t halves(const uint8_t *field, const int quad) {
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(field + 8 * quad)));
}

/// Byte `j` (0...3) of every 32-bit lane, signed.
INLINE int32x4_t byte_of(uint8x16_t v, const int j) {
    const int32x4_t top = vshlq_s32(vreinterpretq_s32_u8(v), vdupq_n_s32(24 - 8 * j));
    return vshrq_n_s32(top, 24);
}

/// The scales of a quad of an interleaved block of a type with 8 sub-blocks. Of Q4_K and Q5_K, whose integers are packed
/// across sub-blocks, byte `j` of lane `r` of `scales[i]` is that of row `r`, sub-block `4i + j`. `m` has the sign that minima
/// are added with.
typedef struct {
    float32x4_t d, m;
    uint8x16_t scales[2], minima[2];
} block_scales;

INLINE block_scales load_block_scales(const ck_type type, const uint8_t *block, const int quad) {
    block_scales s = {0};
    switch (type) {
    case CK_Q2_K:
        s.d = halves(block + 640, quad);
        s.m = vnegq_f32(halves(block + 656, quad));
        break;
    case CK_Q3_K: s.d = halves(block + 864, quad); break;
    case CK_Q6_K: s.d = halves(block + 1664, quad); break;
    case CK_Q4_K:
    case CK_Q5_K: {
        const uint8x16_t a = words(block + 32, 0, quad), b = words(block + 32, 1, quad), c = words(block + 32, 2, quad);
        s.d = halves(block, quad);
        s.m = vnegq_f32(halves(block + 16, quad));
        s.scales[0] = vandq_u8(a, bytes_of(63));
        s.minima[0] = vandq_u8(b, bytes_of(63));
        s.scales[1] = vorrq_u8(low_bits(c), move_bits(a, 3, 6, 4));
        s.minima[1] = vorrq_u8(high_bits(c), move_bits(b, 3, 6, 4));
        break;
    }
    default: s.d = halves(block, quad);
    }
    return s;
}

/// Integer scale of a half (of types with two of them) or of a whole sub-block, below the float scale `d` of the block.
INLINE int32x4_t integer_scale(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int half, const int quad) {
    const int i = sub / 2, j = 2 * (sub % 2) + half;    // of types with halves: byte j of word i
    switch (type) {
    case CK_Q2_K: return byte_of(low_bits(words(block, i, quad)), j);
    case CK_Q3_K: {
        const uint8x16_t word = words(block + 768, i & 1, quad), low = i < 2 ? low_bits(word) : high_bits(word);
        const uint8x16_t high = move_bits(words(block + 768, 2, quad), 3, 2 * i, 4);
        return byte_of(vsubq_u8(vorrq_u8(low, high), bytes_of(32)), j);
    }
    case CK_Q6_K: return byte_of(words(block + 1536, i, quad), j);
    case CK_IQ4_XS: {    // of each row 16 bits with the upper two of every scale, then 32 with the lower four
        const uint32x4_t high = vmovl_u16(vreinterpret_u16_u8(vld1_u8(block + 16 + 8 * quad)));
        const uint32x4_t low = vreinterpretq_u32_u8(words(block + 32, 0, quad));
        const uint32x4_t lower = vandq_u32(vshlq_u32(low, vdupq_n_s32(-4 * sub)), vdupq_n_u32(15));
        const uint32x4_t upper = vandq_u32(vshlq_u32(high, vdupq_n_s32(4 - 2 * sub)), vdupq_n_u32(3 << 4));
        return vsubq_s32(vreinterpretq_s32_u32(vorrq_u32(lower, upper)), vdupq_n_s32(32));
    }
    default: return byte_of(s->scales[sub / 4], sub % 4);
    }
}

/// Minimum `m` of a sub-block of a type with 8 of them, as it is added for every unit of the activations that it counts for.
INLINE float32x4_t sub_minimum(
    const ck_type type, const uint8_t *block, const block_scales *s, const int sub, const int m, const int quad) {
    const int32x4_t minimum = type == CK_Q2_K ? byte_of(high_bits(words(block, sub / 2, quad)), 2 * (sub % 2) + m)
                                              : byte_of(s->minima[sub / 4], sub % 4);
    return vmulq_f32(s->m, vcvtq_f32_s32(minimum));
}

/// Minimum of a block of 32 columns.
INLINE float32x4_t block_minimum(const uint8_t *block, const int quad) { return halves(block + 16, quad); }

#endif
