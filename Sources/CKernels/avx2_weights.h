/// Reading interleaved weights into AVX2 registers, and writing results. See `layout.h` for how they lie.
///
/// Every function here takes the type as a constant and is inlined, so that the switches vanish. A *sub-block* is 32
/// columns of 8 rows. Its weights come as eight vectors of unsigned bytes: byte `4r + c` of vector `v` is row `r`, column
/// `4v + c`. Three families of types differ in how they are multiplied:
/// - plain: one scale (and perhaps a minimum) per row and sub-block;
/// - halved: an integer scale per 16 columns below a float scale (Q2_K, Q3_K, Q6_K);
/// - split: 8-bit weights, whose upper and lower four bits are multiplied apart, since a pair of products of full bytes
///   overflows 16 bits.
#ifndef CK_AVX2_WEIGHTS_H
#define CK_AVX2_WEIGHTS_H

#include <immintrin.h>

#include "internal.h"

#define INLINE static inline __attribute__((always_inline))

/// Tokens of one tile, and the most of one pass over the weights as they stand.
#define TILE 4

/// From a vector of a group in a panel of unpacked weights to its next: 1, or 2 where those of two neighbours alternate, so that they
/// are one vector of 512 bits.
#ifndef PANEL_STEP
#define PANEL_STEP 1
#endif
/// Groups of one tile behind unpacked weights.
#ifndef GROUPS
#define GROUPS 2
#endif
/// Vectors of 512 bits that they make.
#define PAIRS (GROUPS / 2)

enum family { PLAIN, HALVED, SPLIT };

INLINE enum family family_of(const ck_type type) {
    switch (type) {
    case CK_Q2_K: case CK_Q3_K: case CK_Q6_K: return HALVED;
    case CK_Q8_0: case CK_IQ4_NL: case CK_IQ4_XS: return SPLIT;
    default: return PLAIN;
    }
}

/// Sub-blocks per block of the file.
INLINE int subs_of(const ck_type type) {
    switch (type) {
    case CK_Q2_K: case CK_Q3_K: case CK_Q4_K: case CK_Q5_K: case CK_Q6_K: case CK_IQ4_XS: return 8;
    default: return 1;
    }
}

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

/// What stands for nought among the unsigned weights, and so which bias the sums begin with.
INLINE int shift_of(const ck_type type) {
    switch (type) {
    case CK_Q4_0: return 8;
    case CK_Q5_0: case CK_Q5_1: case CK_Q5_K: return 16;
    case CK_Q3_K: case CK_Q6_K: return 32;
    default: return 0;
    }
}

INLINE bool has_minimum(const ck_type type) {
    switch (type) {
    case CK_Q4_1: case CK_Q5_1: case CK_Q2_K: case CK_Q4_K: case CK_Q5_K: return true;
    default: return false;
    }
}

// MARK: - Weights

INLINE __m256i load(const uint8_t *p) { return _mm256_loadu_si256((const __m256i *)p); }

INLINE __m256i low_bits(__m256i v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }

INLINE __m256i high_bits(__m256i v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15)); }

/// The bits of `v` under `mask` (of each byte) moved from bit `from` to bit `to`.
INLINE __m256i move_bits(__m256i v, const int mask, const int from, const int to) {
    __m256i bits = to >= from ? _mm256_slli_epi16(v, to - from) : _mm256_srli_epi16(v, from - to);
    return _mm256_and_si256(bits, _mm256_set1_epi8((char)(mask << to)));
}

