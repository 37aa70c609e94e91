// SPDX-License-Identifier: Apache-2.0
//
// y = M x with a sparse square matrix, 1 to 16 entries in a row, every 61st row 96. GMProf evaluates spmv (section
// VI, Table I); loops of such unequal length are why GPA overestimates unrolling in bfs (section 6.2).
#include "../common/check.h"

enum { BLOCK = 128, WARP = 32, SHORT_ROW = 16, LONG_ROW = 96, LONG_EVERY = 61 };

// A row per thread: lanes wait for the longest row of their warp, and their loads lie a row apart, uncoalesced.
__global__ void spmv_csr_scalar(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    float sum = 0;
    for (int i = row[r]; i < row[r + 1]; i++)
        sum += val[i] * x[col[i]];
    y[r] = sum;
}

// A row per warp: coalesced and balanced within the warp, but short rows leave lanes idle.
__global__ void spmv_csr_vector(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, r = thread / WARP, lane = thread % WARP;
    if (r >= n)  // the same for all lanes of a warp
        return;
    float sum = 0;
    for (int i = row[r] + lane; i < row[r + 1]; i += WARP)
        sum += val[i] * x[col[i]];
    for (int d = WARP / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[r] = sum;
}

// ELLPACK: all rows padded to `width`, stored column by column. A row per thread and yet coalesced, but a few long
// rows make everybody walk over padding (column -1).
__global__ void spmv_ell(const int *col, const float *val, const float *x, float *y, int width, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * n + r];
        if (c >= 0)
            sum += val[k * n + r] * x[c];
    }
    y[r] = sum;
}

// Host arrays of a matrix in both formats.
struct Matrix {
    int n, width;
    int *row, *col;
    float *val;
    int *ell_col;
    float *ell_val;
};

struct Problem {
    int n, width;
    float *expected;
    int *row, *col, *ell_col;      // device
    float *val, *ell_val, *x, *y;  // device
};

static int blocks_for(int threads) { return (threads + BLOCK - 1) / BLOCK; }

static void launch_csr_scalar(Problem *p) {
    spmv_csr_scalar<<<blocks_for(p->n), BLOCK>>>(p->row, p->col, p->val, p->x, p->y, p->n);
}

static void launch_csr_vector(Problem *p) {
    spmv_csr_vector<<<blocks_for(p->n * WARP), BLOCK>>>(p->row, p->col, p->val, p->x, p->y, p->n);
}

static void launch_ell(Problem *p) {
    spmv_ell<<<blocks_for(p->n), BLOCK>>>(p->ell_col, p->ell_val, p->x, p->y, p->width, p->n);
}

static Matrix matrix_create(int n) {
    Matrix m = {n, 0, host_array<int>(n + 1), NULL, NULL, NULL, NULL};
    unsigned state = 1;
    for (int r = 0; r < n; r++) {
        int length = r % LONG_EVERY == LONG_EVERY - 1 ? LONG_ROW : 1 + (int)lcg_next(&state, SHORT_ROW);
        m.row[r + 1] = m.row[r] + length;
        if (length > m.width)
            m.width = length;
    }
    m.col = host_array<int>(m.row[n]);
    m.val = host_array<float>(m.row[n]);
    lcg_fill(m.col, m.row[n], 2, n);  // a column may occur twice in a row: its entries add up
    lcg_fill(m.val, m.row[n], 3, 8);
    size_t padded = (size_t)m.width * n;
    m.ell_col = host_array<int>(padded);
    m.ell_val = host_array<float>(padded);
    for (size_t i = 0; i < padded; i++)
        m.ell_col[i] = -1;
    for (int r = 0; r < n; r++)
        for (int i = m.row[r]; i < m.row[r + 1]; i++) {
            size_t slot = (size_t)(i - m.row[r]) * n + r;
            m.ell_col[slot] = m.col[i];
            m.ell_val[slot] = m.val[i];
        }
    return m;
}

static void matrix_free(Matrix *m) {
    free(m->row);
    free(m->col);
    free(m->val);
    free(m->ell_col);
    free(m->ell_val);
}

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    Matrix m = matrix_create(n);
    float *x = host_array<float>(n);
    lcg_fill(x, n, 4, 16);  // sums stay at most 96 * 7 * 15: exact in any order
    p->n = n;
    p->width = m.width;
    p->expected = host_array<float>(n);
    for (int r = 0; r < n; r++)
        for (int i = m.row[r]; i < m.row[r + 1]; i++)
            p->expected[r] += m.val[i] * x[m.col[i]];
    p->row = device_copy_of(m.row, n + 1);
    p->col = device_copy_of(m.col, m.row[n]);
    p->val = device_copy_of(m.val, m.row[n]);
    p->ell_col = device_copy_of(m.ell_col, (size_t)m.width * n);
    p->ell_val = device_copy_of(m.ell_val, (size_t)m.width * n);
    p->x = device_copy_of(x, n);
    p->y = device_array<float>(n);
    free(x);
    matrix_free(&m);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemset(p->y, 0xff, p->n * sizeof(float))); }

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "y", p->expected, p->y, p->n); }

static void destroy(Problem *p) {
    void *arrays[] = {p->row, p->col, p->ell_col, p->val, p->ell_val, p->x, p->y};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        CUDA_CHECK(cudaFree(arrays[i]));
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"csr_scalar", launch_csr_scalar, 1, "a row per thread: uncoalesced, unbalanced"},
    {"csr_vector", launch_csr_vector, 1, "a row per warp: coalesced, idle lanes on short rows"},
    {"ell", launch_ell, 1, "padded rows, column-major: coalesced, walks over padding"},
};

static const Example example = {
    "spmv",   "rows and columns",  // name, what --n counts
    4096,     1,
    1 << 20,  false,  // default, smallest, largest, powers of two only
    create,   reset,
    check,    destroy,
    variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
