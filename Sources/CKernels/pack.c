/// Interleaving of weights for multiplication, and its inverse. See `layout.h`.
#include "layout.h"

#include <stdlib.h>

#include "formats.h"
#include "internal.h"

#define HALF {2, 1, CK_AS_IN_FILE}
#define WORDS(COUNT) {4, COUNT, CK_AS_IN_FILE}

static const ck_layout layouts[31] = {
    [CK_F32] = {1, {WORDS(1)}},
    [CK_F16] = {1, {HALF}},
    [CK_BF16] = {1, {HALF}},
    [CK_Q4_0] = {2, {HALF, WORDS(4)}},
    [CK_Q4_1] = {3, {HALF, HALF, WORDS(4)}},
    [CK_Q5_0] = {3, {HALF, {4, 1, CK_FIFTH_BITS}, WORDS(4)}},
    [CK_Q5_1] = {4, {HALF, HALF, {4, 1, CK_FIFTH_BITS}, WORDS(4)}},
    [CK_Q8_0] = {2, {HALF, WORDS(8)}},
    [CK_IQ4_NL] = {2, {HALF, WORDS(4)}},
    [CK_Q2_K] = {4, {WORDS(4), WORDS(16), HALF, HALF}},
    [CK_Q3_K] = {4, {WORDS(8), WORDS(16), WORDS(3), HALF}},
    [CK_Q4_K] = {4, {HALF, HALF, WORDS(3), WORDS(32)}},
    [CK_Q5_K] = {5, {HALF, HALF, WORDS(3), WORDS(8), WORDS(32)}},
    [CK_Q6_K] = {3, {{4, 48, CK_SIX_BITS}, WORDS(4), HALF}},
    [CK_IQ4_XS] = {4, {HALF, HALF, WORDS(1), WORDS(32)}},
};

const ck_layout *ck_layout_of(ck_type type) { return &layouts[type]; }

/// Bit 4k + c to bit 8c + k, for c in 0...3 and k in 0...7.
static inline uint32_t spread_bits(uint32_t x) {
    uint32_t y = 0;
    for (int c = 0; c < 4; c++) {
        // Every fourth bit of x from c on, gathered into a byte.
        uint32_t bits = x >> c & 0x11111111;
        bits = (bits | bits >> 3) & 0x03030303;
        bits = (bits | bits >> 6) & 0x000f000f;
        bits = (bits | bits >> 12) & 0x000000ff;
        y |= bits << (8 * c);
    }
    return y;
}

/// The inverse of `spread_bits`.
static inline uint32_t gather_bits(uint32_t y) {
    uint32_t x = 0;
    for (int c = 0; c < 4; c++) {
        uint32_t bits = y >> (8 * c) & 0xff;
        bits = (bits | bits << 12) & 0x000f000f;
        bits = (bits | bits << 6) & 0x03030303;
        bits = (bits | bits << 3) & 0x11111111;
        x |= bits << c;
    }
    return x;
}

/// Bytes of a row's six-bit weights, for all of a block.
#define SIX_BIT_BYTES 192

/// The lower four bits of 256 columns, 64 to 32 bytes, and the upper two, as Q6_K has them, to planes of six bits.
static void join_six_bits(const uint8_t *source, uint8_t *planes) {
    for (int half = 0; half < 2; half++, planes += 96) {
        const uint8_t *low = source + 64 * half, *high = source + 128 + 32 * half;
        for (int c = 0; c < 32; c++) {
            const int h = high[c];
            const int last = low[32 + c] >> 4 | h >> 6 << 4;
            planes[c] = (uint8_t)((low[c] & 15) | (h & 3) << 4 | (last & 3) << 6);
            planes[32 + c] = (uint8_t)((low[32 + c] & 15) | (h >> 2 & 3) << 4 | (last >> 2 & 3) << 6);
            planes[64 + c] = (uint8_t)(low[c] >> 4 | (h >> 4 & 3) << 4 | last >> 4 << 6);
        }
    }
}

/// The inverse of `join_six_bits`.
static void split_six_bits(const uint8_t *planes, uint8_t *destination) {
    for (int half = 0; half < 2; half++, planes += 96) {
        uint8_t *low = destination + 64 * half, *high = destination + 128 + 32 * half;
        for (int c = 0; c < 32; c++) {
            const int a = planes[c], b = planes[32 + c], d = planes[64 + c];
            const int last = a >> 6 | b >> 6 << 2 | d >> 6 << 4;
            low[c] = (uint8_t)((a & 15) | (d & 15) << 4);
            low[32 + c] = (uint8_t)((b & 15) | (last & 15) << 4);
            high[c] = (uint8_t)((a >> 4 & 3) | (b >> 4 & 3) << 2 | (d >> 4 & 3) << 4 | last >> 4 << 6);
        }
    }
}

