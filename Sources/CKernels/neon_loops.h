/// How the loops of the NEON kernels are written, whose bounds are mostly constants.
#ifndef CK_NEON_LOOPS_H
#define CK_NEON_LOOPS_H

#define INLINE static inline __attribute__((always_inline))

/// Before a loop over registers: all rounds one after the other, so that every index is a constant. Sanitizers define it as
/// nothing, since instrumenting what was unrolled takes minutes.
#ifndef UNROLL
#define UNROLL _Pragma("clang loop unroll(full)")
#endif

#endif
