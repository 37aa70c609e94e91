// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the exponential, the cosine and the division are the fast intrinsics.
// Why: the exact ones take several times as many instructions, for a picture of ripples that shows no more than 1e-3.
#include "../common.h"

#ifdef AFTER
#define COS(x) __cosf(x)
#define EXP(x) __expf(x)
#define OVER(x, y) __fdividef(x, y)
#else
#define COS(x) cosf(x)
#define EXP(x) expf(x)
#define OVER(x, y) ((x) / (y))
#endif

enum { MOST = 64, WIDE = 32, HIGH = 4 };

struct Drop {
    float x, y, height, age;
};

__constant__ Drop drops[MOST];

// The height of the water of a lagoon where drops have fallen, and how steep the ripples stand.
__global__ void ripple(float *water, float *steep, int width, int count, float damping) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    float px = x * 0.01f, py = y * 0.01f, sum = 0, top = 0;
    for (int d = 0; d < count; d++) {
        float dx = px - drops[d].x, dy = py - drops[d].y, r = sqrtf(dx * dx + dy * dy);
        float late = r - drops[d].age;
        float wave = drops[d].height * EXP(-damping * late * late) * COS(6 * late);
        wave = OVER(wave, 1 + r);
        sum += wave;
        top = fmaxf(top, fabsf(wave));
    }
    water[y * width + x] = sum;
    steep[y * width + x] = top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lagoons");
    int width = p.small ? 64 : 1056, height = p.small ? 32 : 1024, count = p.small ? 6 : 45;
    size_t n = (size_t)width * height;
    std::vector<float> random = random_floats(4 * MOST, 0, 1, 1);
    Drop host[MOST];
    for (int d = 0; d < MOST; d++)
        host[d] = {random[4 * d] * 10, random[4 * d + 1] * 10, random[4 * d + 2], random[4 * d + 3] * 4};
    CUDA_CHECK(cudaMemcpyToSymbol(drops, host, sizeof host));
    float *d_water = device_array<float>(n), *d_steep = device_array<float>(n), damping = 0.3f;
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] { ripple<<<grid, block>>>(d_water, d_steep, width, count, damping); });
    std::vector<float> water = host_copy_of(d_water, n), steep = host_copy_of(d_steep, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 37) {
        double sum = 0, top = 0;
        for (int d = 0; d < count; d++) {
            double dx = i % width * 0.01 - host[d].x, dy = i / width * 0.01 - host[d].y, r = sqrt(dx * dx + dy * dy);
            double late = r - host[d].age,
                   wave = host[d].height * exp(-damping * late * late) * cos(6 * late) / (1 + r);
            sum += wave;
            top = std::max(top, fabs(wave));
        }
        pair_near(&p, "water", i, sum, water[i], 1e-3);
        pair_near(&p, "steep", i, top, steep[i], 1e-3);
    }
    return pair_end(&p);
}
