/// Which table of kernels is in use.
#include <stdatomic.h>

#include "internal.h"

#if defined(__x86_64__)
#include <cpuid.h>

/// Whether the processor has the instructions and the system keeps their registers.
static bool has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

/// Bit 4 of what CPUID says in EAX of leaf 7, subleaf 1 (a name that not every compiler knows).
static bool has_avxvnni(void) {
    unsigned a = 0, b, c, d;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

static bool has_avx512vnni(void) {
    return has_avx2() && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
}
#endif

static const ck_kernels *table_of(ck_instruction_set set) {
    switch (set) {
    case CK_SET_SCALAR: return &ck_scalar_kernels;
#if defined(__x86_64__)
    case CK_SET_AVX2: return has_avx2() ? &ck_avx2_kernels : NULL;
    case CK_SET_AVXVNNI: return has_avxvnni() ? &ck_avxvnni_kernels : NULL;
    case CK_SET_AVX512VNNI: return has_avx512vnni() ? &ck_avx512vnni_kernels : NULL;
#elif defined(__aarch64__)
    case CK_SET_NEON: return ck_neon_kernels();
#endif
    default: return NULL;
    }
}

static _Atomic(const ck_kernels *) in_use;

const ck_kernels *ck_kernels_in_use(void) {
    const ck_kernels *table = atomic_load_explicit(&in_use, memory_order_acquire);
    if (table) return table;
    // Threads that meet here choose the same one.
    for (int set = CK_SET_LAST; !table; set--) table = table_of((ck_instruction_set)set);
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
    static const char *const names[CK_SET_LAST + 1] = {"scalar", "avx2", "neon", "avxvnni", "avx512vnni"};
    return names[set];
}
