// Holds fast kernels against plain arithmetic and against the scalar kernels. Built and run by `arm64_tests.sh` and
// `x86_64_tests.sh`. `kernels NAME` says which table is meant: of arm64 the one that the processor
// must have brought about, "dotprod" or "plain"; else a set that it must support. Prints `N checks, N failed, hash H`;
// the hash is that of all products.
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "checks.h"

ck_instruction_set tested;

static int64_t checks, failures;
static uint64_t hash = 0xcbf29ce484222325u, state = 1;

void check_that(bool holds, const char *condition, const char *file, int line, const char *words, ...) {
    checks++;
    if (holds) return;
    if (++failures > 40) return;
    va_list arguments;
    va_start(arguments, words);
    fprintf(stderr, "%s:%d: not so: %s (", file, line, condition);
    vfprintf(stderr, words, arguments);
    fputs(")\n", stderr);
    va_end(arguments);
}

void take_into_hash(const void *bytes, size_t count) {    // FNV-1a
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

uint32_t random_bits(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (!memory) abort();
    return memory;
}

float *random_floats(int64_t count) {
    float *x = allocate(sizeof(float) * (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        float sum = -6;
        for (int j = 0; j < 6; j++) {
            const uint32_t bits = random_bits();
            sum += (float)(bits >> 16) / 65536 + (float)(bits & 0xffff) / 65536;
        }
        x[i] = random_bits() % 100 == 0 ? 20 * sum : sum;
    }
    return x;
}

double greatest_error(const float *a, const double *b, const double *scale, int64_t count) {
    double greatest = 0;
    for (int64_t i = 0; i < count; i++) {
        const double error = fabs(a[i] - b[i]) / fmax(scale[i], FLT_MIN);
        if (!(error <= greatest)) greatest = isnan(error) ? INFINITY : error;
    }
    return greatest;
}

#if defined(__aarch64__)
static bool choose(const char *name) {
    const bool has_dotprod = (getauxval(AT_HWCAP) >> 20 & 1) != 0;    // HWCAP_ASIMDDP
    tested = CK_SET_NEON;
    CHECK(ck_selected() == CK_SET_NEON, "the set chosen at start is %s", ck_set_name(ck_selected()));
    CHECK(!ck_supports(CK_SET_AVX2) && !ck_select(CK_SET_AVX2), "AVX2 on arm64");
    CHECK(strcmp(ck_set_name(CK_SET_NEON), "neon") == 0, "named %s", ck_set_name(CK_SET_NEON));
    return strcmp(name, has_dotprod ? "dotprod" : "plain") == 0;
}
#else
static bool choose(const char *name) {
    const ck_instruction_set sets[] = {CK_SET_AVX2, CK_SET_AVXVNNI, CK_SET_AVX512VNNI};
    ck_instruction_set fastest = CK_SET_SCALAR;
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, ck_set_name(sets[i])) == 0) tested = sets[i];
        if (ck_supports(sets[i])) fastest = sets[i];
    }
    CHECK(ck_selected() == fastest, "the set chosen at start is %s", ck_set_name(ck_selected()));
    CHECK(!ck_supports(CK_SET_NEON) && !ck_select(CK_SET_NEON), "NEON on x86-64");
    return tested != CK_SET_SCALAR && ck_select(tested);
}
#endif

int main(int count, char **arguments) {
    const char *name = count >= 2 ? arguments[1] : "";
    if (choose(name)) {
        check_products();
        if (strcmp(name, "dotprod") == 0 || strcmp(name, "avx2") == 0) {    // the other tables share all of these
            check_rounding();
            check_attention();
            check_elementwise();
        }
    } else {
        fprintf(stderr, "this processor has no kernels '%s'\n", name);
        failures++;
    }
    printf("%lld checks, %lld failed, hash %016llx\n", (long long)checks, (long long)failures, (unsigned long long)hash);
    return failures > 0;
}
