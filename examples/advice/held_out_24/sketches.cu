// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a block take the strokes of its sketch one by one from a counter, not four in a row each.
// Why: the strokes are sorted by length, so the first warp has several times the mean work, and the others wait for it.
#include "../common.h"

enum { WARPS = 16, BLOCK = WARPS * 32, STROKES = 64, EACH = STROKES / WARPS };

// The ink that one stroke needs: lengths of its segments times the mean pressure of the pen at their ends. One warp;
// the result is right in all lanes.
__device__ float ink_of(const short4 *points, int first, int end, int lane) {
    float ink = 0;
    for (int k = first + lane; k + 1 < end; k += 32) {
        short4 a = points[k], b = points[k + 1];  // x, y, pressure, not used
        float dx = b.x - a.x, dy = b.y - a.y;
        ink += sqrtf(dx * dx + dy * dy) * (0.5f / 1024) * (a.z + b.z);
    }
    for (int d = 16; d > 0; d /= 2)
        ink += __shfl_xor_sync(0xffffffffu, ink, d);
    return ink;
}

// One block per sketch: the ink of its strokes, the longest stroke first, and of the whole sketch.
__global__ void __launch_bounds__(BLOCK)
    ink_sketches(const short4 *points, const int *start, float *ink, float *total) {
    __shared__ float inks[STROKES];
#ifdef AFTER
    __shared__ int next;
    if (threadIdx.x == 0)
        next = 0;
    __syncthreads();
#endif
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int *strokes = start + blockIdx.x * STROKES;
#ifdef AFTER
    for (;;) {
        int s = 0;
        if (lane == 0)
            s = atomicAdd(&next, 1);
        s = __shfl_sync(0xffffffffu, s, 0);
        if (s >= STROKES)
            break;
#else
    for (int s = warp * EACH; s < (warp + 1) * EACH; s++) {
#endif
        float one = ink_of(points, strokes[s], strokes[s + 1], lane);
        if (lane == 0)
            inks[s] = one;
    }
    __syncthreads();
    if (threadIdx.x < STROKES)
        ink[blockIdx.x * STROKES + threadIdx.x] = inks[threadIdx.x];
    if (warp == WARPS - 1) {
        float sum = inks[lane] + inks[lane + 32];
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0)
            total[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sketches");
    int sketches = p.small ? 3 : 132 * 4, longest = p.small ? 120 : 2000;
    std::vector<int> start(1, 0);
    unsigned seed = 1;
    for (int i = 0; i < sketches; i++) {
        int lengths[STROKES];
        for (int &l : lengths) {  // most strokes are short
            double u = lcg_next(&seed, 1000) / 1000.0;
            l = 8 + (int)(longest * u * u * u * u);
        }
        std::sort(lengths, lengths + STROKES, [](int a, int b) { return a > b; });
        for (int l : lengths)
            start.push_back(start.back() + l);
    }
    std::vector<short4> points(start.back());
    for (short4 &q : points)
        q = make_short4(lcg_next(&seed, 2000), lcg_next(&seed, 1500), lcg_next(&seed, 1024), 0);
    short4 *d_points = device_copy_of(points.data(), points.size());
    int *d_start = device_copy_of(start.data(), start.size());
    float *d_ink = device_array<float>(sketches * STROKES), *d_total = device_array<float>(sketches);
    pair_time(&p, [&] { ink_sketches<<<sketches, BLOCK>>>(d_points, d_start, d_ink, d_total); });
    std::vector<float> ink = host_copy_of(d_ink, sketches * STROKES), total = host_copy_of(d_total, sketches);
    for (int i = 0; i < sketches; i += p.small ? 1 : 5) {
        double sum = 0;
        for (int s = i * STROKES; s < (i + 1) * STROKES; s++) {
            double one = 0;
            for (int k = start[s]; k + 1 < start[s + 1]; k++) {
                double dx = points[k + 1].x - points[k].x, dy = points[k + 1].y - points[k].y;
                one += sqrt(dx * dx + dy * dy) * (points[k].z + points[k + 1].z) / 2048;
            }
            pair_near(&p, "ink", s, one, ink[s], 1e-4);
            sum += one;
        }
        pair_near(&p, "total", i, sum, total[i], 1e-4);
    }
    return pair_end(&p);
}
