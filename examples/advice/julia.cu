// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: 2.0 and 4.0 in the iteration become 2.0f and 4.0f.
// Why: they are doubles, so z is converted to double, multiplied and compared there, and converted back at every step.
#include "common.h"

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

enum { BLOCK = 128 };

// How many steps z -> z^2 + c stays within radius 2, from a point of the plane.
static __host__ __device__ int steps_of(float x, float y, float cx, float cy, int most) {
    int n = 0;
    while (n < most && x * x + y * y < C(4.0)) {
        float next = x * x - y * y + cx;
        y = C(2.0) * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

__global__ void julia(int *out, int width, float step, float cx, float cy, int most) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    out[(size_t)y * width + x] = steps_of(x * step - 1.5f, y * step - 1, cx, cy, most);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "julia");
    int width = p.small ? 384 : 6144, height = p.small ? 264 : 4096, most = p.small ? 64 : 256;
    float step = 3.0f / width, cx = -0.8f, cy = 0.156f;
    int *d_out = device_array<int>((size_t)width * height);
    pair_time(&p, [&] { julia<<<dim3(width / BLOCK, height), BLOCK>>>(d_out, width, step, cx, cy, most); });
    std::vector<int> out = host_copy_of(d_out, (size_t)width * height);
    // Rounding decides where a point leaves, so single points may differ; their sum hardly does.
    double expected = 0, got = 0;
    for (int y = 0; y < height; y += p.small ? 3 : 31)
        for (int x = 0; x < width; x++) {
            expected += steps_of(x * step - 1.5f, y * step - 1, cx, cy, most);
            got += out[(size_t)y * width + x];
        }
    pair_near(&p, "steps", 0, 1, got / expected, 1e-3);
    return pair_end(&p);
}
