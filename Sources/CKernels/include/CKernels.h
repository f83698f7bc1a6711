/// The hot loops of the inference engine: block formats of GGUF files, matrix products on quantised weights, attention
/// over a cache of 16 or 8 bits, norms, rotations and activations, and the thread pool that runs them.
///
/// The room knows nothing of models, files or Swift. Every operation has one plain implementation in portable C
/// (`kernels_scalar.c`) and faster ones per instruction set, picked once at run time from the processor's features, so
/// that one binary runs everywhere without compiler flags.
///
/// Conventions
/// - Matrices are row-major, shapes are written `[outer, inner]`. Sizes and strides are counted in elements, not bytes,
///   except where a name says bytes.
/// - Weights `[rows, cols]` have one row per output: `y[tokens, rows] = x[tokens, cols] · Wᵀ`.
/// - Pointers to float need no alignment. Prepared weights and caches want 64 bytes (`ck_allocate`).
/// - Functions that take a pool must be called by one thread at a time per pool; the caller works as thread 0.
/// - Functions that return `bool` return false only when memory for scratch could not be had; the result is then
///   undefined and nothing else has changed.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: - Instruction sets

/// The implementations that may exist in this binary, slowest first. No processor runs those of x86-64 and arm64 both.
typedef enum ck_instruction_set {
    CK_SET_SCALAR = 0,
    CK_SET_AVX2 = 1,
    CK_SET_NEON = 2,         ///< arm64; with the instruction for dot products of bytes where the processor has it
    CK_SET_AVXVNNI = 3,      ///< AVX2 with the instructions for dot products that AVX-VNNI has; the same numbers as AVX2's
    CK_SET_AVX512VNNI = 4,   ///< AVX2 with those of AVX512_VNNI, on 512 bits where there are many tokens; the same numbers too
} ck_instruction_set;

/// The last of them.
#define CK_SET_LAST CK_SET_AVX512VNNI

/// The set in use: the fastest that this processor supports, unless `ck_select` chose another.
ck_instruction_set ck_selected(void);

/// Whether the set is compiled into this binary and supported by this processor.
bool ck_supports(ck_instruction_set set);

/// Forces a set, for tests and measurements. False when unsupported (the choice is then unchanged). Not to be called
/// while an operation runs.
bool ck_select(ck_instruction_set set);

/// "scalar", "avx2", "neon", "avxvnni", "avx512vnni".
const char *ck_set_name(ck_instruction_set set);

// MARK: - Element types

/// Element types by their numbers in GGUF files. Formats: ggml's block layouts (ggml-common.h in llama.cpp).
typedef enum ck_type {
    CK_F32 = 0,
    CK_F16 = 1,
    CK_Q4_0 = 2,
    CK_Q4_1 = 3,
    CK_Q5_0 = 6,
    CK_Q5_1 = 7,
    CK_Q8_0 = 8,
    CK_Q2_K = 10,
    CK_Q3_K = 11,
    CK_Q4_K = 12,
    CK_Q5_K = 13,
    CK_Q6_K = 14,
    CK_IQ4_NL = 20,
    CK_IQ4_XS = 23,
    CK_BF16 = 30,
} ck_type;

/// Whether `type` is one of `ck_type`'s cases. Every other function that takes a type requires it.
bool ck_type_is_known(uint32_t type);

/// "Q4_K" and so on.
const char *ck_type_name(ck_type type);

/// Elements of one block: 1, 32 or 256. Rows are whole numbers of blocks.
int32_t ck_type_block_size(ck_type type);

/// Bytes of one block.
int32_t ck_type_block_bytes(ck_type type);

/// Bytes of a row of `cols` elements as it stands in a file. `cols` is a multiple of the block size.
size_t ck_row_bytes(ck_type type, int64_t cols);

/// Turns `count` elements (a multiple of the block size) of a GGUF tensor into floats.
void ck_dequantize(ck_type type, const void *source, float *destination, int64_t count);

/// IEEE half precision, rounding to nearest even.
void ck_f32_to_f16(const float *source, uint16_t *destination, int64_t count);
void ck_f16_to_f32(const uint16_t *source, float *destination, int64_t count);

// MARK: - Memory

/// Zeroed memory aligned to 64 bytes; from 2 MiB upwards aligned to 2 MiB and marked for huge pages, from which these
/// machines read about 1.4 times as fast. NULL when there is none.
void *ck_allocate(size_t bytes);

