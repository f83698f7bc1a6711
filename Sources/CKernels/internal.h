/// What the files of this room share: the table of kernels that an instruction set provides, and the data they exchange.
#ifndef CK_INTERNAL_H
#define CK_INTERNAL_H

#include <stdint.h>

#include "CKernels.h"

// MARK: - Activations

/// 32 neighbouring activations of one token, rounded to 8 bits: `x ≈ d · q`, q in -127...127.
///
/// Kernels multiply unsigned weights by signed activations (`maddubs`), so weights stand shifted by a power of two, and the
/// sums begin at minus that shift times the sum of the activations. A 16-bit lane adds up the columns c with
/// c % 4 in {0, 1} (low lane) or {2, 3} (high lane), hence two sums per bias. Begun so, a lane ends as a sum of products
/// of *signed* weights, which fits 16 bits over the whole run: 16 columns · 16 · 127 and 8 columns · 32 · 127 are 32,512;
/// what overflows on the way wraps back. (A table's kernels read what its own rounding wrote.)
typedef struct {
    int8_t q[32];
    union {
        struct {
            int16_t bias32[2][2];    ///< -32 · sums of columns 0...15 and of columns 16...31, [half][lane]
            int16_t bias16[2];       ///< -16 · sums of all columns, [lane]
            int16_t bias8[2];        ///< -8 · the same
        };
        struct { int32_t start32[2], start16, start8; };    ///< VNNI: the same, of both lanes together
    };
    float d;                 ///< the scale
    float sum;               ///< d · sum of q, for types with a minimum
    float half_sum[2];       ///< the same of either half
} ck_activation;

_Static_assert(sizeof(ck_activation) == 64, "one cache line");

/// The greatest magnitude in `ck_fine_activation`. 32 products with weights of Q6_K, whose 8-bit scales are multiplied in,
/// add up to 32 · 32 · 128 · 16,383 = 2,147,352,576 at most, which still fits 32 bits.
#define CK_FINE_LIMIT 16383

/// 32 neighbouring activations of one token, rounded to 15 bits: `x ≈ d · q`. Kernels widen weights to 16 bits by taking
/// every second byte of four neighbours, first 0 and 2, then 1 and 3; activations stand likewise, and two of them multiply
/// two columns of 8 rows (`pmaddwd`). NEON multiplies bytes instead, with two parts of each activation.
typedef struct {
    union {
        int16_t q[32];                           ///< column `c` at `ck_fine_place(c)`
        struct { int8_t high[32], low[32]; };    ///< NEON: 128 · high + low, both in -127...127
    };
    int32_t half_total[2];    ///< sums of q of columns 0...15 and 16...31
    int32_t total;            ///< of both
    float d;                  ///< the scale
    float half_sum[2];        ///< d · half_total, for types with a minimum
    float sum;                ///< d · total
    float unused;
} ck_fine_activation;

_Static_assert(sizeof(ck_fine_activation) == 96, "three vectors");

/// Where column `c` (0...31) stands: by fours in the order 0 2 1 3.
static inline int ck_fine_place(int c) { return (c & ~3) | (c & 1) << 1 | (c >> 1 & 1); }

/// Whether products with weights of this type take rounded activations (else floats).
static inline bool ck_rounds_input(ck_type type) { return type != CK_F32 && type != CK_F16 && type != CK_BF16; }

// MARK: - Jobs

/// Some groups of a prepared matrix times some tokens.
typedef struct {
    ck_type type;
    const uint8_t *data;                 ///< the first group
    const uint8_t *next;                 ///< what the thread will probably be given after this, to be fetched; or NULL
    int64_t groups, cols, tokens;
    const ck_activation *activations;    ///< [tokens, cols / 32], for types that round
    const ck_fine_activation *fine;      ///< likewise; used instead when it is not NULL
    const float *x;                      ///< [tokens, cols], for the others
    int64_t x_stride;
    float *y;                            ///< the first group's first row, token `t` at `y + t · y_stride`
    int64_t y_stride;
    const float *bias;                   ///< from the same row; or NULL
    bool accumulates;
    void *scratch;                       ///< `matmul_scratch` of this thread, 64-byte aligned
} ck_matmul_job;

