/// The tables for AVX2, FMA and F16C: one without VNNI (the instructions that multiply bytes or 16-bit numbers and add up neighbours
/// in 32 bits), and two with it, in either encoding. They differ in the products of quantised weights alone, and give the
/// same numbers to the last bit.
#if defined(__x86_64__)
#include "avx2.h"

static size_t matmul_scratch(int64_t cols) {
    (void)cols;
    return CK_AVX2_PANEL_BYTES;
}

/// Of either lane of 16 bits VNNI needs the sum.
static void quantize_vnni(const float *x, int64_t cols, ck_activation *out) {
    ck_avx2_quantize(x, cols, out);
    for (int64_t b = 0; b < cols / 32; b++) {
        const ck_activation lanes = out[b];
        for (int half = 0; half < 2; half++) out[b].start32[half] = lanes.bias32[half][0] + lanes.bias32[half][1];
        out[b].start16 = lanes.bias16[0] + lanes.bias16[1];
        out[b].start8 = lanes.bias8[0] + lanes.bias8[1];
    }
}

#define TABLE(NAME, SET, QUANTIZE)                                                                           \
    static void NAME##_matmul(const ck_matmul_job *job) {                                                    \
        if (!ck_rounds_input(job->type)) {                                                                   \
            ck_avx2_float_matmul(job);                                                                       \
        } else if (job->fine) {                                                                              \
            ck_##NAME##_fine_matmul(job);                                                                    \
        } else {                                                                                             \
            ck_##NAME##_coarse_matmul(job);                                                                  \
        }                                                                                                    \
    }                                                                                                        \
    const ck_kernels ck_##NAME##_kernels = {                                                                 \
        .set = SET, .many_tokens = CK_AVX2_MANY_TOKENS, .matmul_scratch = matmul_scratch,                    \
        .attention_scratch = ck_avx2_attention_scratch, .quantize = QUANTIZE,                                \
        .quantize_fine = ck_avx2_quantize_fine, .matmul = NAME##_matmul,                                     \
        .attention = ck_avx2_attention, .f32_to_f16 = ck_avx2_f32_to_f16, .f16_to_f32 = ck_avx2_f16_to_f32,  \
        .rms_norm = ck_avx2_rms_norm, .add = ck_avx2_add, .scale = ck_avx2_scale, .rope = ck_avx2_rope,      \
        .silu_multiply = ck_avx2_silu_multiply, .gelu_multiply = ck_avx2_gelu_multiply,                      \
        .soft_cap = ck_avx2_soft_cap, .softmax = ck_avx2_softmax, .argmax = ck_avx2_argmax,                  \
    };

TABLE(avx2, CK_SET_AVX2, ck_avx2_quantize)
TABLE(avxvnni, CK_SET_AVXVNNI, quantize_vnni)
TABLE(avx512vnni, CK_SET_AVX512VNNI, quantize_vnni)
#endif
