/// Products of prepared matrices: rounding of the input, sharing out of the rows, and what the kernels leave over (rows
/// past the last whole group).
#include <stdatomic.h>
#include <string.h>

#include "internal.h"
#include "layout.h"

/// Weights of one piece of work, so small that the threads end together and so large that taking it costs nothing.
#define PIECE_BYTES (48 * 1024)
/// Groups of a piece when there are many tokens: a multiple of what kernels take at once.
#define MANY_TOKENS_GROUPS 8
/// The fewest tokens that are worth a piece of their own.
#define FEWEST_TOKENS 32
/// Tokens whose rounded form is kept at once.
#define TOKENS_AT_ONCE 512
/// Tokens that are worth rounding in parallel, in elements.
#define ELEMENTS_IN_PARALLEL 16384

static size_t group_bytes(const ck_matrix *matrix) {
    return ck_row_bytes(matrix->type, matrix->cols) * CK_GROUP_ROWS;
}

/// Groups of the last rows, if they are no whole group: interleaved on the fly, the rows that are missing being nought.
static const uint8_t *pack_tail(const ck_matrix *matrix, uint8_t *scratch) {
    const size_t row_bytes = ck_row_bytes(matrix->type, matrix->cols), bytes = (size_t)ck_type_block_bytes(matrix->type);
    const int64_t rows = matrix->rows % CK_GROUP_ROWS;
    const uint8_t *source = (const uint8_t *)matrix->data + (size_t)(matrix->rows - rows) * row_bytes;
    uint8_t blocks[CK_GROUP_ROWS * 256];
    memset(blocks, 0, sizeof(blocks));
    for (int64_t b = 0; b < matrix->cols / ck_type_block_size(matrix->type); b++) {
        for (int64_t r = 0; r < rows; r++) {
            memcpy(blocks + (size_t)r * bytes, source + (size_t)r * row_bytes + (size_t)b * bytes, bytes);
        }
        ck_pack_block(matrix->type, blocks, bytes, scratch + (size_t)b * bytes * CK_GROUP_ROWS);
    }
    return scratch;
}

/// Neighbouring pieces, which one thread takes in order: it then reads weights that stand behind each other, and what it fetches
/// ahead it uses. Who has none left takes of another's.
typedef struct {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} run;

/// What every piece of a call shares.
typedef struct {
    ck_pool *pool;
    const ck_kernels *kernels;
    const float *x;
    int64_t x_stride, tokens, cols;
    ck_activation *activations;         ///< NULL when no product wants it so
    ck_fine_activation *fine;
    const ck_product *products;
    int32_t count;
    size_t kernel_scratch, tail_scratch;
    int64_t first_piece[17];      ///< pieces of rows: of each product, and the end
    int64_t piece_groups[16];
    int64_t token_pieces, piece_tokens;    ///< each of them is done for so many pieces of tokens
    run *runs;                    ///< one a thread
} call;

static void round_token(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const call *c = context;
    const float *x = c->x + index * c->x_stride;
    if (c->activations) c->kernels->quantize(x, c->cols, c->activations + index * (c->cols / 32));
    if (c->fine) c->kernels->quantize_fine(x, c->cols, c->fine + index * (c->cols / 32));
}

/// Makes room for the rounded input in the forms that are wanted.
static bool reserve_activations(call *c, bool coarse, bool fine) {
    const size_t blocks = (size_t)c->tokens * (size_t)(c->cols / 32);
    const size_t coarse_bytes = coarse ? blocks * sizeof(ck_activation) : 0;
    const size_t bytes = coarse_bytes + (fine ? blocks * sizeof(ck_fine_activation) : 0);
    if (!coarse && !fine) return true;
    uint8_t *memory = ck_pool_shared(c->pool, 0, bytes);
    if (!memory) return false;
    if (coarse) c->activations = (ck_activation *)(void *)memory;
    if (fine) c->fine = (ck_fine_activation *)(void *)(memory + coarse_bytes);
    return true;
}

