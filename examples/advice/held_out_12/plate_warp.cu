// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the control stars lie in constant memory.
// Why: all lanes load the same four numbers of each star, one after the other, from global memory.
#include "../common.h"

enum { BLOCK = 256, STARS = 64 };

struct Star {
    float x, y, weight_u, weight_v;
};

#ifdef AFTER
__constant__ Star control[STARS];
#endif

// Where each pixel of a photographic plate lies on the sky: an affine map and a thin-plate spline between stars.
#ifdef AFTER
__global__ void plate_warp(const float *affine, float2 *sky, int width) {
#else
__global__ void plate_warp(const Star *control, const float *affine, float2 *sky, int width) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float scale = 1.0f / (float)width, x = (float)(i % width) * scale, y = (float)(i / width) * scale;
    float u = affine[0] + affine[1] * x + affine[2] * y, v = affine[3] + affine[4] * x + affine[5] * y;
    for (int s = 0; s < STARS; s++) {
        float dx = x - control[s].x, dy = y - control[s].y, square = dx * dx + dy * dy + 1e-9f;
        float bend = square * __logf(square);
        u += control[s].weight_u * bend;
        v += control[s].weight_v * bend;
    }
    sky[i] = make_float2(u, v);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "plate_warp");
    int width = p.small ? 32 : 2048, n = width * width;
    std::vector<float> places = random_floats(STARS * 2, 0, 1, 1), weights = random_floats(STARS * 2, -1, 1, 2);
    std::vector<Star> stars(STARS);
    for (int s = 0; s < STARS; s++)
        stars[s] = {places[2 * s], places[2 * s + 1], weights[2 * s], weights[2 * s + 1]};
    float affine[6] = {0.1f, 1.01f, -0.02f, 0.2f, 0.03f, 0.99f};
    float *d_affine = device_copy_of(affine, 6);
    float2 *d_sky = device_array<float2>(n);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(control, stars.data(), sizeof control));
    pair_time(&p, [&] { plate_warp<<<n / BLOCK, BLOCK>>>(d_affine, d_sky, width); });
#else
    Star *d_stars = device_copy_of(stars.data(), STARS);
    pair_time(&p, [&] { plate_warp<<<n / BLOCK, BLOCK>>>(d_stars, d_affine, d_sky, width); });
#endif
    std::vector<float2> sky = host_copy_of(d_sky, n);
    for (int i = 0; i < n; i += p.small ? 17 : 1009) {
        double x = (double)(i % width) / width, y = (double)(i / width) / width;
        double u = affine[0] + affine[1] * x + affine[2] * y, v = affine[3] + affine[4] * x + affine[5] * y;
        for (const Star &star : stars) {
            double square = pow(x - star.x, 2) + pow(y - star.y, 2) + 1e-9;
            u += star.weight_u * square * log(square);
            v += star.weight_v * square * log(square);
        }
        pair_near(&p, "u", i, u, sky[i].x, 1e-4);
        pair_near(&p, "v", i, v, sky[i].y, 1e-4);
    }
    return pair_end(&p);
}