/// Vector `v` of sub-block `sub` of an interleaved block (plain and halved types).
INLINE __m256i weights(const ck_type type, const uint8_t *block, const int sub, const int v) {
    switch (type) {
    case CK_Q4_0:
    case CK_Q4_1: {
        const uint8_t *q = block + (type == CK_Q4_0 ? 16 : 32);
        return v < 4 ? low_bits(load(q + 32 * v)) : high_bits(load(q + 32 * (v - 4)));
    }
    case CK_Q5_0:
    case CK_Q5_1: {
        const uint8_t *h = block + (type == CK_Q5_0 ? 16 : 32), *q = h + 32;
        __m256i low = v < 4 ? low_bits(load(q + 32 * v)) : high_bits(load(q + 32 * (v - 4)));
        return _mm256_or_si256(low, move_bits(load(h), 1, v, 4));
    }
    case CK_Q4_K: {
        __m256i q = load(block + 128 + 32 * (8 * (sub / 2) + v));
        return sub % 2 == 0 ? low_bits(q) : high_bits(q);
    }
    case CK_Q5_K: {
        __m256i q = load(block + 384 + 32 * (8 * (sub / 2) + v));
        return _mm256_or_si256(
            sub % 2 == 0 ? low_bits(q) : high_bits(q), move_bits(load(block + 128 + 32 * v), 1, sub, 4));
    }
    case CK_Q6_K: {
        const uint8_t *planes = block + 32 * (24 * (sub / 4) + v);
        if (sub % 4 < 3) return _mm256_and_si256(load(planes + 256 * (sub % 4)), _mm256_set1_epi8(63));
        return _mm256_or_si256(
            _mm256_or_si256(move_bits(load(planes), 3, 6, 0), move_bits(load(planes + 256), 3, 6, 2)),
            move_bits(load(planes + 512), 3, 6, 4));
    }
    case CK_Q2_K: return move_bits(load(block + 128 + 32 * (8 * (sub / 4) + v)), 3, 2 * (sub % 4), 0);
    case CK_Q3_K: {
        __m256i q = move_bits(load(block + 256 + 32 * (8 * (sub / 4) + v)), 3, 2 * (sub % 4), 0);
        __m256i h = move_bits(load(block + 32 * v), 1, sub, 2);
        return _mm256_add_epi8(_mm256_or_si256(q, h), _mm256_set1_epi8(28));    // q − 4 as q + 28 − 32
    }
    default: return _mm256_setzero_si256();
    }
}

/// The same for split types: lower four bits, and upper four bits plus 8.
INLINE void split_weights(const ck_type type, const uint8_t *block, const int sub, const int v, __m256i *low, __m256i *high) {
    if (type == CK_Q8_0) {
        __m256i q = load(block + 16 + 32 * v);
        *low = low_bits(q);
        *high = _mm256_xor_si256(high_bits(q), _mm256_set1_epi8(8));
    } else {
        // The levels -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113, as 16 · (high - 8) + low.
        const __m256i lows = _mm256_broadcastsi128_si256(
            _mm_setr_epi8(1, 8, 13, 15, 15, 13, 10, 6, 1, 13, 9, 6, 5, 5, 9, 1));
        const __m256i highs = _mm256_broadcastsi128_si256(
            _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 15));
        const uint8_t *q = type == CK_IQ4_NL ? block + 16 : block + 64 + 128 * sub;
        __m256i index = v < 4 ? low_bits(load(q + 32 * v)) : high_bits(load(q + 32 * (v - 4)));
        *low = _mm256_shuffle_epi8(lows, index);
        *high = _mm256_shuffle_epi8(highs, index);
    }
}

/// Vector `v` of sub-block `sub` widened to 16 bits, for every type: of each row columns `4v` and `4v + 2`, and `4v + 1` and
/// `4v + 3`. Those of plain and halved types stand shifted by `shift_of`, those of split types are signed.
INLINE void wide_weights(const ck_type type, const uint8_t *block, const int sub, const int v, __m256i wide[2]) {
    if (family_of(type) != SPLIT) {
        const __m256i w = weights(type, block, sub, v);
        wide[0] = _mm256_and_si256(w, _mm256_set1_epi16(255));
        wide[1] = _mm256_srli_epi16(w, 8);
        return;
    }
    __m256i w;
    if (type == CK_Q8_0) {
        w = load(block + 16 + 32 * v);
    } else {
        const __m256i levels = _mm256_broadcastsi128_si256(
            _mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113));
        const uint8_t *q = type == CK_IQ4_NL ? block + 16 : block + 64 + 128 * sub;
        w = _mm256_shuffle_epi8(levels, v < 4 ? low_bits(load(q + 32 * v)) : high_bits(load(q + 32 * (v - 4))));
    }
    wide[0] = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
    wide[1] = _mm256_srai_epi16(w, 8);
}

// MARK: - Scales

INLINE __m256 halves(const uint8_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }

/// Byte `j` (0...3) of every 32-bit lane, unsigned, as a float.
INLINE __m256 byte_to_float(__m256i v, const int j) {
    __m256i byte = j == 3 ? _mm256_srli_epi32(v, 24)
                          : _mm256_and_si256(_mm256_srli_epi32(v, 8 * j), _mm256_set1_epi32(255));
    return _mm256_cvtepi32_ps(byte);
}

/// Byte `j` (0...3) of every 32-bit lane, signed, in both 16-bit halves of the lane.
INLINE __m256i byte_to_pairs(__m256i v, const int j) {
    const char z = (char)0x80, a = (char)j, b = (char)(j + 4), c = (char)(j + 8), d = (char)(j + 12);
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(z, a, z, a, z, b, z, b, z, c, z, c, z, d, z, d));
    return _mm256_srai_epi16(_mm256_shuffle_epi8(v, order), 8);
}

