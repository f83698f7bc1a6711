/// The kernels of the AVX2 table, by file.
#ifndef CK_AVX2_H
#define CK_AVX2_H

#include "internal.h"

// avx2_matmul.c
void ck_avx2_quantize(const float *x, int64_t cols, ck_activation *out);
void ck_avx2_matmul(const ck_matmul_job *job);
size_t ck_avx2_matmul_scratch(void);

#endif
