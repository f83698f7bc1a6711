/// The kernels of the NEON tables, by file.
#ifndef CK_NEON_H
#define CK_NEON_H

#include "internal.h"

/// Bytes of a panel of unpacked weights, so that it stays in the first-level cache beside the activations of a tile.
#define CK_NEON_PANEL_BYTES (25 * 1024)
/// The fewest tokens for which weights are unpacked first.
#define CK_NEON_MANY_TOKENS 17

// neon_round.c
void ck_neon_quantize(const float *x, int64_t cols, ck_activation *out);
void ck_neon_quantize_fine(const float *x, int64_t cols, ck_fine_activation *out);

// neon_coarse.c, neon_coarse_dotprod.c, neon_fine.c, neon_fine_dotprod.c
void ck_neon_coarse_matmul(const ck_matmul_job *job);
void ck_neon_coarse_matmul_dotprod(const ck_matmul_job *job);
void ck_neon_fine_matmul(const ck_matmul_job *job);
void ck_neon_fine_matmul_dotprod(const ck_matmul_job *job);

// neon_floats.c
void ck_neon_float_matmul(const ck_matmul_job *job);

// neon_attention.c
void ck_neon_attention(const ck_attention_job *job);
size_t ck_neon_attention_scratch(int32_t group, int32_t head_dim);

// neon_elementwise.c
void ck_neon_f32_to_f16(const float *source, uint16_t *destination, int64_t count);
void ck_neon_f16_to_f32(const uint16_t *source, float *destination, int64_t count);
void ck_neon_rms_norm(const float *x, const float *weight, float epsilon, int64_t width, float *out);
void ck_neon_add(float *x, const float *y, int64_t count);
void ck_neon_scale(float *x, float factor, int64_t count);
void ck_neon_rope(float *x, const float *table, int32_t pairs, ck_rope_style style);
void ck_neon_silu_multiply(const float *gate, const float *up, int64_t count, float *out);
void ck_neon_gelu_multiply(const float *gate, const float *up, int64_t count, float *out);
void ck_neon_soft_cap(float *x, float cap, int64_t count);
float ck_neon_softmax(float *x, float scale, int64_t count);
int64_t ck_neon_argmax(const float *x, int64_t count);

#endif
