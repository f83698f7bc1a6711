/// Products of quantised weights with activations of 8 bits, without the instruction for dot products (Armv8.0).
#if defined(__aarch64__)

#include <arm_neon.h>

#include "neon.h"

#define FINE 0
#define DOTPROD 0
#define MATMUL ck_neon_coarse_matmul
#include "neon_products.h"
#endif
