/// The tile of `avx2_products.h` with vectors of 512 bits, each of two groups. There are registers enough for the sums too.

/// The rows of pair `p` of `G` groups. Of the last pair there may be but one group; then the other half of a vector means nothing.
INLINE __mmask16 rows_of(const int G, const int p) { return G - 2 * p >= 2 ? 0xffff : 0x00ff; }

/// As `first_sums`.
INLINE __m512 first_pair(const ck_matmul_job *job, int64_t group, int64_t token, __mmask16 rows) {
    const float *y = job->y + token * job->y_stride + group * CK_GROUP_ROWS;
    const __m512 sums = job->accumulates ? _mm512_maskz_loadu_ps(rows, y) : _mm512_setzero_ps();
    return job->bias ? _mm512_add_ps(sums, _mm512_maskz_loadu_ps(rows, job->bias + group * CK_GROUP_ROWS)) : sums;
}

/// `G` groups from `group` on, `T` tokens from `first` on, one panel's columns.
INLINE void multiply_tile(
    const ck_type type, const int G, const int T, const ck_matmul_job *job, const char *panel, int64_t group, int64_t first,
    int64_t first_sub, int64_t subs) {
    const int P = (G + 1) / 2;
    const size_t stride = 2 * panel_stride(type);
    const ACTIVATION *x[TILE];
    float *y[TILE];
    const __m512 *heads[PAIRS];
    __m512 begun[PAIRS][TILE], sums[PAIRS][TILE];
#pragma clang loop unroll(full)
    for (int t = 0; t < T; t++) {
        x[t] = ACTIVATIONS(job) + (first + t) * (job->cols / 32) + first_sub;
        y[t] = job->y + (first + t) * job->y_stride + group * CK_GROUP_ROWS;
    }
#pragma clang loop unroll(full)
    for (int p = 0; p < P; p++) {
        heads[p] = (const __m512 *)(const void *)(panel + (size_t)p * stride);
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            begun[p][t] = first_sub > 0 ? _mm512_maskz_loadu_ps(rows_of(G, p), y[t] + 2 * p * CK_GROUP_ROWS)
                                        : first_pair(job, group + 2 * p, first + t, rows_of(G, p));
        }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < P * T; i++) sums[i / T][i % T] = subs_of(type) == 8 ? _mm512_setzero_ps() : begun[i / T][i % T];
    const char *w = panel + 2 * head_bytes(type);
    for (int64_t i = 0; i < subs; i++, w += 2 * unpacked_bytes(type)) {
        multiply_pairs(type, P, T, w, stride, x, sums);
        // Of a block with minima these go first, but to sums of their own.
#pragma clang loop unroll(full)
        for (int m = 0; m < (subs_of(type) == 8 ? minima_of(type) : 0); m++) {
#pragma clang loop unroll(full)
            for (int t = 0; t < T; t++) {
                const __m512 sum = _mm512_set1_ps(*summed(type, x[t], m));
#pragma clang loop unroll(full)
                for (int p = 0; p < P; p++) {
                    begun[p][t] = _mm512_fmadd_ps(heads[p][1 + i * minima_of(type) + m], sum, begun[p][t]);
                }
            }
        }
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) x[t]++;
    }
#pragma clang loop unroll(full)
    for (int p = 0; p < P; p++) {
#pragma clang loop unroll(full)
        for (int t = 0; t < T; t++) {
            const __m512 sum = subs_of(type) == 8 ? _mm512_fmadd_ps(sums[p][t], heads[p][0], begun[p][t]) : sums[p][t];
            _mm512_mask_storeu_ps(y[t] + 2 * p * CK_GROUP_ROWS, rows_of(G, p), sum);
        }
    }
}
