/// Which table of kernels is in use.
#include <stdatomic.h>

#include "internal.h"

static const ck_kernels *table_of(ck_instruction_set set) {
    switch (set) {
    case CK_SET_SCALAR: return &ck_scalar_kernels;
    case CK_SET_AVX2:
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
            return &ck_avx2_kernels;
        }
#endif
        return NULL;
    case CK_SET_NEON:
#if defined(__aarch64__)
        return ck_neon_kernels();
#else
        return NULL;
#endif
    }
    return NULL;
}

static _Atomic(const ck_kernels *) in_use;

const ck_kernels *ck_kernels_in_use(void) {
    const ck_kernels *table = atomic_load_explicit(&in_use, memory_order_acquire);
    if (table) return table;
    // Threads that meet here choose the same one.
    for (int set = CK_SET_NEON; !table; set--) table = table_of((ck_instruction_set)set);
    atomic_store_explicit(&in_use, table, memory_order_release);
    return table;
}

ck_instruction_set ck_selected(void) { return ck_kernels_in_use()->set; }

bool ck_supports(ck_instruction_set set) { return table_of(set) != NULL; }

bool ck_select(ck_instruction_set set) {
    const ck_kernels *table = table_of(set);
    if (table) atomic_store_explicit(&in_use, table, memory_order_release);
    return table != NULL;
}

const char *ck_set_name(ck_instruction_set set) {
    return set == CK_SET_AVX2 ? "avx2" : set == CK_SET_NEON ? "neon" : "scalar";
}
