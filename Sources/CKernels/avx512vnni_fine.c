/// Products of quantised weights with activations of 15 bits, with the EVEX encoding of VNNI (AVX512_VNNI with AVX512VL).
#if defined(__x86_64__)

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512vl,avx512bw,avx512vnni"))), apply_to = function)

#define PANEL_STEP 2
#define GROUPS 4
#define DPWSSD _mm256_dpwssd_epi32
#include "avx2_fine_products.h"

void ck_avx512vnni_fine_matmul(const ck_matmul_job *job) { multiply_quantized(job); }

#pragma clang attribute pop
#endif
