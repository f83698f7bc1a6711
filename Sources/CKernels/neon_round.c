/// Rounding of activations with NEON.
#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

#include "neon.h"
#include "neon_loops.h"

/// 32 activations times `limit` over the greatest magnitude, which is returned, rounded to the nearest integers. Magnitudes
/// compare as integers do, and what is no number above all numbers: then the greatest, and by it every product with the block,
/// is no number either, and the integers are anything between the limits.
INLINE float round_block(const float *x, const float limit, int32x4_t n[8]) {
    float32x4_t v[8];
    int32x4_t most = vdupq_n_s32(0);
    for (int i = 0; i < 8; i++) {
        v[i] = vld1q_f32(x + 4 * i);
        most = vmaxq_s32(most, vreinterpretq_s32_f32(vabsq_f32(v[i])));
    }
    const int32_t bits = vmaxvq_s32(most);
    float greatest;
    memcpy(&greatest, &bits, sizeof greatest);
    float inverse = greatest > 0 ? limit / greatest : 0;
    if (!(inverse <= 3.4e38f)) inverse = 0;    // subnormal or not finite
    for (int i = 0; i < 8; i++) {
        const float32x4_t scaled = vmulq_n_f32(v[i], inverse);
        n[i] = vcvtnq_s32_f32(vmaxq_f32(vminq_f32(scaled, vdupq_n_f32(limit)), vdupq_n_f32(-limit)));    // NaN to 0
    }
    return greatest;
}

void ck_neon_quantize(const float *x, int64_t cols, ck_activation *out) {
    for (int64_t b = 0; b < cols / 32; b++, x += 32, out++) {
        int32x4_t n[8];
        int16x8_t pairs[2];
        const float greatest = round_block(x, 127, n);
        for (int half = 0; half < 2; half++) {
            const int32x4_t *m = n + 4 * half;
            const int16x8_t first = vcombine_s16(vmovn_s32(m[0]), vmovn_s32(m[1]));
            const int16x8_t second = vcombine_s16(vmovn_s32(m[2]), vmovn_s32(m[3]));
            const int8x16_t q = vcombine_s8(vmovn_s16(first), vmovn_s16(second));
            vst1q_s8(out->q + 16 * half, q);
            pairs[half] = vpaddlq_s8(q);
        }
        // Sums by lane: every second pair over 16 columns.
        int16_t sums[2][4];
        for (int half = 0; half < 2; half++) {
            const int16x4_t four = vadd_s16(vget_low_s16(pairs[half]), vget_high_s16(pairs[half]));
            vst1_s16(sums[half], vadd_s16(four, vext_s16(four, four, 2)));
        }
        for (int lane = 0; lane < 2; lane++) {
            out->bias32[0][lane] = (int16_t)(-32 * sums[0][lane]);
            out->bias32[1][lane] = (int16_t)(-32 * sums[1][lane]);
            out->bias16[lane] = (int16_t)(-16 * (sums[0][lane] + sums[1][lane]));
            out->bias8[lane] = (int16_t)(-8 * (sums[0][lane] + sums[1][lane]));
        }
        out->d = greatest / 127;
        for (int half = 0; half < 2; half++) out->half_sum[half] = out->d * (float)(sums[half][0] + sums[half][1]);
        out->sum = out->half_sum[0] + out->half_sum[1];
    }
}

void ck_neon_quantize_fine(const float *x, int64_t cols, ck_fine_activation *out) {
    for (int64_t b = 0; b < cols / 32; b++, x += 32, out++) {
        int32x4_t n[8];
        const float greatest = round_block(x, CK_FINE_LIMIT, n);
        for (int half = 0; half < 2; half++) {
            const int32x4_t *m = n + 4 * half;
            out->half_total[half] = vaddvq_s32(vaddq_s32(vaddq_s32(m[0], m[1]), vaddq_s32(m[2], m[3])));
            int8x8_t high[2], low[2];
            for (int i = 0; i < 2; i++) {
                const int16x8_t q = vcombine_s16(vmovn_s32(m[2 * i]), vmovn_s32(m[2 * i + 1]));
                // Divided by 128 towards nought, so that both parts are in -127...127.
                const int16x8_t whole = vshrq_n_s16(vaddq_s16(q, vandq_s16(vshrq_n_s16(q, 15), vdupq_n_s16(127))), 7);
                high[i] = vmovn_s16(whole);
                low[i] = vmovn_s16(vsubq_s16(q, vshlq_n_s16(whole, 7)));
            }
            vst1q_s8(out->high + 16 * half, vcombine_s8(high[0], high[1]));
            vst1q_s8(out->low + 16 * half, vcombine_s8(low[0], low[1]));
        }
        out->total = out->half_total[0] + out->half_total[1];
        out->d = greatest / CK_FINE_LIMIT;
        for (int half = 0; half < 2; half++) out->half_sum[half] = out->d * (float)out->half_total[half];
        out->sum = out->d * (float)out->total;
        out->unused = 0;
    }
}

#endif
