/// The table for AVX2, FMA and F16C.
#if defined(__x86_64__)
#include "avx2.h"

static size_t matmul_scratch(int64_t cols) {
    (void)cols;
    const size_t coarse = ck_avx2_matmul_scratch(), fine = ck_avx2_fine_matmul_scratch();
    return coarse > fine ? coarse : fine;
}

const ck_kernels ck_avx2_kernels = {
    .set = CK_SET_AVX2,
    .matmul_scratch = matmul_scratch,
    .attention_scratch = ck_avx2_attention_scratch,
    .quantize = ck_avx2_quantize,
    .quantize_fine = ck_avx2_quantize_fine,
    .matmul = ck_avx2_matmul,
    .attention = ck_avx2_attention,
    .f32_to_f16 = ck_avx2_f32_to_f16,
    .f16_to_f32 = ck_avx2_f16_to_f32,
    .rms_norm = ck_avx2_rms_norm,
    .add = ck_avx2_add,
    .scale = ck_avx2_scale,
    .rope = ck_avx2_rope,
    .silu_multiply = ck_avx2_silu_multiply,
    .gelu_multiply = ck_avx2_gelu_multiply,
    .soft_cap = ck_avx2_soft_cap,
    .softmax = ck_avx2_softmax,
    .argmax = ck_avx2_argmax,
};
#endif
