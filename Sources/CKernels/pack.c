/// Interleaving of weights for multiplication, and its inverse. See `layout.h`.
#include "layout.h"

#include <stdlib.h>

#include "formats.h"
#include "internal.h"

static const ck_layout layouts[31] = {
    [CK_F32] = {1, {{4, 1, false}}},
    [CK_F16] = {1, {{2, 1, false}}},
    [CK_BF16] = {1, {{2, 1, false}}},
    [CK_Q4_0] = {2, {{2, 1, false}, {4, 4, false}}},
    [CK_Q4_1] = {3, {{2, 1, false}, {2, 1, false}, {4, 4, false}}},
    [CK_Q5_0] = {3, {{2, 1, false}, {4, 1, true}, {4, 4, false}}},
    [CK_Q5_1] = {4, {{2, 1, false}, {2, 1, false}, {4, 1, true}, {4, 4, false}}},
    [CK_Q8_0] = {2, {{2, 1, false}, {4, 8, false}}},
    [CK_IQ4_NL] = {2, {{2, 1, false}, {4, 4, false}}},
    [CK_Q2_K] = {4, {{4, 4, false}, {4, 16, false}, {2, 1, false}, {2, 1, false}}},
    [CK_Q3_K] = {4, {{4, 8, false}, {4, 16, false}, {4, 3, false}, {2, 1, false}}},
    [CK_Q4_K] = {4, {{2, 1, false}, {2, 1, false}, {4, 3, false}, {4, 32, false}}},
    [CK_Q5_K] = {5, {{2, 1, false}, {2, 1, false}, {4, 3, false}, {4, 8, false}, {4, 32, false}}},
    [CK_Q6_K] = {4, {{4, 32, false}, {4, 16, false}, {4, 4, false}, {2, 1, false}}},
    [CK_IQ4_XS] = {4, {{2, 1, false}, {2, 1, false}, {4, 1, false}, {4, 32, false}}},
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

void ck_pack_block(ck_type type, const uint8_t *source, size_t stride, uint8_t *destination) {
    const ck_layout *layout = &layouts[type];
    for (int32_t f = 0; f < layout->count; f++) {
        ck_field field = layout->fields[f];
        if (field.is_bits) {
            for (int r = 0; r < CK_GROUP_ROWS; r++) {
                uint32_t word = spread_bits(ck_load32(source + (size_t)r * stride));
                memcpy(destination + 4 * r, &word, 4);
            }
        } else if (field.width == 4) {
            for (int w = 0; w < field.words; w++) {
                for (int r = 0; r < CK_GROUP_ROWS; r++) {
                    memcpy(destination + 32 * w + 4 * r, source + (size_t)r * stride + 4 * w, 4);
                }
            }
        } else {
            for (int r = 0; r < CK_GROUP_ROWS; r++) memcpy(destination + 2 * r, source + (size_t)r * stride, 2);
        }
        size_t bytes = (size_t)field.width * field.words;
        source += bytes;
        destination += bytes * CK_GROUP_ROWS;
    }
}

void ck_unpack_block(ck_type type, const uint8_t *source, int32_t row, uint8_t *destination) {
    const ck_layout *layout = &layouts[type];
    for (int32_t f = 0; f < layout->count; f++) {
        ck_field field = layout->fields[f];
        for (int w = 0; w < field.words; w++) {
            const uint8_t *word = source + (size_t)(w * CK_GROUP_ROWS + row) * field.width;
            if (field.is_bits) {
                uint32_t bits = gather_bits(ck_load32(word));
                memcpy(destination, &bits, 4);
            } else {
                memcpy(destination, word, field.width);
            }
            destination += field.width;
        }
        source += (size_t)field.width * field.words * CK_GROUP_ROWS;
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
