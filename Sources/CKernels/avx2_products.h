/// Products of interleaved weights with rounded activations, for whichever rounding: what `avx2_matmul.c` (8 bits),
/// `vnni_coarse_products.h` (8 bits with VNNI) and `avx2_fine_products.h` (15 bits, with VNNI or without) share. A file
/// includes it once, after these, which say how a sub-block is multiplied:
/// - `ACTIVATION`, the type of 32 rounded activations, and `ACTIVATIONS(job)`, those of a job;
/// - `multiply_sub(type, block, scales, sub, T, x, sums)` adds a sub-block as it stands in the block to the sums of `T` tokens;
/// - `unpacked_bytes(type)`, `unpack_sub(type, block, scales, sub, out)` and `multiply_unpacked(type, G, T, panel, stride,
///   x, sums)` do it in two steps, for `G` groups at once.
/// Of types with 8 sub-blocks to a block they leave out the minima and the float scale of the block, which are applied here,
/// once for all of it.
///
/// A token must get the same sums to the last bit however many stand beside it, so both ways add up in the same order: of
/// each block first the minima, then the products.

/// The most tokens for which weights are not unpacked first: the more, the less it takes to widen them.
INLINE int few_tokens(const ck_type type) {
    switch (family_of(type)) {
    case HALVED: return CK_AVX2_MANY_TOKENS - 1;
    case PLAIN: return 8;
    case SPLIT: return 16;
    }
}

/// Columns of a panel, in sub-blocks.
#define PANEL_SUBS 8
/// How far ahead weights are fetched: so far that memory can answer, so near that they are still there.
#define PREFETCH_BYTES 3456

/// Fetches part `part` of `parts` of the block that stands `PREFETCH_BYTES` after this one. In parts, since a burst of
/// requests for a whole block waits for itself.
INLINE void prefetch_part(const ck_type type, const uint8_t *block, const int part, const int parts) {
    const int lines = (stride_of(type) + 63) / 64;
    for (int line = lines * part / parts; line < lines * (part + 1) / parts; line++) {
        _mm_prefetch((const char *)block + PREFETCH_BYTES + 64 * line, _MM_HINT_T0);
    }
}

/// What minimum `m` of a sub-block is multiplied with.
INLINE const float *summed(const ck_type type, const ACTIVATION *x, const int m) {
    return minima_of(type) == 2 ? &x->half_sum[m] : &x->sum;
}

// MARK: - Few tokens

/// All groups of the job for its tokens, at most `T`.
INLINE void multiply_few(const ck_type type, const int T, const ck_matmul_job *job) {
    const int64_t subs = job->cols / 32, blocks = subs / subs_of(type);
    const uint8_t *block = job->data;
    for (int64_t group = 0; group < job->groups; group++) {
        __m256 sums[TILE];
        const ACTIVATION *x[TILE];
        for (int t = 0; t < T; t++) {
            sums[t] = first_sums(job, group, ck_min(t, job->tokens - 1));
            x[t] = ACTIVATIONS(job) + ck_min(t, job->tokens - 1) * subs;
        }
        for (int64_t b = 0; b < blocks; b++, block += stride_of(type)) {
            if (subs_of(type) == 8) {
                const block_scales s = load_block_scales(type, block);
                __m256 products[TILE];
#pragma clang loop unroll(full)
                for (int sub = 0; sub < 8; sub++) {
                    __m256 minima[2];
                    sub_minima(type, block, &s, sub, minima);
                    for (int m = 0; m < minima_of(type); m++) {
                        for (int t = 0; t < T; t++) sums[t] = _mm256_fmadd_ps(minima[m], _mm256_broadcast_ss(summed(type, x[t] + sub, m)), sums[t]);
                    }
                }
                for (int t = 0; t < T; t++) products[t] = _mm256_setzero_ps();
#pragma clang loop unroll(full)
                for (int sub = 0; sub < 8; sub++) {
                    prefetch_part(type, block, sub, 8);
                    multiply_sub(type, block, &s, sub, T, x, products);
                    for (int t = 0; t < T; t++) x[t]++;
                }
                for (int t = 0; t < T; t++) sums[t] = _mm256_fmadd_ps(products[t], s.d, sums[t]);
            } else {
                prefetch_part(type, block, 0, 1);
                multiply_sub(type, block, NULL, 0, T, x, sums);
                for (int t = 0; t < T; t++) x[t]++;
            }
        }
        for (int t = 0; t < T; t++) {
            if (t < job->tokens) _mm256_storeu_ps(job->y + t * job->y_stride + group * CK_GROUP_ROWS, sums[t]);
        }
    }
}