/// For tokens `first..<first + tokens`; rows and output are the caller's to fill in.
static ck_matmul_job job_of(const call *c, const ck_matrix *matrix, int64_t first, int64_t tokens, int32_t thread) {
    return (ck_matmul_job){
        .type = matrix->type,
        .cols = matrix->cols,
        .tokens = tokens,
        .activations = c->activations ? c->activations + first * (c->cols / 32) : NULL,
        .fine = matrix->fine && ck_rounds_input(matrix->type) ? c->fine + first * (c->cols / 32) : NULL,
        .x = c->x + first * c->x_stride,
        .x_stride = c->x_stride,
        .scratch = ck_pool_scratch(c->pool, thread),
    };
}

static void multiply_tail(const call *c, const ck_product *product, int64_t first_token, int64_t tokens, int32_t thread) {
    const ck_matrix *matrix = product->matrix;
    const int64_t rows = matrix->rows % CK_GROUP_ROWS, first = matrix->rows - rows;
    ck_matmul_job job = job_of(c, matrix, first_token, tokens, thread);
    float *sums = (float *)((uint8_t *)job.scratch + c->kernel_scratch);
    job.data = pack_tail(matrix, (uint8_t *)job.scratch + c->kernel_scratch + c->tail_scratch);
    job.groups = 1;
    job.y = sums;
    job.y_stride = CK_GROUP_ROWS;
    c->kernels->matmul(&job);
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t r = 0; r < rows; r++) {
            float sum = sums[t * CK_GROUP_ROWS + r] + (product->bias ? product->bias[first + r] : 0);
            float *y = product->y + (first_token + t) * product->y_stride + first + r;
            *y = product->accumulates ? *y + sum : sum;
        }
    }
}

/// The weights of a piece of a product; NULL if it has no such piece.
static const uint8_t *data_of(const call *c, int32_t p, int64_t piece) {
    const ck_matrix *matrix = c->products[p].matrix;
    const int64_t first = (piece - c->first_piece[p]) * c->piece_groups[p];
    if (first >= matrix->rows / CK_GROUP_ROWS) return NULL;
    return (const uint8_t *)matrix->data + (size_t)first * group_bytes(matrix);
}

/// A piece that nobody has taken yet; there is one whenever a piece of work is left.
static int64_t take_piece(const call *c, int32_t thread) {
    for (int32_t turn = 0;; turn++) {
        run *r = &c->runs[(thread + turn) % ck_pool_threads(c->pool)];
        if (atomic_load_explicit(&r->next, memory_order_relaxed) >= r->end) continue;
        const int64_t piece = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
        if (piece < r->end) return piece;
    }
}

static void multiply_piece(void *context, int64_t count, int32_t thread) {
    (void)count;
    const call *c = context;
    const int64_t index = take_piece(c, thread);
    const int64_t piece = index / c->token_pieces, first_token = index % c->token_pieces * c->piece_tokens;
    const int64_t tokens = ck_min(c->piece_tokens, c->tokens - first_token);
    int32_t p = 0;
    while (piece >= c->first_piece[p + 1]) p++;
    const ck_product *product = &c->products[p];
    const int64_t first = (piece - c->first_piece[p]) * c->piece_groups[p];
    const int64_t groups = product->matrix->rows / CK_GROUP_ROWS;
    if (tokens <= 0) return;
    if (first >= groups) {    // the last piece of a matrix with rows left over
        multiply_tail(c, product, first_token, tokens, thread);
        return;
    }
    ck_matmul_job job = job_of(c, product->matrix, first_token, tokens, thread);
    job.data = data_of(c, p, piece);
    const int64_t next = (index + 1) / c->token_pieces;
    if (next != piece) job.next = data_of(c, p, next);
    job.groups = ck_min(c->piece_groups[p], groups - first);
    job.y = product->y + first_token * product->y_stride + first * CK_GROUP_ROWS;
    job.y_stride = product->y_stride;
    job.bias = product->bias ? product->bias + first * CK_GROUP_ROWS : NULL;
    job.accumulates = product->accumulates;
    c->kernels->matmul(&job);
}

