/// How 8 rows of weights stand interleaved in a prepared matrix.
///
/// A group is 8 neighbouring rows. Its blocks follow each other by column; within the 8 blocks of one column range, every
/// field of the file's block (scales, quants, high bits, in the file's order) becomes one run, in which the field's words
/// are interleaved by row: word 0 of rows 0...7, word 1 of rows 0...7, and so on. Quants are taken in words of four bytes,
/// so that one 32-byte vector holds 4 neighbouring columns of 8 rows, which multiplies four broadcast activations; half
/// precision scales are words of two bytes, so that 16 bytes convert to the 8 rows' scales. Floats are words of their own
/// size: one vector is 8 rows of one column.
///
/// Nothing is re-coded, with one exception: the 32 fifth bits of a row's Q5_0 or Q5_1 block change places, so that bit `k`
/// of byte `c` belongs to column `4k + c` and a shift of the vector brings four columns of bits to their quants.
#ifndef CK_LAYOUT_H
#define CK_LAYOUT_H

#include <stdint.h>

#include "CKernels.h"

/// `words` words of `width` bytes (2 or 4).
typedef struct {
    uint8_t width, words;
    bool is_bits;    ///< the exception above
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