/// A few more tokens, four at a time for each group, whose weights are still in a near cache from the first four on. That
/// costs less than to unpack them, up to `few_tokens`. `kernel` is that of the type.
static void multiply_by_fours(const ck_matmul_job *job, void (*kernel)(const ck_matmul_job *)) {
    const size_t group_bytes = ck_row_bytes(job->type, job->cols) * CK_GROUP_ROWS;
    for (int64_t group = 0; group < job->groups; group++) {
        for (int64_t t = 0; t < job->tokens; t += TILE) {
            ck_matmul_job part = *job;
            part.groups = 1;
            part.data = job->data + (size_t)group * group_bytes;
            part.tokens = ck_min(TILE, job->tokens - t);
            if (part.activations) part.activations += t * (job->cols / 32);
            if (part.fine) part.fine += t * (job->cols / 32);
            part.y = job->y + t * job->y_stride + group * CK_GROUP_ROWS;
            if (part.bias) part.bias += group * CK_GROUP_ROWS;
            kernel(&part);
        }
    }
}

// MARK: - Many tokens

/// What stands before a group's sub-blocks in a panel, for types with 8 to a block: its float scale and minima.
INLINE size_t head_bytes(const ck_type type) {
    return subs_of(type) == 8 ? (size_t)(1 + PANEL_SUBS * minima_of(type)) * sizeof(__m256) : 0;
}

/// Bytes of a group in a panel.
INLINE size_t panel_stride(const ck_type type) { return head_bytes(type) + PANEL_SUBS * unpacked_bytes(type); }

/// `count` sub-blocks of group `g` of a panel.
INLINE void unpack_group(const ck_type type, const uint8_t *block, int64_t count, char *panel, int64_t g) {
    char *out = panel + (size_t)(g - g % PANEL_STEP) * panel_stride(type) + (size_t)(g % PANEL_STEP) * sizeof(__m256);
    char *subs = out + PANEL_STEP * head_bytes(type);
    if (subs_of(type) == 8) {    // panels are whole blocks
        const block_scales s = load_block_scales(type, block);
        __m256 *head = (__m256 *)(void *)out;
        head[0] = s.d;
#pragma clang loop unroll(full)
        for (int sub = 0; sub < 8; sub++) {
            __m256 minima[2];
            sub_minima(type, block, &s, sub, minima);
            for (int m = 0; m < minima_of(type); m++) head[PANEL_STEP * (1 + sub * minima_of(type) + m)] = minima[m];
            unpack_sub(type, block, &s, sub, subs + (size_t)sub * PANEL_STEP * unpacked_bytes(type));
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            unpack_sub(type, block + i * stride_of(type), NULL, 0, subs + (size_t)i * PANEL_STEP * unpacked_bytes(type));
        }
    }
}

#if PANEL_STEP == 2
#include "avx512_tile.h"
#else

/// `G` groups from `group` on, `T` tokens from `first` on, one panel's columns. While a block is multiplied its sums stay in
/// memory on purpose: the products take all registers, and moving sums out and in by whole tiles is slower than adding to
/// them there.
INLINE void multiply_tile(
    const ck_type type, const int G, const int T, const ck_matmul_job *job, const char *panel, int64_t group, int64_t first,
    int64_t first_sub, int64_t subs) {
    const ACTIVATION *x[TILE];
    float *y[TILE];
    const __m256 *heads[GROUPS];
    __m256 begun[GROUPS][TILE], memory[GROUPS * TILE], *sums = memory;
    __asm__("" : "+r"(sums));    // so that it is memory
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        x[t] = ACTIVATIONS(job) + (first + t) * (job->cols / 32) + first_sub;
        y[t] = job->y + (first + t) * job->y_stride + group * CK_GROUP_ROWS;
    }
    if (first_sub > 0) {
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) begun[i / T][i % T] = _mm256_loadu_ps(y[i % T] + i / T * CK_GROUP_ROWS);
    } else {
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) begun[i / T][i % T] = first_sums(job, group + i / T, first + i % T);
    }
#pragma clang loop unroll(full)
    for (int g = 0; g < G; g++) heads[g] = (const __m256 *)(const void *)(panel + (size_t)g * panel_stride(type));
    if (subs_of(type) == 8) {
        if (minima_of(type) > 0) {
#pragma clang loop unroll(full)
            for (int i = 0; i < PANEL_SUBS * minima_of(type); i++) {
                const int sub = i / minima_of(type), m = i % minima_of(type);
#pragma clang loop unroll(full)
                for (int t = 0; t < T; t++) {
                    const __m256 sum = _mm256_broadcast_ss(summed(type, x[t] + sub, m));
#pragma clang loop unroll(full)
                    for (int g = 0; g < G; g++) {
                        begun[g][t] = _mm256_fmadd_ps(heads[g][1 + i], sum, begun[g][t]);
                        __asm__("" : "+x"(begun[g][t]));    // now, not when registers are short
                    }
                }
            }
        }
        __asm__ volatile("" ::: "memory");
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) sums[i / T * TILE + i % T] = _mm256_setzero_ps();
    } else {
#pragma clang loop unroll(full)
        for (int i = 0; i < G * T; i++) sums[i / T * TILE + i % T] = begun[i / T][i % T];
    }
    const char *p = panel + head_bytes(type);
    for (int64_t i = 0; i < subs; i++, p += unpacked_bytes(type)) {
        multiply_unpacked(type, G, T, p, panel_stride(type), x, sums);
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) x[t]++;
    }