static bool multiply_some(call *c) {
    bool coarse = false, fine = false;
    size_t tail_bytes = 0;
    int64_t pieces = 0;
    for (int32_t p = 0; p < c->count; p++) {
        const ck_matrix *matrix = c->products[p].matrix;
        if (ck_rounds_input(matrix->type)) {
            fine |= matrix->fine;
            coarse |= !matrix->fine;
        }
        const int64_t groups = matrix->rows / CK_GROUP_ROWS;
        const int64_t fitting = ck_max(1, PIECE_BYTES / (int64_t)ck_max(1, (int64_t)group_bytes(matrix)));
        c->piece_groups[p] = c->tokens >= c->kernels->many_tokens
            ? MANY_TOKENS_GROUPS
            : ck_max(1, ck_min(fitting, groups / (4 * ck_pool_threads(c->pool))));
        c->first_piece[p] = pieces;
        pieces += (groups + c->piece_groups[p] - 1) / c->piece_groups[p];
        if (matrix->rows % CK_GROUP_ROWS != 0) {
            pieces++;
            if (group_bytes(matrix) > tail_bytes) tail_bytes = group_bytes(matrix);
        }
    }
    c->first_piece[c->count] = pieces;
    c->token_pieces = 1;
    c->piece_tokens = c->tokens;
    if (c->tokens >= 2 * FEWEST_TOKENS && pieces > 0) {
        // Few pieces of rows: cut the tokens as well, in multiples of four.
        const int64_t wanted = (4 * ck_pool_threads(c->pool) + pieces - 1) / pieces;
        c->token_pieces = ck_max(1, ck_min(wanted, c->tokens / FEWEST_TOKENS));
        c->piece_tokens = ((c->tokens + c->token_pieces - 1) / c->token_pieces + 3) / 4 * 4;
    }
    c->kernel_scratch = (c->kernels->matmul_scratch(c->cols) + 63) / 64 * 64;
    c->tail_scratch = (size_t)c->tokens * CK_GROUP_ROWS * sizeof(float);
    c->tail_scratch = (c->tail_scratch + 63) / 64 * 64;
    if (!ck_pool_reserve(c->pool, c->kernel_scratch + (tail_bytes ? c->tail_scratch + tail_bytes : 0))) return false;
    if (!reserve_activations(c, coarse, fine)) return false;
    if (coarse || fine) {
        if (c->tokens * c->cols >= ELEMENTS_IN_PARALLEL) {
            ck_pool_for(c->pool, c->tokens, round_token, c);
        } else {
            for (int64_t t = 0; t < c->tokens; t++) round_token(c, t, 0);
        }
    }
    const int32_t threads = ck_pool_threads(c->pool);
    run runs[CK_MAXIMUM_THREADS];
    pieces *= c->token_pieces;
    for (int32_t t = 0; t < threads; t++) {
        atomic_init(&runs[t].next, pieces * t / threads);
        runs[t].end = pieces * (t + 1) / threads;
    }
    c->runs = runs;
    ck_pool_for(c->pool, pieces, multiply_piece, c);
    return true;
}

bool ck_matmul(
    ck_pool *pool, const float *x, int64_t x_stride, int64_t tokens, const ck_product *products, int32_t count) {
    if (count > 16) {    // more than the tables of a call hold
        return ck_matmul(pool, x, x_stride, tokens, products, 16)
            && ck_matmul(pool, x, x_stride, tokens, products + 16, count - 16);
    }
    if (count <= 0) return true;
    for (int64_t first = 0; first < tokens; first += TOKENS_AT_ONCE) {
        ck_product shifted[16];
        for (int32_t p = 0; p < count; p++) {
            shifted[p] = products[p];
            shifted[p].y += first * products[p].y_stride;
        }
        call c = {
            .pool = pool,
            .kernels = ck_kernels_in_use(),
            .x = x + first * x_stride,
            .x_stride = x_stride,
            .tokens = ck_min(TOKENS_AT_ONCE, tokens - first),
            .cols = products[0].matrix->cols,
            .products = shifted,
            .count = count,
        };
        if (!multiply_some(&c)) return false;
    }
    return true;
}

