// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Also: warp-balance
// Change: warps take boxes in turn (w, w + warps, ...) instead of a run of neighbours.
// Why: a box is compared with those behind it only, so that the first runs have the most to do.
#include "../common.h"

enum { BLOCK = 256, GRID = 264, WARPS = GRID * BLOCK / 32 };

// More than half of what both cover is covered by both.
__host__ __device__ static inline bool overlap(int4 a, int4 b) {
    int left = a.x > b.x ? a.x : b.x, right = a.z < b.z ? a.z : b.z, top = a.y > b.y ? a.y : b.y, bottom = a.w < b.w ? a.w : b.w;
    if (left >= right || top >= bottom)
        return false;
    int both = (right - left) * (bottom - top);
    return 3 * both > (a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y);
}

// How many boxes of less confidence (behind it) each box overlaps: the first step of suppressing all but the best.
__global__ void nms_overlaps(const int4 *boxes, int *out, int n) {
    int warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32, each = (n + WARPS - 1) / WARPS;
    for (int k = 0; k < each; k++) {
#ifdef AFTER
        int i = k * WARPS + warp;
#else
        int i = warp * each + k;
#endif
        if (i >= n)
            break;
        int4 box = boxes[i];
        int count = 0;
        for (int j = i + 1 + lane; j < n; j += 32)
            count += overlap(box, boxes[j]);
        count = __reduce_add_sync(~0u, count);
        if (lane == 0)
            out[i] = count;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nms_overlaps");
    int n = p.small ? 2500 : 25000;
    std::vector<int4> boxes(n);
    unsigned seed = 1;
    for (int4 &b : boxes) {
        b.x = lcg_next(&seed, 600), b.y = lcg_next(&seed, 600);
        b.z = b.x + 8 + lcg_next(&seed, 64), b.w = b.y + 8 + lcg_next(&seed, 64);
    }
    int4 *d_boxes = device_copy_of(boxes.data(), n);
    int *d_out = device_array<int>(n);
    pair_time(&p, [&] { nms_overlaps<<<GRID, BLOCK>>>(d_boxes, d_out, n); });
    std::vector<int> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 97) {
        int count = 0;
        for (int j = i + 1; j < n; j++)
            count += overlap(boxes[i], boxes[j]);
        pair_near(&p, "count", i, count, out[i], 0);
    }
    return pair_end(&p);
}