#pragma clang loop unroll(full)
    for (int g = 0; g < G; g++) {
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            __m256 sum = sums[g * TILE + t];
            if (subs_of(type) == 8) sum = _mm256_fmadd_ps(sum, heads[g][0], begun[g][t]);
            _mm256_storeu_ps(y[t] + g * CK_GROUP_ROWS, sum);
        }
    }
}
#endif

/// Fetches what the next tile of tokens brings: the activations of one panel's columns and the sums. Of token `token`, if there
/// is one.
INLINE void prefetch_token(
    const ck_matmul_job *job, int64_t token, int64_t group, int64_t groups, int64_t first_sub, int64_t subs) {
    if (token >= job->tokens) return;
    const char *x = (const char *)(ACTIVATIONS(job) + token * (job->cols / 32) + first_sub);
    for (int64_t i = 0; i < subs * (int64_t)sizeof(ACTIVATION); i += 64) _mm_prefetch(x + i, _MM_HINT_T0);
    const char *y = (const char *)(job->y + token * job->y_stride + group * CK_GROUP_ROWS);
    for (int64_t i = 0; i < groups * CK_GROUP_ROWS * 4; i += 64) _mm_prefetch(y + i, _MM_HINT_T0);
}

/// The weights of the panel after this one, on their way from memory to the second-level cache while this one is multiplied.
/// The first level has no room for them beside the panel.
typedef struct {
    const uint8_t *line;    ///< the next one
    size_t gap;             ///< from the end of a group's weights to those of the next group
    int lines, left;        ///< of a group, and how many of those remain
    int groups;             ///< that remain
    int per_tile;           ///< lines
} next_panel;

/// What one tile fetches of it.
INLINE void fetch_next(next_panel *next) {
    for (int i = 0; i < next->per_tile && next->groups > 0; i++) {
        _mm_prefetch((const char *)next->line, _MM_HINT_T1);
        next->line += 64;
        if (--next->left == 0) {
            next->line += next->gap;
            next->left = next->lines;
            next->groups--;
        }
    }
}

/// `T` tokens from `first` on, all groups of a panel.
INLINE void multiply_panel(
    const ck_type type, const int T, const ck_matmul_job *job, const char *panel, int64_t group, int64_t groups, int64_t first,
    int64_t first_sub, int64_t subs, next_panel *next) {
    int64_t g = 0, fetched = 0;
    for (; g + GROUPS <= groups; g += GROUPS) {
        fetch_next(next);
        for (; fetched * groups < (g + GROUPS) * T; fetched++) {    // a part with each tile
            prefetch_token(job, first + T + fetched, group, groups, first_sub, subs);
        }
        multiply_tile(type, GROUPS, T, job, panel + (size_t)g * panel_stride(type), group + g, first, first_sub, subs);
    }
    if (GROUPS > 2 && g + 2 <= groups) {
        multiply_tile(type, 2, T, job, panel + (size_t)g * panel_stride(type), group + g, first, first_sub, subs);
        g += 2;
    }
    if (g < groups) {
        multiply_tile(type, 1, T, job, panel + (size_t)g * panel_stride(type), group + g, first, first_sub, subs);
    }
}

/// What comes after the panel of `groups` groups from `first` on whose weights stand at `data`: the next columns of the same
/// groups, the first ones of the next groups, or those of the next job.
INLINE next_panel panel_after(
    const ck_type type, const ck_matmul_job *job, const uint8_t *data, int64_t first, int64_t groups, int64_t most, bool ends) {
    const int bytes = PANEL_SUBS / subs_of(type) * stride_of(type), lines = (bytes + 63) / 64;
    const size_t group_bytes = (size_t)(job->cols / 32 / subs_of(type)) * (size_t)stride_of(type);
    const int64_t rest = job->groups - first - groups;
    next_panel next = {.line = data + bytes, .lines = lines, .left = lines, .groups = (int)groups};
    next.gap = group_bytes - (size_t)lines * 64;
    if (ends) {
        next.line = rest > 0 ? job->data + (size_t)(first + groups) * group_bytes : job->next;
        next.groups = !next.line ? 0 : (int)ck_min(most, rest > 0 ? rest : job->groups);
    }
    const int tiles = (int)((job->tokens + TILE - 1) / TILE * ck_max(1, groups / GROUPS));
    next.per_tile = (next.groups * lines + tiles - 1) / tiles;
    return next;
}

