// What the files of this program share: numbers to compute with, and the count of what was checked.
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CKernels.h"
#include "internal.h"

/// Counts a check, and tells of it when it fails. The words are printf's.
#define CHECK(CONDITION, ...) check_that(CONDITION, #CONDITION, __FILE__, __LINE__, __VA_ARGS__)

void check_that(bool holds, const char *condition, const char *file, int line, const char *words, ...)
    __attribute__((format(printf, 5, 6)));

/// The set whose kernels are held against the plain ones. It is selected when a check begins, and when it ends.
extern ck_instruction_set tested;

/// Products of the tested kernels go in here; what comes out must not depend on the instructions for dot products that the
/// processor has.
void take_into_hash(const void *bytes, size_t count);

/// The same numbers in every run.
uint32_t random_bits(void);

/// Roughly normal, and a hundredth of them 20 times as large, as activations have it. To be freed.
float *random_floats(int64_t count);

/// Zeroed memory, of exactly that size. To be freed.
void *allocate(size_t bytes);

/// The greatest difference, each relative to `scale` at its place; infinite where there is no number.
double greatest_error(const float *a, const double *b, const double *scale, int64_t count);

void check_rounding(void);
void check_products(void);
void check_attention(void);
void check_elementwise(void);

#endif
