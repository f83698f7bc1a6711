/// The product that all 8-bit products are made of, by the instruction for it or without. Whoever includes this says which:
/// `DOTPROD` is 1 in files whose functions are compiled for processors with `FEAT_DotProd` (Armv8.2), else 0.
#ifndef CK_NEON_DOT_H
#define CK_NEON_DOT_H

#include <arm_neon.h>

#include "neon_loops.h"

/// Adds to every lane of `sums` the products of its four bytes of `w` with the four bytes of `q`'s lane. `q` has no -128.
INLINE int32x4_t dot(int32x4_t sums, int8x16_t w, int32x4_t q) {
    const int8x16_t x = vreinterpretq_s8_s32(q);
#if DOTPROD
    return vdotq_s32(sums, w, x);
#else
    // Two products are 2 · 128 · 127 = 32,512 at most, which 16 bits hold.
    const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x)), high = vmull_high_s8(w, x);
    return vpadalq_s16(sums, vpaddq_s16(low, high));
#endif
}

#endif
