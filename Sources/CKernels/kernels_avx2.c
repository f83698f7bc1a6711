/// The table for AVX2, FMA and F16C.
#if defined(__x86_64__)
#include "avx2.h"

static size_t scratch_bytes(int64_t cols, int32_t group, int32_t head_dim) {
    size_t plain = ck_scalar_kernels.scratch_bytes(cols, group, head_dim), matmul = ck_avx2_matmul_scratch();
    return plain > matmul ? plain : matmul;
}

const ck_kernels *ck_avx2_table(void) {
    static ck_kernels table;
    table = ck_scalar_kernels;
    table.set = CK_SET_AVX2;
    table.scratch_bytes = scratch_bytes;
    table.quantize = ck_avx2_quantize;
    table.matmul = ck_avx2_matmul;
    return &table;
}
#endif