/// Gives back what `ck_allocate` gave. `bytes` as then. NULL is fine.
void ck_free(void *memory, size_t bytes);

// MARK: - Threads

/// A team of threads for fork-join loops. Between loops the workers spin for a bounded time, then sleep.
typedef struct ck_pool ck_pool;

/// The most threads that a pool can have.
#define CK_MAXIMUM_THREADS 64

/// A team of `threads` (1...CK_MAXIMUM_THREADS, clamped), the caller of each loop being one of them. NULL when threads or
/// memory cannot be had.
ck_pool *ck_pool_create(int32_t threads);

/// Ends the workers and frees the pool. NULL is fine. No loop may be running.
void ck_pool_destroy(ck_pool *pool);

int32_t ck_pool_threads(const ck_pool *pool);

/// `index` is the piece of work, `thread` in 0..<threads says whose scratch may be used.
typedef void (*ck_body)(void *context, int64_t index, int32_t thread);

/// Runs `body` once for every index in 0..<count and returns when all have ended. Threads take the next index from a
/// shared counter, so a slow core holds up no other by more than one piece; a worker that comes late misses the loop
/// and is not waited for. Writes made by the bodies are visible to the caller afterwards. Bodies must not call
/// functions that take the pool.
void ck_pool_for(ck_pool *pool, int64_t count, ck_body body, void *context);

/// Operations on 8-bit integers per second (a multiplication and an addition are two) that the threads make on registers
/// alone, with the instructions that the selected set's products are made of: the limit to compare products with. Takes about a
/// tenth of a second. 0 where there is no such instruction.
double ck_int8_rate(ck_pool *pool);

// MARK: - Weights

/// Rows that stand interleaved in a prepared matrix.
#define CK_GROUP_ROWS 8

/// A weight matrix prepared for multiplication. The bytes are as many as in the file. Groups of 8 rows are interleaved
/// block by block (see `layout.h`); the last `rows % 8` rows stand as in the file.
typedef struct ck_matrix {
    ck_type type;
    int64_t rows;
    int64_t cols;       ///< a multiple of the type's block size
    const void *data;   ///< what `ck_pack` wrote, `ck_matrix_bytes` long, 64-byte aligned
    /// Whether what it multiplies is rounded to 15 bits instead of 8, when its type is quantised. That takes about 1.5
    /// times as long (8-bit weights: no longer), and its error is below that of a cache in half precision.
    bool fine;
} ck_matrix;

/// Bytes of a matrix, in a file and prepared alike.
size_t ck_matrix_bytes(ck_type type, int64_t rows, int64_t cols);

/// Prepares `rows` neighbouring rows: `source` is the first of them as in the file, `destination` the same place in the
/// prepared matrix (`row · ck_row_bytes` from its start). The first row's number is a multiple of 8; a last group of
/// fewer than 8 rows is copied as it is and must be the end of the matrix. Source and destination may be the same
/// memory, but must not overlap otherwise. Ranges may be prepared in parallel. False when memory for scratch (8 rows,
/// only in place) could not be had.
bool ck_pack(ck_type type, const void *source, void *destination, int64_t rows, int64_t cols);

/// Row `row` of a prepared matrix as floats.
void ck_matrix_row(const ck_matrix *matrix, int64_t row, float *destination);

/// Gathers rows, as the token embedding does: `destination[count, cols] = scale · W[rows[i], :]`. Every index is in
/// 0..<rows.
void ck_embed(ck_pool *pool, const ck_matrix *matrix, const int32_t *rows, int64_t count, float scale, float *destination);

// MARK: - Products

/// One product of `ck_matmul`.
typedef struct ck_product {
    const ck_matrix *matrix;
    float *y;            ///< [tokens, rows], token `t` at `y + t * y_stride`
    int64_t y_stride;    ///< at least `rows`
    const float *bias;   ///< [rows], added to every token; NULL for none
    bool accumulates;    ///< true: `y += …` (residual), false: `y = …`
} ck_product;

/// `y[tokens, rows] = x[tokens, cols] · Wᵀ (+ bias)` for several matrices with the same `cols` on one input, in one
/// parallel loop with one quantisation of `x`. Against quantised weights `x` is rounded to 8 bits, or 15 (`fine`), in
/// blocks of 32 with a float scale each; against F32, F16 and BF16 weights it stays as it is. `y` must not overlap `x` or
/// each other. What a token gets is the same to the last bit whatever tokens stand beside it and however many threads there are.
bool ck_matmul(
    ck_pool *pool, const float *x, int64_t x_stride, int64_t tokens, const ck_product *products, int32_t count);