// MARK: - Some rows

typedef struct {
    call shared;
    const ck_matrix *matrix;
    const float *bias;
    const int32_t *rows;
    int64_t count, per_piece;
    float *y;
} rows_call;

static void multiply_rows(void *context, int64_t index, int32_t thread) {
    const rows_call *c = context;
    const int64_t end = ck_min(c->count, (index + 1) * c->per_piece), groups = c->matrix->rows / CK_GROUP_ROWS;
    ck_matmul_job job = job_of(&c->shared, c->matrix, 0, 1, thread);
    float sums[CK_GROUP_ROWS];
    job.groups = 1;
    job.y = sums;
    job.y_stride = CK_GROUP_ROWS;
    int64_t group = -1;
    for (int64_t i = index * c->per_piece; i < end; i++) {
        const int64_t row = c->rows[i];
        if (row / CK_GROUP_ROWS != group) {
            group = row / CK_GROUP_ROWS;
            // The bias is added where the whole product adds it, so that rows are the same to the last bit.
            const bool whole = group < groups;
            job.data = whole ? (const uint8_t *)c->matrix->data + (size_t)group * group_bytes(c->matrix)
                             : pack_tail(c->matrix, (uint8_t *)job.scratch + c->shared.kernel_scratch);
            job.bias = whole && c->bias ? c->bias + group * CK_GROUP_ROWS : NULL;
            c->shared.kernels->matmul(&job);
        }
        c->y[i] = sums[row % CK_GROUP_ROWS] + (c->bias && !job.bias ? c->bias[row] : 0);
    }
}

bool ck_matmul_rows(
    ck_pool *pool, const float *x, const ck_matrix *matrix, const float *bias, const int32_t *rows, int64_t count, float *y) {
    rows_call c = {
        .shared = {.pool = pool, .kernels = ck_kernels_in_use(), .x = x, .tokens = 1, .cols = matrix->cols},
        .matrix = matrix,
        .bias = bias,
        .rows = rows,
        .count = count,
        .per_piece = ck_max(1, ck_min(32, count / (4 * ck_pool_threads(pool)))),
        .y = y,
    };
    if (count <= 0) return true;
    c.shared.kernel_scratch = (c.shared.kernels->matmul_scratch(matrix->cols) + 63) / 64 * 64;
    if (!ck_pool_reserve(pool, c.shared.kernel_scratch + group_bytes(matrix))) return false;
    const bool rounds = ck_rounds_input(matrix->type);
    if (!reserve_activations(&c.shared, rounds && !matrix->fine, rounds && matrix->fine)) return false;
    if (rounds) round_token(&c.shared, 0, 0);
    ck_pool_for(pool, (count + c.per_piece - 1) / c.per_piece, multiply_rows, &c);
    return true;
}

// MARK: - Gathering

typedef struct {
    const ck_matrix *matrix;
    const int32_t *rows;
    float scale;
    float *destination;
} gather;

static void gather_row(void *context, int64_t index, int32_t thread) {
    (void)thread;
    const gather *g = context;
    float *destination = g->destination + index * g->matrix->cols;
    ck_matrix_row(g->matrix, g->rows[index], destination);
    if (g->scale != 1) ck_kernels_in_use()->scale(destination, g->scale, g->matrix->cols);
}

void ck_embed(ck_pool *pool, const ck_matrix *matrix, const int32_t *rows, int64_t count, float scale, float *destination) {
    gather g = {matrix, rows, scale, destination};
    ck_pool_for(pool, count, gather_row, &g);
}
