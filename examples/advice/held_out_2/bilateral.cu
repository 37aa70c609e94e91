// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf becomes __expf, and the division at the end __fdividef.
// Why: 81 weights of a pixel take an exponential each, which exactly rounded code computes with a dozen instructions.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, R = 4 };

#ifdef AFTER
#define EXP(x) __expf(x)
#define DIVIDE(a, b) __fdividef(a, b)
#else
#define EXP(x) expf(x)
#define DIVIDE(a, b) ((a) / (b))
#endif

// Bilateral filter: neighbours weigh by their distance and by how much their value differs. The image has a margin.
__global__ void bilateral(const float *in, float *out, int width, int pitch, float near, float alike) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const float *at = in + (size_t)(y + R) * pitch + x + R;
    float center = *at, sum = 0, weights = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++) {
            float v = at[dy * pitch + dx], d = v - center;
            float weight = EXP(-near * (dx * dx + dy * dy) - alike * d * d);
            sum += weight * v;
            weights += weight;
        }
    out[(size_t)y * width + x] = DIVIDE(sum, weights);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bilateral");
    int width = p.small ? 512 : 2048, height = p.small ? 256 : 2048, pitch = width + 2 * R;
    std::vector<float> in = random_floats((size_t)pitch * (height + 2 * R), 0, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>((size_t)width * height);
    const float near = 0.05f, alike = 4;
    pair_time(&p, [&] {
        bilateral<<<dim3(width / BLOCK_X, height / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(d_in, d_out, width, pitch, near,
                                                                                       alike);
    });
    std::vector<float> out = host_copy_of(d_out, (size_t)width * height);
    for (int y = 0; y < height; y += 31)
        for (int x = 0; x < width; x += 29) {
            const float *at = &in[(size_t)(y + R) * pitch + x + R];
            double sum = 0, weights = 0;
            for (int dy = -R; dy <= R; dy++)
                for (int dx = -R; dx <= R; dx++) {
                    double v = at[dy * pitch + dx], d = v - *at;
                    double weight = exp(-near * (dx * dx + dy * dy) - alike * d * d);
                    sum += weight * v;
                    weights += weight;
                }
            pair_near(&p, "out", (size_t)y * width + x, sum / weights, out[(size_t)y * width + x], 1e-4);
        }
    return pair_end(&p);
}