/// Only some rows of a product for one token: `y[i] = x[cols] · W[rows[i], :] (+ bias[rows[i]])`. Rows in ascending
/// order are cheapest: eight neighbours cost as much as one.
bool ck_matmul_rows(
    ck_pool *pool, const float *x, const ck_matrix *matrix, const float *bias, const int32_t *rows, int64_t count, float *y);

// MARK: - Attention

/// Slots of a block of the cache.
#define CK_CACHE_BLOCK 8

/// Dimensions of a head that share a scale in a cache of 8 bits; the last ones of a head may be fewer.
#define CK_SCALE_RUN 32

/// Keys and values of one layer of one sequence. The slot of a token is its position.
///
/// Either part is `[kv_heads, capacity / 8]` blocks of 8 slots. With CK_F16, a block of keys is `[head_dim, 8]` halves, so
/// that eight scores are one vector, and a block of values is `[8, head_dim]` halves. With CK_Q8_0 it is bytes `q` in the
/// same order, which stand for `scale · q` with a scale for each run of 32 dimensions (as in the files' Q8_0) of a slot. The
/// scales, in half precision, come first: `[runs, 8]` of keys, `[8, runs]` of values. Each run of a key stands under a
/// Walsh-Hadamard transform, so that a dimension that is always large does not make its neighbours coarse.
///
/// Memory must be zeroed once (`ck_allocate` does), since whole blocks are read.
typedef struct ck_cache {
    void *keys;
    void *values;
    int64_t capacity;   ///< slots, a multiple of 8
    ck_type type;       ///< CK_F16 or CK_Q8_0
} ck_cache;

/// Runs of dimensions with one scale each.
static inline int64_t ck_scale_runs(int64_t head_dim) { return (head_dim + CK_SCALE_RUN - 1) / CK_SCALE_RUN; }

/// Bytes of a block of keys or values of one head, a multiple of 16.
static inline size_t ck_cache_block_bytes(ck_type type, int64_t head_dim) {
    return CK_CACHE_BLOCK * (size_t)(type == CK_Q8_0 ? head_dim + 2 * ck_scale_runs(head_dim) : 2 * head_dim);
}

/// Bytes of either part.
static inline size_t ck_cache_bytes(ck_type type, int64_t kv_heads, int64_t head_dim, int64_t capacity) {
    return (size_t)kv_heads * (size_t)(capacity / CK_CACHE_BLOCK) * ck_cache_block_bytes(type, head_dim);
}

/// One token of a batch: where its sequence's cache is and which slot is its own.
typedef struct ck_token {
    const ck_cache *cache;
    int64_t position;   ///< 0..<capacity
} ck_token;

/// Rounds and stores the keys and values `[tokens, kv_heads, head_dim]` of a batch into their slots. All caches have one type.
void ck_cache_store(
    ck_pool *pool, const float *keys, int64_t keys_stride, const float *values, int64_t values_stride, const ck_token *tokens,
    int64_t count, int32_t kv_heads, int32_t head_dim);

typedef struct ck_attention_shape {
    int32_t heads;      ///< query heads, a multiple of kv_heads; head h reads kv head h / (heads / kv_heads)
    int32_t kv_heads;
    int32_t head_dim;   ///< a multiple of 8
    float scale;        ///< of the scores, e.g. 1/sqrt(head_dim)
    float soft_cap;     ///< scores become cap · tanh(score / cap); 0 for none
    int64_t window;     ///< a token sees this many slots, its own included; 0 for all
} ck_attention_shape;

/// Causal attention: token `t` sees slots `max(0, position - window + 1)...position` of its cache.
/// `out[tokens, heads, head_dim] = softmax(scale · q Kᵀ) V`. Neighbouring tokens with the same cache and consecutive
/// positions are computed together, which, like the number of threads, changes no bit of what each of them gets. `out` may be
/// `q` (with the same stride).
bool ck_attention(
    ck_pool *pool, const float *q, int64_t q_stride, const ck_token *tokens, int64_t count, ck_attention_shape shape, float *out,
    int64_t out_stride);

