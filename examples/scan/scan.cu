// SPDX-License-Identifier: Apache-2.0
//
// Exclusive prefix sum of 32-bit words. GRAB, Table 4: Scan_naive, Scan_workefficient, Scan_best on 512 elements in
// one block, the default here; longer inputs are scanned chunk by chunk, then the chunk sums, then the sums of these.
#include "../common/check.h"

enum { CHUNK = 512, WARPS = CHUNK / 32 };

// Every kernel scans chunk blockIdx.x of `in` (n elements, the last chunk may be short) and, unless `sums` is NULL,
// stores the chunk's total there.

// One thread per element, log2(CHUNK) rounds, every round adds almost everywhere: n log n additions (Hillis and
// Steele). Two buffers, because a round may not overwrite what its neighbours still read.
__global__ void scan_naive(const unsigned *in, unsigned *out, unsigned *sums, int n) {
    __shared__ unsigned s[2][CHUNK];
    int t = threadIdx.x, g = blockIdx.x * CHUNK + t, from = 0;
    unsigned own = g < n ? in[g] : 0;
    s[from][t] = own;
    __syncthreads();
    for (int d = 1; d < CHUNK; d <<= 1) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    if (g < n)
        out[g] = s[from][t] - own;
    if (sums && t == CHUNK - 1)
        sums[blockIdx.x] = s[from][t];
}

// With padding, one unused word after every 32: elements a power of two apart then lie in different banks.
template <bool PADDED> __device__ int slot(int i) { return PADDED ? i + (i >> 5) : i; }

// Blelloch's two sweeps over a balanced tree, CHUNK/2 threads, about 2 n additions. Leaves the exclusive scan in s.
template <bool PADDED> __device__ void scan_tree(unsigned *s, unsigned *sums) {
    int t = threadIdx.x, step = 1;
    for (int d = CHUNK / 2; d > 0; d >>= 1, step <<= 1) {
        __syncthreads();
        if (t < d)
            s[slot<PADDED>(step * (2 * t + 2) - 1)] += s[slot<PADDED>(step * (2 * t + 1) - 1)];
    }
    if (t == 0) {  // the thread that wrote the root
        if (sums)
            sums[blockIdx.x] = s[slot<PADDED>(CHUNK - 1)];
        s[slot<PADDED>(CHUNK - 1)] = 0;
    }
    for (int d = 1; d < CHUNK; d <<= 1) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int left = slot<PADDED>(step * (2 * t + 1) - 1), right = slot<PADDED>(step * (2 * t + 2) - 1);
            unsigned passed = s[left];
            s[left] = s[right];
            s[right] += passed;
        }
    }
    __syncthreads();
}

// Fewer additions, but strides of powers of two: bank conflicts in the tree, and each thread takes two neighbours
// from global memory, so every line is touched by two requests (GRAB: 3156 faults that scan_best does not have).
__global__ void scan_workefficient(const unsigned *in, unsigned *out, unsigned *sums, int n) {
    __shared__ unsigned s[CHUNK];
    int i = 2 * threadIdx.x, g = blockIdx.x * CHUNK + i;
    s[i] = g < n ? in[g] : 0;
    s[i + 1] = g + 1 < n ? in[g + 1] : 0;
    scan_tree<false>(s, sums);
    if (g < n)
        out[g] = s[i];
    if (g + 1 < n)
        out[g + 1] = s[i + 1];
}

// The same tree, padded, and each thread takes two elements CHUNK/2 apart: coalesced, free of conflicts.
__global__ void scan_best(const unsigned *in, unsigned *out, unsigned *sums, int n) {
    __shared__ unsigned s[CHUNK + CHUNK / 32];
    int i = threadIdx.x, j = i + CHUNK / 2, g = blockIdx.x * CHUNK + i, h = g + CHUNK / 2;
    s[slot<true>(i)] = g < n ? in[g] : 0;
    s[slot<true>(j)] = h < n ? in[h] : 0;
    scan_tree<true>(s, sums);
    if (g < n)
        out[g] = s[slot<true>(i)];
    if (h < n)
        out[h] = s[slot<true>(j)];
}

