// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: blocks take rows in turn (b, b + blocks, ...) instead of 16 neighbouring ones.
// Why: the rows through the set's middle take many more iterations than those at its border.
#include "../common.h"

enum { BLOCK = 1024, BLOCKS = 132 };

static __host__ __device__ int escape(float cx, float cy, int most) {
    float x = 0, y = 0;
    int i = 0;
    for (; i < most && x * x + y * y < 4; i++) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    return i;
}

__global__ void __launch_bounds__(BLOCK) mandelbrot(unsigned short *out, int width, int rows, int most) {
    int each = rows / gridDim.x;
    for (int k = 0; k < each; k++) {
#ifdef AFTER
        int y = k * gridDim.x + blockIdx.x;
#else
        int y = blockIdx.x * each + k;
#endif
        for (int x = threadIdx.x; x < width; x += BLOCK)
            out[(size_t)y * width + x] = (unsigned short)escape(-2 + 2.5f * x / width, -1.25f + 2.5f * y / rows, most);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mandelbrot");
    int width = p.small ? 1024 : 2048, rows = BLOCKS * (p.small ? 2 : 16), most = p.small ? 32 : 500;
    unsigned short *d_out = device_array<unsigned short>((size_t)width * rows);
    pair_time(&p, [&] { mandelbrot<<<BLOCKS, BLOCK>>>(d_out, width, rows, most); });
    std::vector<unsigned short> out = host_copy_of(d_out, (size_t)width * rows);
    int wrong = 0, seen = 0;
    for (int y = 0; y < rows; y += 5)
        for (int x = 0; x < width; x += 17, seen++)
            wrong += escape(-2 + 2.5f * x / width, -1.25f + 2.5f * y / rows, most) != out[(size_t)y * width + x];
    pair_near(&p, "pixels that differ by more than rounding explains, per thousand", 0, 0, wrong * 1000 / seen, 60);
    return pair_end(&p);
}