/// The scales at the beginning of a block of a cache.
static inline int64_t ck_scales_of_block(ck_type type, int64_t head_dim) {
    return type == CK_Q8_0 ? CK_CACHE_BLOCK * ck_scale_runs(head_dim) : 0;
}

/// A run of neighbouring tokens of one sequence, the query heads of one kv head, a range of slots.
typedef struct {
    const float *q;              ///< first token, first query head of the kv head; heads are neighbours
    int64_t q_stride;
    int64_t tokens;
    int64_t position;            ///< of the first token; the others follow
    int32_t group;               ///< query heads per kv head
    int32_t head_dim;
    ck_type type;                ///< of the cache
    const uint8_t *keys;         ///< of the kv head, blocks as `ck_cache` has them
    const uint8_t *values;       ///< likewise
    int64_t begin, end;          ///< slots to look at, within what the tokens see; `begin` is a multiple of 8
    float scale, soft_cap;
    int64_t window;
    float *out;                  ///< like q; written when `partial` is NULL
    int64_t out_stride;
    /// [tokens, group, head_dim + 2] or NULL: the unscaled sum, then the greatest score (-infinity if no slot was seen),
    /// then the sum of exponentials.
    float *partial;
    void *scratch;               ///< `attention_scratch` of this thread, 64-byte aligned
} ck_attention_job;

/// Rows (tokens × query heads) of one attention job at most, unless a single token has more.
#define CK_ATTENTION_ROWS 64

// MARK: - The table

typedef struct {
    ck_instruction_set set;

    /// Tokens from which on `matmul` may unpack weights first, and then wants several groups at once.
    int64_t many_tokens;

    /// Scratch per thread that the jobs need.
    size_t (*matmul_scratch)(int64_t cols);
    size_t (*attention_scratch)(int32_t group, int32_t head_dim);

    void (*quantize)(const float *x, int64_t cols, ck_activation *out);
    void (*quantize_fine)(const float *x, int64_t cols, ck_fine_activation *out);
    void (*matmul)(const ck_matmul_job *job);
    void (*attention)(const ck_attention_job *job);

    void (*f32_to_f16)(const float *source, uint16_t *destination, int64_t count);
    void (*f16_to_f32)(const uint16_t *source, float *destination, int64_t count);
    void (*rms_norm)(const float *x, const float *weight, float epsilon, int64_t width, float *out);
    void (*add)(float *x, const float *y, int64_t count);
    void (*scale)(float *x, float factor, int64_t count);
    /// One head of one token.
    void (*rope)(float *x, const float *table, int32_t pairs, ck_rope_style style);
    void (*silu_multiply)(const float *gate, const float *up, int64_t count, float *out);
    void (*gelu_multiply)(const float *gate, const float *up, int64_t count, float *out);
    void (*soft_cap)(float *x, float cap, int64_t count);
    float (*softmax)(float *x, float scale, int64_t count);
    int64_t (*argmax)(const float *x, int64_t count);
} ck_kernels;

extern const ck_kernels ck_scalar_kernels;
#if defined(__x86_64__)
extern const ck_kernels ck_avx2_kernels, ck_avxvnni_kernels, ck_avx512vnni_kernels;
#endif
#if defined(__aarch64__)
/// The one of the NEON tables that suits this processor.
const ck_kernels *ck_neon_kernels(void);
#endif

/// The table in use.
const ck_kernels *ck_kernels_in_use(void);

// MARK: - Scratch

/// Memory of the pool, at least `bytes` long, 64-byte aligned; contents are lost when it grows. NULL when there is none.
/// `slot` 0...2 are independent areas shared by all threads.
void *ck_pool_shared(ck_pool *pool, int32_t slot, size_t bytes);

/// Makes sure that every thread has `bytes` of its own.
bool ck_pool_reserve(ck_pool *pool, size_t bytes);

/// The thread's own memory, as reserved.
void *ck_pool_scratch(ck_pool *pool, int32_t thread);

static inline int64_t ck_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ck_max(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
