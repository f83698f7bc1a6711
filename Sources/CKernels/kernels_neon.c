/// The tables for NEON: one for processors that have the instruction for dot products of bytes (`FEAT_DotProd`, Armv8.2), one
/// for those that have not. They differ in the products of quantised weights alone, and give the same numbers.
#if defined(__aarch64__)
#include <sys/auxv.h>

#include "neon.h"

/// `HWCAP_ASIMDDP` of Linux (asm/hwcap.h).
#define HAS_DOTPROD (1ul << 20)

static void matmul(const ck_matmul_job *job) {
    if (!ck_rounds_input(job->type)) {
        ck_neon_float_matmul(job);
    } else if (job->fine) {
        ck_neon_fine_matmul(job);
    } else {
        ck_neon_coarse_matmul(job);
    }
}

static void matmul_dotprod(const ck_matmul_job *job) {
    if (!ck_rounds_input(job->type)) {
        ck_neon_float_matmul(job);
    } else if (job->fine) {
        ck_neon_fine_matmul_dotprod(job);
    } else {
        ck_neon_coarse_matmul_dotprod(job);
    }
}

static size_t matmul_scratch(int64_t cols) {
    (void)cols;
    return CK_NEON_PANEL_BYTES;
}

#define TABLE(MATMUL)                                                                                        \
    {                                                                                                        \
        .set = CK_SET_NEON, .many_tokens = CK_NEON_MANY_TOKENS, .matmul_scratch = matmul_scratch,            \
        .attention_scratch = ck_neon_attention_scratch,                                                      \
        .quantize = ck_neon_quantize, .quantize_fine = ck_neon_quantize_fine, .matmul = MATMUL,              \
        .attention = ck_neon_attention, .f32_to_f16 = ck_neon_f32_to_f16, .f16_to_f32 = ck_neon_f16_to_f32,  \
        .rms_norm = ck_neon_rms_norm, .add = ck_neon_add, .scale = ck_neon_scale, .rope = ck_neon_rope,      \
        .silu_multiply = ck_neon_silu_multiply, .gelu_multiply = ck_neon_gelu_multiply,                      \
        .soft_cap = ck_neon_soft_cap, .softmax = ck_neon_softmax, .argmax = ck_neon_argmax,                  \
    }

static const ck_kernels plain = TABLE(matmul), dotprod = TABLE(matmul_dotprod);

const ck_kernels *ck_neon_kernels(void) { return getauxval(AT_HWCAP) & HAS_DOTPROD ? &dotprod : &plain; }
#endif
