/// How 8 rows of weights stand interleaved in a prepared matrix.
///
/// A group is 8 neighbouring rows. Its blocks follow each other by column; within the 8 blocks of one column range, every
/// field of the file's block (scales, quants, high bits, in the file's order) becomes one run, in which the field's words
/// are interleaved by row: word 0 of rows 0...7, word 1 of rows 0...7, and so on. Quants are taken in words of four bytes,
/// so that one 32-byte vector holds 4 neighbouring columns of 8 rows, which multiplies four broadcast activations; half
/// precision scales are words of two bytes, so that 16 bytes convert to the 8 rows' scales. Floats are words of their own
/// size: one vector is 8 rows of one column.
///
/// Two fields change their bits' places within a row before that, so that fewer instructions bring a vector of weights
/// together. Of the 32 fifth bits of a Q5_0 or Q5_1 block, bit `k` of byte `c` belongs to column `4k + c`, and a shift of the
/// vector brings four columns of bits to their quants. The six bits of Q6_K stand together: of 128 columns, byte `c` of
/// three planes of 32 has those of columns `c`, `32 + c` and `64 + c` and, as its upper two, two of column `96 + c`, the lowest
/// first.
#ifndef CK_LAYOUT_H
#define CK_LAYOUT_H

#include <stdint.h>

#include "CKernels.h"

/// How the bits of a row's field stand.
typedef enum { CK_AS_IN_FILE = 0, CK_FIFTH_BITS, CK_SIX_BITS } ck_coding;

/// `words` words of `width` bytes (2 or 4).
typedef struct {
    uint8_t width, words;
    ck_coding coding;
} ck_field;

typedef struct {
    int32_t count;
    ck_field fields[5];
} ck_layout;

const ck_layout *ck_layout_of(ck_type type);

/// Interleaves one block of 8 rows, whose starts in the file's form are `stride` bytes apart.
void ck_pack_block(ck_type type, const uint8_t *source, size_t stride, uint8_t *destination);

/// Block of row `row` (0...7) out of an interleaved block, in the file's form.
void ck_unpack_block(ck_type type, const uint8_t *source, int32_t row, uint8_t *destination);

#endif
