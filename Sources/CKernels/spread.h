/// What is large in one dimension of a key, as some models' always are, would make the scale that it shares with 31 others
/// coarse for them. So keys of 8 bits stand turned: each run by a Walsh-Hadamard transform, which spreads such a number over
/// the run. The transform is orthonormal; with queries turned likewise, scores are what they were.
///
/// Source: S. Ashkboos et al., "QuaRot: Outlier-Free 4-Bit Inference in Rotated LLMs" (2024).
#ifndef CK_SPREAD_H
#define CK_SPREAD_H

#include <math.h>

#include "CKernels.h"

/// Turns a run of at most `CK_SCALE_RUN` numbers, by the greatest power of two that divides their count. Its own inverse.
static inline void ck_spread_run(float *run, int64_t count) {
    const int64_t width = count & -count;
    const float scale = 1 / sqrtf((float)width);
    for (int64_t half = 1; half < width; half *= 2) {
        for (int64_t i = 0; i < count; i += 2 * half) {
            for (int64_t j = i; j < i + half; j++) {
                const float a = run[j], b = run[j + half];
                run[j] = a + b;
                run[j + half] = a - b;
            }
        }
    }
    for (int64_t i = 0; i < count; i++) run[i] *= scale;
}

/// Turns a head of a query.
static inline void ck_spread_head(float *head, int64_t dim) {
    for (int64_t i = 0; i < dim; i += CK_SCALE_RUN) ck_spread_run(head + i, dim - i < CK_SCALE_RUN ? dim - i : CK_SCALE_RUN);
}

#endif