/// The same for bytes below 128.
INLINE __m256i small_byte_to_pairs(__m256i v, const int j) {
    const char z = (char)0x80, a = (char)j, b = (char)(j + 4), c = (char)(j + 8), d = (char)(j + 12);
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(a, z, a, z, b, z, b, z, c, z, c, z, d, z, d, z));
    return _mm256_shuffle_epi8(v, order);
}

/// The scales of an interleaved block of a type with 8 sub-blocks. Those of plain and split types come in bytes: byte `j` of
/// lane `r` of `scales[i]` is that of row `r`, sub-block `4i + j`. `m` has the sign that minima are added with.
typedef struct {
    __m256i scales[2], minima[2];
    __m256 d, m;
} block_scales;

INLINE block_scales load_block_scales(const ck_type type, const uint8_t *block) {
    block_scales s = {0};
    if (family_of(type) == HALVED) {
        s.d = halves(block + (type == CK_Q6_K ? 1664 : type == CK_Q2_K ? 640 : 864));
        if (type == CK_Q2_K) s.m = _mm256_xor_ps(halves(block + 656), _mm256_set1_ps(-0.0f));
        return s;
    }
    const __m256i six = _mm256_set1_epi8(63), four = _mm256_set1_epi8(15), top = _mm256_set1_epi8((char)0xc0);
    if (type == CK_Q4_K || type == CK_Q5_K) {
        __m256i a = load(block + 32), b = load(block + 64), c = load(block + 96);
        s.d = halves(block);
        s.m = _mm256_xor_ps(halves(block + 16), _mm256_set1_ps(-0.0f));
        s.scales[0] = _mm256_and_si256(a, six);
        s.minima[0] = _mm256_and_si256(b, six);
        s.scales[1] = _mm256_or_si256(_mm256_and_si256(c, four), _mm256_srli_epi16(_mm256_and_si256(a, top), 2));
        s.minima[1] = _mm256_or_si256(high_bits(c), _mm256_srli_epi16(_mm256_and_si256(b, top), 2));
    } else {    // IQ4_XS: 16 high bits per row, two per sub-block, then 4 bytes of low bits, two sub-blocks each
        __m256i high = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(block + 16)));
        __m256i low = load(block + 32);
        __m256i spread[2];
        for (int i = 0; i < 2; i++) {
            // Byte 2i of the low bits holds sub-blocks 4i and 4i + 1, the next one the two after them.
            __m256i two = _mm256_srli_epi32(low, 16 * i);
            __m256i nibbles = _mm256_or_si256(
                _mm256_or_si256(
                    _mm256_and_si256(two, _mm256_set1_epi32(15)),
                    _mm256_and_si256(_mm256_slli_epi32(two, 4), _mm256_set1_epi32(15 << 8))),
                _mm256_or_si256(
                    _mm256_and_si256(_mm256_slli_epi32(two, 8), _mm256_set1_epi32(15 << 16)),
                    _mm256_and_si256(_mm256_slli_epi32(two, 12), _mm256_set1_epi32(15 << 24))));
            __m256i bits = _mm256_srli_epi32(high, 8 * i);
            __m256i tops = _mm256_or_si256(
                _mm256_or_si256(
                    _mm256_and_si256(_mm256_slli_epi32(bits, 4), _mm256_set1_epi32(3 << 4)),
                    _mm256_and_si256(_mm256_slli_epi32(bits, 10), _mm256_set1_epi32(3 << 12))),
                _mm256_or_si256(
                    _mm256_and_si256(_mm256_slli_epi32(bits, 16), _mm256_set1_epi32(3 << 20)),
                    _mm256_and_si256(_mm256_slli_epi32(bits, 22), _mm256_set1_epi32(3 << 28))));
            spread[i] = _mm256_or_si256(nibbles, tops);
        }
        s.d = halves(block);
        s.scales[0] = _mm256_sub_epi8(spread[0], _mm256_set1_epi8(32));
        s.scales[1] = _mm256_sub_epi8(spread[1], _mm256_set1_epi8(32));
    }
    return s;
}

