/// Products of quantised weights with activations of 8 bits, with the VEX encoding of VNNI (AVX-VNNI).
#if defined(__x86_64__)

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)

#define DPBUSD _mm256_dpbusd_avx_epi32
#include "vnni_coarse_products.h"

void ck_avxvnni_coarse_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

#pragma clang attribute pop
#endif
