/// The kernels of the tables for AVX2, with VNNI and without, by file.
#ifndef CK_AVX2_H
#define CK_AVX2_H

#include "internal.h"

/// Bytes of a panel of unpacked weights, so that it stays in the first-level cache beside the activations of a tile.
#define CK_AVX2_PANEL_BYTES (22 * 1024)
/// The fewest tokens for which weights of any type are unpacked first.
#define CK_AVX2_MANY_TOKENS 5

// avx2_matmul.c
void ck_avx2_quantize(const float *x, int64_t cols, ck_activation *out);
void ck_avx2_coarse_matmul(const ck_matmul_job *job);
void ck_avx2_float_matmul(const ck_matmul_job *job);

// avx2_fine.c
void ck_avx2_quantize_fine(const float *x, int64_t cols, ck_fine_activation *out);
void ck_avx2_fine_matmul(const ck_matmul_job *job);

// avxvnni_coarse.c, avxvnni_fine.c, avx512vnni_coarse.c, avx512vnni_fine.c
void ck_avxvnni_coarse_matmul(const ck_matmul_job *job);
void ck_avxvnni_fine_matmul(const ck_matmul_job *job);
void ck_avx512vnni_coarse_matmul(const ck_matmul_job *job);
void ck_avx512vnni_fine_matmul(const ck_matmul_job *job);

// avx2_attention.c
void ck_avx2_attention(const ck_attention_job *job);
size_t ck_avx2_attention_scratch(int32_t group, int32_t head_dim);

// avx2_elementwise.c
void ck_avx2_f32_to_f16(const float *source, uint16_t *destination, int64_t count);
void ck_avx2_f16_to_f32(const uint16_t *source, float *destination, int64_t count);
void ck_avx2_rms_norm(const float *x, const float *weight, float epsilon, int64_t width, float *out);
void ck_avx2_add(float *x, const float *y, int64_t count);
void ck_avx2_scale(float *x, float factor, int64_t count);
void ck_avx2_rope(float *x, const float *table, int32_t pairs, ck_rope_style style);
void ck_avx2_silu_multiply(const float *gate, const float *up, int64_t count, float *out);
void ck_avx2_gelu_multiply(const float *gate, const float *up, int64_t count, float *out);
void ck_avx2_soft_cap(float *x, float cap, int64_t count);
float ck_avx2_softmax(float *x, float scale, int64_t count);
int64_t ck_avx2_argmax(const float *x, int64_t count);

#endif