/// Integer scales of a sub-block of a type with 8 of them, in pairs of 16 bits, below the float scale `d` of the block: of
/// either half of a halved type, else one.
INLINE void sub_pairs(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, __m256i pairs[2]) {
    const __m256i four = _mm256_set1_epi8(15);
    const int i = sub / 2, j = 2 * (sub % 2);    // of halved types: lane bytes j and j + 1 of word i
    switch (type) {
    case CK_Q4_K:
    case CK_Q5_K: pairs[0] = small_byte_to_pairs(s->scales[sub / 4], sub % 4); break;
    case CK_IQ4_XS: pairs[0] = byte_to_pairs(s->scales[sub / 4], sub % 4); break;
    case CK_Q2_K: {
        const __m256i bytes = _mm256_and_si256(load(block + 32 * i), four);
        pairs[0] = small_byte_to_pairs(bytes, j);
        pairs[1] = small_byte_to_pairs(bytes, j + 1);
        break;
    }
    case CK_Q3_K: {
        const uint8_t *words = block + 768;
        __m256i low = load(words + 32 * (i & 1));
        low = i < 2 ? _mm256_and_si256(low, four) : high_bits(low);
        const __m256i bytes = _mm256_sub_epi8(
            _mm256_or_si256(low, move_bits(load(words + 64), 3, 2 * i, 4)), _mm256_set1_epi8(32));
        pairs[0] = byte_to_pairs(bytes, j);
        pairs[1] = byte_to_pairs(bytes, j + 1);
        break;
    }
    case CK_Q6_K: {
        const __m256i bytes = load(block + 1536 + 32 * i);
        pairs[0] = byte_to_pairs(bytes, j);
        pairs[1] = byte_to_pairs(bytes, j + 1);
        break;
    }
    default: break;
    }
}

/// How many minima a sub-block has.
INLINE int minima_of(const ck_type type) { return type == CK_Q2_K ? 2 : has_minimum(type) ? 1 : 0; }

/// Minima of a sub-block of a type with 8 of them, as they are added for every unit of the activations: of either half, or one.
INLINE void sub_minima(const ck_type type, const uint8_t *block, const block_scales *s, const int sub, __m256 minima[2]) {
    if (type == CK_Q2_K) {
        const int i = sub / 2, j = 2 * (sub % 2);
        const __m256i bytes = high_bits(load(block + 32 * i));
        minima[0] = _mm256_mul_ps(s->m, byte_to_float(bytes, j));
        minima[1] = _mm256_mul_ps(s->m, byte_to_float(bytes, j + 1));
    } else if (has_minimum(type)) {
        const __m256 minimum = byte_to_float(s->minima[sub / 4], sub % 4);
        if (type == CK_Q5_K) {    // its weights stand shifted by 16
            const __m256 shift = _mm256_mul_ps(s->d, _mm256_set1_ps(16));
            minima[0] = _mm256_fmadd_ps(s->m, minimum, _mm256_mul_ps(shift, byte_to_float(s->scales[sub / 4], sub % 4)));
        } else {
            minima[0] = _mm256_mul_ps(s->m, minimum);
        }
    }
}

/// Scale and minimum of a block of 32 columns: `w ≈ scale · (q - shift) + minimum`.
INLINE void block_scale(const ck_type type, const uint8_t *block, __m256 *scale, __m256 *minimum) {
    *scale = halves(block);
    *minimum = type == CK_Q4_1   ? halves(block + 16)
             : type == CK_Q5_1 ? _mm256_fmadd_ps(*scale, _mm256_set1_ps(16), halves(block + 16))
                               : _mm256_setzero_ps();
}

// MARK: - Results

/// Writes the sums of a group, or adds them to what is there.
INLINE void store_rows(const ck_matmul_job *job, int64_t group, int64_t token, __m256 sums) {
    float *y = job->y + token * job->y_stride + group * CK_GROUP_ROWS;
    if (job->bias) sums = _mm256_add_ps(sums, _mm256_loadu_ps(job->bias + group * CK_GROUP_ROWS));
    if (job->accumulates) sums = _mm256_add_ps(sums, _mm256_loadu_ps(y));
    _mm256_storeu_ps(y, sums);
}

/// What the sums of a token begin with. With many tokens they must begin so, since they are kept in `y` between panels; with
/// few they begin so too, that a token gets the same sums to the last bit whatever stands beside it.
INLINE __m256 first_sums(const ck_matmul_job *job, int64_t group, int64_t token) {
    const float *y = job->y + token * job->y_stride + group * CK_GROUP_ROWS;
    const __m256 sums = job->accumulates ? _mm256_loadu_ps(y) : _mm256_setzero_ps();
    return job->bias ? _mm256_add_ps(sums, _mm256_loadu_ps(job->bias + group * CK_GROUP_ROWS)) : sums;
}

#endif