// What today's GPUs do: registers and warp shuffles, shared memory only for the warps' totals, two barriers.
__global__ void scan_shuffle(const unsigned *in, unsigned *out, unsigned *sums, int n) {
    __shared__ unsigned totals[WARPS];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, g = blockIdx.x * CHUNK + t;
    unsigned own = g < n ? in[g] : 0, v = own;
    for (int d = 1; d < 32; d <<= 1) {
        unsigned left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += left;
    }
    if (lane == 31)
        totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
        unsigned w = lane < WARPS ? totals[lane] : 0;
        for (int d = 1; d < WARPS; d <<= 1) {
            unsigned left = __shfl_up_sync(0xffffffffu, w, d);
            if (lane >= d)
                w += left;
        }
        if (lane < WARPS)
            totals[lane] = w;
    }
    __syncthreads();
    if (warp > 0)
        v += totals[warp - 1];
    if (g < n)
        out[g] = v - own;
    if (sums && t == CHUNK - 1)
        sums[blockIdx.x] = v;
}

// out += the exclusive scan of the chunk sums.
__global__ void scan_add(unsigned *out, const unsigned *offsets, int n) {
    int g = blockIdx.x * CHUNK + threadIdx.x;
    if (g < n)
        out[g] += offsets[blockIdx.x];
}

struct Problem {
    int n;
    unsigned *expected;
    unsigned *in, *out, *scratch;  // device
};

typedef void Kernel(const unsigned *in, unsigned *out, unsigned *sums, int n);

// `scratch` holds the sums of this level and their scan, then what the next level needs: under 4 words per chunk,
// and 2 for a last level of one chunk.
static void scan_levels(Kernel *kernel, int threads, const unsigned *in, unsigned *out, unsigned *scratch, int n) {
    int chunks = (n + CHUNK - 1) / CHUNK;
    if (chunks == 1) {
        kernel<<<1, threads>>>(in, out, NULL, n);
        return;
    }
    unsigned *sums = scratch, *offsets = scratch + chunks;
    kernel<<<chunks, threads>>>(in, out, sums, n);
    scan_levels(kernel, threads, sums, offsets, scratch + 2 * chunks, chunks);
    scan_add<<<chunks, CHUNK>>>(out, offsets, n);
}

static void launch_naive(Problem *p) { scan_levels(scan_naive, CHUNK, p->in, p->out, p->scratch, p->n); }
static void launch_best(Problem *p) { scan_levels(scan_best, CHUNK / 2, p->in, p->out, p->scratch, p->n); }
static void launch_shuffle(Problem *p) { scan_levels(scan_shuffle, CHUNK, p->in, p->out, p->scratch, p->n); }

static void launch_workefficient(Problem *p) {
    scan_levels(scan_workefficient, CHUNK / 2, p->in, p->out, p->scratch, p->n);
}

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    p->n = n;
    unsigned *in = host_array<unsigned>(n), sum = 0;
    lcg_fill(in, n, 1, 1 << 24);
    p->expected = host_array<unsigned>(n);
    for (int i = 0; i < n; i++) {  // modulo 2^32, like the kernels
        p->expected[i] = sum;
        sum += in[i];
    }
    p->in = device_copy_of(in, n);
    p->out = device_array<unsigned>(n);
    p->scratch = device_array<unsigned>(4 * (n / CHUNK + 1) + 2);
    free(in);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemset(p->out, 0xff, p->n * sizeof(unsigned))); }

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "out", p->expected, p->out, p->n); }

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->in));
    CUDA_CHECK(cudaFree(p->out));
    CUDA_CHECK(cudaFree(p->scratch));
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"naive", launch_naive, 1, "n log n additions, double buffer (GRAB Scan_naive)"},
    {"workefficient", launch_workefficient, 1, "two sweeps over a tree, bank conflicts (GRAB Scan_workefficient)"},
    {"best", launch_best, 1, "the tree with padding, coalesced (GRAB Scan_best)"},
    {"shuffle", launch_shuffle, 1, "warp shuffles in registers"},
};

static const Example example = {
    "scan", "elements",                  // name, what --n counts
    512,    1,          1 << 26, false,  // default, smallest, largest, powers of two only
    create, reset,      check,   destroy, variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
