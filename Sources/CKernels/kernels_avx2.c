/// The tables for AVX2, FMA and F16C: one without VNNI (the instructions that multiply bytes or 16-bit numbers and add up neighbours
/// in 32 bits), and two with it, in either encoding. They differ in the products of quantised weights alone, and give the
/// same numbers to the last bit.
#if defined(__x86_64__)
#include "avx2.h"

static size_t matmul_scratch(int64_t cols) {
    (void)cols;
    return CK_AVX2_PANEL_BYTES;
}

#define TABLE(NAME, SET)                                                                                         \
    static void NAME##_matmul(const ck_matmul_job *job) {                                                        \
        if (!ck_rounds_input(job->type)) {                                                                       \
            ck_avx2_float_matmul(job);                                                                           \
        } else if (job->fine) {                                                                                  \
            ck_##NAME##_fine_matmul(job);                                                                        \
        } else {                                                                                                 \
            ck_##NAME##_coarse_matmul(job);                                                                      \
        }                                                                                                        \
    }                                                                                                            \
    const ck_kernels ck_##NAME##_kernels = {                                                                     \
        .set = SET, .many_tokens = CK_AVX2_MANY_TOKENS, .matmul_scratch = matmul_scratch,                        \
        .attention_scratch = ck_avx2_attention_scratch, .quantize = ck_avx2_quantize,                            \
        .quantize_fine = ck_avx2_quantize_fine, .matmul = NAME##_matmul,                                         \
        .attention = ck_avx2_attention, .f32_to_f16 = ck_avx2_f32_to_f16, .f16_to_f32 = ck_avx2_f16_to_f32,      \
        .rms_norm = ck_avx2_rms_norm, .add = ck_avx2_add, .scale = ck_avx2_scale, .rope = ck_avx2_rope,          \
        .silu_multiply = ck_avx2_silu_multiply, .gelu_multiply = ck_avx2_gelu_multiply,                          \
        .soft_cap = ck_avx2_soft_cap, .softmax = ck_avx2_softmax, .argmax = ck_avx2_argmax,                      \
    };

TABLE(avx2, CK_SET_AVX2)
TABLE(avxvnni, CK_SET_AVXVNNI)
TABLE(avx512vnni, CK_SET_AVX512VNNI)
#endif
