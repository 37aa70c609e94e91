// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: collision and streaming are one kernel instead of two.
// Why: the first kernel stores nine densities of each site that the second one loads again.
#include "../common.h"

enum { BLOCK = 256, Q = 9 };

__constant__ int c_dx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, c_dy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

static const int h_dx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, h_dy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

// Lattice Boltzmann, D2Q9, one relaxation time.
static __host__ __device__ void collide(float *f, const int *dx, const int *dy) {
    float density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        density += f[q];
        ux += f[q] * dx[q];
        uy += f[q] * dy[q];
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < Q; q++) {
        float weight = q == 0 ? 4 / 9.0f : q < 5 ? 1 / 9.0f : 1 / 36.0f, along = 3 * (dx[q] * ux + dy[q] * uy);
        f[q] += 0.6f * (weight * density * (1 + along + 0.5f * along * along - square) - f[q]);
    }
}

static __host__ __device__ int neighbour(int i, int dx, int dy, int side) {
    return ((i / side + dy) & (side - 1)) * side + ((i + dx) & (side - 1));
}

#ifdef AFTER
__global__ void step(const float *in, float *out, int side) {
    int i = blockIdx.x * BLOCK + threadIdx.x, n = side * side;
    float f[Q];
#pragma unroll
    for (int q = 0; q < Q; q++)
        f[q] = in[q * n + i];
    collide(f, c_dx, c_dy);
#pragma unroll
    for (int q = 0; q < Q; q++)
        out[q * n + neighbour(i, c_dx[q], c_dy[q], side)] = f[q];
}
#else
__global__ void collision(const float *in, float *between, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float f[Q];
#pragma unroll
    for (int q = 0; q < Q; q++)
        f[q] = in[q * n + i];
    collide(f, c_dx, c_dy);
#pragma unroll
    for (int q = 0; q < Q; q++)
        between[q * n + i] = f[q];
}

__global__ void streaming(const float *between, float *out, int side) {
    int i = blockIdx.x * BLOCK + threadIdx.x, n = side * side;
#pragma unroll
    for (int q = 0; q < Q; q++)
        out[q * n + neighbour(i, c_dx[q], c_dy[q], side)] = between[q * n + i];
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lattice_gas");
    int side = p.small ? 128 : 2048, n = side * side;
    std::vector<float> in = random_floats((size_t)Q * n, 0.1f, 0.2f, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
#ifdef AFTER
    pair_time(&p, [&] { step<<<n / BLOCK, BLOCK>>>(d_in, d_out, side); });
#else
    float *d_between = device_array<float>(in.size());
    pair_time(&p, [&] {
        collision<<<n / BLOCK, BLOCK>>>(d_in, d_between, n);
        streaming<<<n / BLOCK, BLOCK>>>(d_between, d_out, side);
    });
#endif
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int i = 0; i < n; i += 97) {
        float f[Q];
        for (int q = 0; q < Q; q++)
            f[q] = in[(size_t)q * n + i];
        collide(f, h_dx, h_dy);
        for (int q = 0; q < Q; q++)
            pair_near(&p, "density", i, f[q], out[(size_t)q * n + neighbour(i, h_dx[q], h_dy[q], side)], 1e-4);
    }
    return pair_end(&p);
}