INLINE void multiply_many(const ck_type type, const ck_matmul_job *job) {
    const int64_t subs = job->cols / 32, most = (int64_t)(CK_AVX2_PANEL_BYTES / panel_stride(type)) / GROUPS * GROUPS;
    const size_t group_bytes = (size_t)(subs / subs_of(type)) * (size_t)stride_of(type);
    char *panel = job->scratch;
    for (int64_t first = 0; first < job->groups; first += most) {
        const int64_t groups = ck_min(most, job->groups - first);
        const uint8_t *data = job->data + (size_t)first * group_bytes;
        for (int64_t sub = 0; sub < subs; sub += PANEL_SUBS, data += PANEL_SUBS / subs_of(type) * stride_of(type)) {
            const int64_t count = ck_min(PANEL_SUBS, subs - sub);
            for (int64_t g = 0; g < groups; g++) {
                unpack_group(type, data + (size_t)g * group_bytes, count, panel, g);
            }
            next_panel next = panel_after(type, job, data, first, groups, most, sub + PANEL_SUBS >= subs);
            int64_t t = 0;
            for (; t + TILE <= job->tokens; t += TILE) {
                multiply_panel(type, TILE, job, panel, first, groups, t, sub, count, &next);
            }
            if (t + 2 <= job->tokens) {
                multiply_panel(type, 2, job, panel, first, groups, t, sub, count, &next);
                t += 2;
            }
            if (t < job->tokens) multiply_panel(type, 1, job, panel, first, groups, t, sub, count, &next);
        }
    }
}

// MARK: - By type

#define KERNELS(NAME, TYPE)                                                                                  \
    static __attribute__((noinline)) void NAME##_1(const ck_matmul_job *job) { multiply_few(TYPE, 1, job); } \
    static __attribute__((noinline)) void NAME##_2(const ck_matmul_job *job) { multiply_few(TYPE, 2, job); } \
    static __attribute__((noinline)) void NAME##_4(const ck_matmul_job *job) { multiply_few(TYPE, 4, job); } \
    static __attribute__((noinline)) void NAME##_many(const ck_matmul_job *job) { multiply_many(TYPE, job); } \
    static void NAME(const ck_matmul_job *job) {                                                             \
        switch (job->tokens) {                                                                               \
        case 0: break;                                                                                       \
        case 1: NAME##_1(job); break;                                                                        \
        case 2: NAME##_2(job); break;                                                                        \
        case 3:                                                                                              \
        case 4: NAME##_4(job); break;                                                                        \
        default:                                                                                             \
            if (job->tokens <= few_tokens(TYPE)) {                                                          \
                multiply_by_fours(job, NAME);                                                                \
            } else {                                                                                         \
                NAME##_many(job);                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

KERNELS(q4_0, CK_Q4_0)
KERNELS(q4_1, CK_Q4_1)
KERNELS(q5_0, CK_Q5_0)
KERNELS(q5_1, CK_Q5_1)
KERNELS(q8_0, CK_Q8_0)
KERNELS(q2_k, CK_Q2_K)
KERNELS(q3_k, CK_Q3_K)
KERNELS(q4_k, CK_Q4_K)
KERNELS(q5_k, CK_Q5_K)
KERNELS(q6_k, CK_Q6_K)
KERNELS(iq4_nl, CK_IQ4_NL)
KERNELS(iq4_xs, CK_IQ4_XS)

/// The products of a job with weights of a quantised type.
static void multiply_quantized(const ck_matmul_job *job) {
    switch (job->type) {
    case CK_F32: case CK_F16: case CK_BF16: break;    // take floats
    case CK_Q4_0: q4_0(job); break;
    case CK_Q4_1: q4_1(job); break;
    case CK_Q5_0: q5_0(job); break;
    case CK_Q5_1: q5_1(job); break;
    case CK_Q8_0: q8_0(job); break;
    case CK_Q2_K: q2_k(job); break;
    case CK_Q3_K: q3_k(job); break;
    case CK_Q4_K: q4_k(job); break;
    case CK_Q5_K: q5_k(job); break;
    case CK_Q6_K: q6_k(job); break;
    case CK_IQ4_NL: iq4_nl(job); break;
    case CK_IQ4_XS: iq4_xs(job); break;
    }
}