/// The same for encoders, without an order of time: every token sees slots `0..<slots` (at least 1), whatever its own is. The
/// shape's window does not count.
bool ck_attention_to_all(
    ck_pool *pool, const float *q, int64_t q_stride, const ck_token *tokens, int64_t count, int64_t slots,
    ck_attention_shape shape, float *out, int64_t out_stride);

// MARK: - Element-wise operations
//
// With many tokens they are shared out over the pool's threads, with few the caller does them alone.

/// `out[t, i] = x[t, i] / sqrt(mean(x[t]²) + epsilon) · weight[i]`, `width` elements per row; `weight` may be NULL. For
/// norms per head, rows are heads: `rows = tokens · heads`, strides `head_dim` when heads are contiguous. `out` may be `x`.
void ck_rms_norm(
    ck_pool *pool, const float *x, int64_t x_stride, const float *weight, float epsilon, int64_t rows, int64_t width, float *out,
    int64_t out_stride);

/// `out[t, i] = (x[t, i] - mean(x[t])) / sqrt(variance(x[t]) + epsilon) · weight[i] + bias[i]`, `width` elements per row; sums are
/// kept in double. `out` may be `x`.
void ck_layer_norm(
    ck_pool *pool, const float *x, int64_t x_stride, const float *weight, const float *bias, float epsilon, int64_t rows,
    int64_t width, float *out, int64_t out_stride);

/// `x[i] += y[i]`.
void ck_add(ck_pool *pool, float *x, const float *y, int64_t count);

/// `x[i] *= factor`.
void ck_scale(ck_pool *pool, float *x, float factor, int64_t count);

/// `table[count, pairs, 2]` of (cos, sin) of `positions[t] · frequencies[i]`, both times `magnitude`. Linear, YaRN and
/// Llama 3 scaling are contents of `frequencies` and `magnitude` (YaRN's attention factor).
void ck_rope_table(
    const int32_t *positions, int64_t count, const float *frequencies, int32_t pairs, float magnitude, float *table);

/// How the two coordinates of a rotated pair lie in a head.
typedef enum ck_rope_style {
    CK_ROPE_HALVES = 0,        ///< (x[i], x[i + pairs]): GPT-NeoX, Qwen, Gemma
    CK_ROPE_NEIGHBOURS = 1,    ///< (x[2i], x[2i + 1]): the permuted weights of Llama files
} ck_rope_style;

/// Rotates the first `2 · pairs` dimensions of every head of `x[tokens, heads, head_dim]` in place.
void ck_rope(
    ck_pool *pool, float *x, int64_t x_stride, int64_t tokens, int32_t heads, int32_t head_dim, const float *table, int32_t pairs,
    ck_rope_style style);

/// `out[t, i] = silu(gate[t, i]) · up[t, i]`, silu(v) = v / (1 + e⁻ᵛ). `out` may be `gate` or `up`.
void ck_silu_multiply(
    ck_pool *pool, const float *gate, int64_t gate_stride, const float *up, int64_t up_stride, int64_t tokens, int64_t width,
    float *out, int64_t out_stride);

/// The same with gelu in its tanh form: v/2 · (1 + tanh(√(2/π) · (v + 0.044715 v³))).
void ck_gelu_multiply(
    ck_pool *pool, const float *gate, int64_t gate_stride, const float *up, int64_t up_stride, int64_t tokens, int64_t width,
    float *out, int64_t out_stride);

/// `x[i] = cap · tanh(x[i] / cap)`.
void ck_soft_cap(ck_pool *pool, float *x, float cap, int64_t count);

/// `x = softmax(x · scale)` in place; returns the greatest input times `scale`. The sum is kept in double.
float ck_softmax(float *x, float scale, int64_t count);

/// Whether all elements are numbers, and no infinities.
bool ck_all_finite(const float *x, int64_t count);

// MARK: - Vocabulary

/// The index of the greatest element, the first of equals; -1 when there is none (`count` is 0 or all are NaN).
int64_t ck_argmax(const float *x, int64_t count);

/// Writes the indices of the `k` greatest elements, greatest first, equal ones by index; NaN never counts. Returns how
/// many there were, at most `k`.
int64_t ck_top_k(const float *x, int64_t count, int64_t k, int32_t *indices);

/// Sets every `x[i]` whose bit `i` in `mask` (little-endian 64-bit words) is clear to -infinity.
void ck_mask(float *x, const uint64_t *mask, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