void ck_pack_block(ck_type type, const uint8_t *source, size_t stride, uint8_t *destination) {
    const ck_layout *layout = &layouts[type];
    for (int32_t f = 0; f < layout->count; f++) {
        const ck_field field = layout->fields[f];
        const size_t bytes = (size_t)field.width * field.words;
        for (int r = 0; r < CK_GROUP_ROWS; r++) {
            const uint8_t *row = source + (size_t)r * stride;
            uint8_t *to = destination + field.width * r;
            uint8_t planes[SIX_BIT_BYTES];
            if (field.coding == CK_FIFTH_BITS) {
                const uint32_t word = spread_bits(ck_load32(row));
                memcpy(to, &word, 4);
                continue;
            }
            if (field.coding == CK_SIX_BITS) {
                join_six_bits(row, planes);
                row = planes;
            }
            if (field.width == 4) {
                for (int w = 0; w < field.words; w++) memcpy(to + 32 * w, row + 4 * w, 4);
            } else {
                memcpy(to, row, 2);
            }
        }
        source += bytes;
        destination += bytes * CK_GROUP_ROWS;
    }
}

void ck_unpack_block(ck_type type, const uint8_t *source, int32_t row, uint8_t *destination) {
    const ck_layout *layout = &layouts[type];
    for (int32_t f = 0; f < layout->count; f++) {
        const ck_field field = layout->fields[f];
        const size_t bytes = (size_t)field.width * field.words;
        uint8_t planes[SIX_BIT_BYTES], *to = field.coding == CK_SIX_BITS ? planes : destination;
        for (int w = 0; w < field.words; w++) {
            memcpy(to + field.width * w, source + (size_t)(w * CK_GROUP_ROWS + row) * field.width, field.width);
        }
        if (field.coding == CK_FIFTH_BITS) {
            const uint32_t word = gather_bits(ck_load32(to));
            memcpy(to, &word, 4);
        } else if (field.coding == CK_SIX_BITS) {
            split_six_bits(planes, destination);
        }
        source += bytes * CK_GROUP_ROWS;
        destination += bytes;
    }
}

bool ck_pack(ck_type type, const void *source, void *destination, int64_t rows, int64_t cols) {
    const size_t row_bytes = ck_row_bytes(type, cols), block_bytes = (size_t)ck_type_block_bytes(type);
    const size_t group_bytes = row_bytes * CK_GROUP_ROWS;
    const int64_t groups = rows / CK_GROUP_ROWS, blocks = cols / ck_type_block_size(type);
    const bool in_place = source == destination;
    uint8_t *copy = NULL;
    if (in_place && groups > 0 && !(copy = malloc(group_bytes ? group_bytes : 1))) return false;
    const uint8_t *from = source;
    uint8_t *to = destination;
    for (int64_t g = 0; g < groups; g++) {
        const uint8_t *group = from;
        if (in_place) group = memcpy(copy, from, group_bytes);
        for (int64_t b = 0; b < blocks; b++) {
            ck_pack_block(type, group + (size_t)b * block_bytes, row_bytes, to + (size_t)b * block_bytes * CK_GROUP_ROWS);
        }
        from += group_bytes;
        to += group_bytes;
    }
    if (!in_place) memcpy(to, from, (size_t)(rows - groups * CK_GROUP_ROWS) * row_bytes);
    free(copy);
    return true;
}

void ck_matrix_row(const ck_matrix *matrix, int64_t row, float *destination) {
    const int32_t size = ck_type_block_size(matrix->type);
    const size_t bytes = (size_t)ck_type_block_bytes(matrix->type), row_bytes = ck_row_bytes(matrix->type, matrix->cols);
    const int64_t group = row / CK_GROUP_ROWS;
    const uint8_t *data = (const uint8_t *)matrix->data + (size_t)group * CK_GROUP_ROWS * row_bytes;
    const int32_t within = (int32_t)(row - group * CK_GROUP_ROWS);
    if ((group + 1) * CK_GROUP_ROWS > matrix->rows) {
        ck_dequantize(matrix->type, data + (size_t)within * row_bytes, destination, matrix->cols);
        return;
    }
    _Alignas(16) uint8_t block[256];
    for (int64_t b = 0; b < matrix->cols / size; b++) {
        ck_unpack_block(matrix->type, data + (size_t)b * bytes * CK_GROUP_ROWS, within, block);
        ck_dequantize(matrix->type, block, destination + b * size, size);
    }
}
