// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: where a population streams from is computed from the cell's coordinates, not looked up in a link table.
// Why: the table is as large as the populations themselves, so a third of the traffic goes, and with it the wait for
// an index before each load can start.
#include "../common.h"

constexpr int Q = 9;              // directions of the D2Q9 lattice
constexpr float OMEGA = 1.6f;     // relaxation rate
constexpr float SLOPE = 2e-5f;    // acceleration along the river bed

__host__ __device__ constexpr int step_x(int q) {
    constexpr int x[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    return x[q];
}

__host__ __device__ constexpr int step_y(int q) {
    constexpr int y[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    return y[q];
}

__host__ __device__ constexpr int opposite(int q) {
    constexpr int o[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    return o[q];
}

__host__ __device__ constexpr float weight(int q) {
    return q == 0 ? 4 / 9.0f : q < 5 ? 1 / 9.0f : 1 / 36.0f;
}

// Where population q of cell (x, y) comes from: upstream in x the river is periodic, at the banks it bounces back.
__host__ __device__ inline int upstream(int q, int x, int y, int width, int height) {
    int from_x = x - step_x(q), from_y = y - step_y(q);
    from_x = from_x < 0 ? width - 1 : from_x == width ? 0 : from_x;
    if (from_y < 0 || from_y == height)
        return (opposite(q) * height + y) * width + x;
    return (q * height + from_y) * width + from_x;
}

// Relaxes the populations of one cell towards equilibrium.
__host__ __device__ inline void collide(float f[Q]) {
    float rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        rho += f[q];
        ux += step_x(q) * f[q];
        uy += step_y(q) * f[q];
    }
    ux = ux / rho + SLOPE / OMEGA;
    uy = uy / rho;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < Q; q++) {
        float along = 3 * (step_x(q) * ux + step_y(q) * uy);
        float equilibrium = weight(q) * rho * (1 + along + 0.5f * along * along - square);
        f[q] += OMEGA * (equilibrium - f[q]);
    }
}

// One step of the shallow river: stream (pull), then collide.
__global__ void stream_collide(const float *__restrict__ before, const int *__restrict__ links,
                               float *__restrict__ after, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    int cell = y * width + x, cells = width * height;
    float f[Q];
#pragma unroll
    for (int q = 0; q < Q; q++) {
#ifdef AFTER
        int from = upstream(q, x, y, width, height);
#else
        int from = links[q * cells + cell];
#endif
        f[q] = before[from];
    }
    collide(f);
#pragma unroll
    for (int q = 0; q < Q; q++)
        after[q * cells + cell] = f[q];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rivers");
    int width = p.small ? 128 : 4096, height = p.small ? 6 : 1024;
    int cells = width * height;

    std::vector<float> noise = random_floats((size_t)Q * cells, 0.97f, 1.03f, 11);
    std::vector<float> f((size_t)Q * cells);
    std::vector<int> links((size_t)Q * cells);
    for (int q = 0; q < Q; q++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                size_t at = ((size_t)q * height + y) * width + x;
                f[at] = weight(q) * noise[at];
                links[at] = upstream(q, x, y, width, height);
            }
    float *d_before = device_copy_of(f.data(), f.size());
    float *d_after = device_array<float>(f.size());
    int *d_links = device_copy_of(links.data(), links.size());

    dim3 grid((width + 127) / 128, height);
    pair_time(&p, [&] { stream_collide<<<grid, 128>>>(d_before, d_links, d_after, width, height); });

    std::vector<float> got = host_copy_of(d_after, f.size());
    for (int cell = 0; cell < cells; cell += p.small ? 1 : 61) {
        float expected[Q];
        for (int q = 0; q < Q; q++)
            expected[q] = f[links[(size_t)q * cells + cell]];
        collide(expected);
        for (int q = 0; q < Q; q++)
            pair_near(&p, "population", (size_t)q * cells + cell, expected[q], got[(size_t)q * cells + cell], 1e-5);
    }
    CUDA_CHECK(cudaFree(d_before));
    CUDA_CHECK(cudaFree(d_after));
    CUDA_CHECK(cudaFree(d_links));
    return pair_end(&p);
}
