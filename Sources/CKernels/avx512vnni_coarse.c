/// Products of quantised weights with activations of 8 bits, with the EVEX encoding of VNNI (AVX512_VNNI with AVX512VL).
#if defined(__x86_64__)

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512vl,avx512bw,avx512vnni"))), apply_to = function)

#define PANEL_STEP 2
#define DPBUSD _mm256_dpbusd_epi32
#include "vnni_coarse_products.h"

void ck_avx512vnni_coarse_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

#pragma clang attribute pop
#endif
