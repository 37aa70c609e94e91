// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: threads are numbered over the cells of one colour; all of them have a cell to update.
// Why: with a thread for each cell every second lane has nothing to do.
#include "../common.h"

enum { SIDE_X = 32, SIDE_Y = 8 };

// Relaxes u'' = sinh(u), as of ions around a charge.
static __host__ __device__ float relax(float own, float around) {
    float e = expf(own), source = 0.5f * (e - 1 / e), slope = 0.5f * (e + 1 / e);
    return own - 0.8f * (4 * own - around + 0.01f * source) / (4 + 0.01f * slope);
}

__global__ void red_black(const float *in, float *out, int width, int height, int colour) {
    int y = blockIdx.y * SIDE_Y + threadIdx.y + 1;
#ifdef AFTER
    int x = 2 * (blockIdx.x * SIDE_X + threadIdx.x) + 1 + ((y + 1 + colour) & 1);
    if (x >= width - 1 || y >= height - 1)
        return;
#else
    int x = blockIdx.x * SIDE_X + threadIdx.x + 1;
    if (x >= width - 1 || y >= height - 1 || ((x + y) & 1) != colour)
        return;
#endif
    int i = y * width + x;
    out[i] = relax(in[i], in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

// One half of a red-black sweep.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "red_black");
    int width = p.small ? 512 : 2048, height = p.small ? 256 : 2048, colour = 1;
    std::vector<float> in = random_floats((size_t)width * height, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_copy_of(in.data(), in.size());
#ifdef AFTER
    int columns = width / 2;
#else
    int columns = width;
#endif
    pair_time(&p, [&] {
        red_black<<<dim3(columns / SIDE_X, height / SIDE_Y), dim3(SIDE_X, SIDE_Y)>>>(d_in, d_out, width, height,
                                                                                     colour);
    });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int y = 1; y < height - 1; y += 3)
        for (int x = 1; x < width - 1; x++) {
            int i = y * width + x;
            float wanted =
                (x + y) % 2 == colour ? relax(in[i], in[i - 1] + in[i + 1] + in[i - width] + in[i + width]) : in[i];
            pair_near(&p, "out", i, wanted, out[i], 1e-4);
        }
    return pair_end(&p);
}
