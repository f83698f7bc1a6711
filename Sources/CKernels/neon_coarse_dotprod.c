/// Products of quantised weights with activations of 8 bits, with the instruction for dot products (Armv8.2).
#if defined(__aarch64__)

#include <arm_neon.h>

#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)

#include "neon.h"

#define FINE 0
#define DOTPROD 1
#define MATMUL ck_neon_coarse_matmul_dotprod
#include "neon_products.h"

#pragma clang attribute pop
#endif
