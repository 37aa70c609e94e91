// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds ask for two blocks on a multiprocessor instead of four.
// Why: four blocks of 256 threads leave 64 registers to a thread; the 33 sums in double need 66, so some are spilled.
#include "../common.h"

#ifdef AFTER
#define BLOCKS_PER_SM 2
#else
#define BLOCKS_PER_SM 4
#endif

// Index of (row, column), column <= row, in a symmetric 6 by 6 matrix kept as 21 numbers.
#define SYM(row, column) ((row) * ((row) + 1) / 2 + (column))

// Cholesky's factor of m, in place; its diagonal is kept inverted.
__host__ __device__ inline void factorise(double *m) {
#pragma unroll
    for (int r = 0; r < 6; r++) {
#pragma unroll
        for (int c = 0; c <= r; c++) {
            double sum = m[SYM(r, c)];
#pragma unroll
            for (int k = 0; k < c; k++)
                sum -= m[SYM(r, k)] * m[SYM(c, k)];
            m[SYM(r, c)] = r == c ? 1 / sqrt(sum) : sum * m[SYM(c, c)];
        }
    }
}

// Solves the 6 equations in place: v becomes the solution.
__host__ __device__ inline void solve(const double *m, double *v) {
#pragma unroll
    for (int r = 0; r < 6; r++) {
#pragma unroll
        for (int k = 0; k < r; k++)
            v[r] -= m[SYM(r, k)] * v[k];
        v[r] *= m[SYM(r, r)];
    }
#pragma unroll
    for (int r = 5; r >= 0; r--) {
#pragma unroll
        for (int k = 5; k > r; k--)
            v[r] -= m[SYM(k, r)] * v[k];
        v[r] *= m[SYM(r, r)];
    }
}

// The quadratic surfaces that fit best around a pixel of a scan, pixels at other depths counting less, one through the
// depths and one through the shades: sum of both curvatures, twist, and the slopes of the shade.
__host__ __device__ inline float4 fit(const float2 *scan, int width, int height, int px, int py, int radius) {
    float centre = scan[(size_t)py * width + px].x;
    double m[21] = {0}, depth[6] = {0}, shade[6] = {0}, scale = 1.0 / radius;
    for (int dy = -radius; dy <= radius; dy++) {
        int row = py + dy < 0 ? 0 : py + dy >= height ? height - 1 : py + dy;
        for (int dx = -radius; dx <= radius; dx++) {
            int column = px + dx < 0 ? 0 : px + dx >= width ? width - 1 : px + dx;
            float2 pixel = scan[(size_t)row * width + column];
            float away = pixel.x - centre;
            double z = away, weight = 1 / (1 + 4 * away * away);
            double x = dx * scale, y = dy * scale, terms[6] = {1, x, y, x * x, x * y, y * y};
#pragma unroll
            for (int r = 0; r < 6; r++) {
                double weighted = weight * terms[r];
#pragma unroll
                for (int c = 0; c <= r; c++)
                    m[SYM(r, c)] += weighted * terms[c];
                depth[r] += weighted * z;
                shade[r] += weighted * pixel.y;
            }
        }
    }
    factorise(m);
    solve(m, depth);
    solve(m, shade);
    return make_float4((float)(depth[3] + depth[5]), (float)depth[4], (float)shade[1], (float)shade[2]);
}

__global__ void __launch_bounds__(256, BLOCKS_PER_SM)
    fit_surfaces(const float2 *__restrict__ scan, float4 *__restrict__ out, int width, int height, int radius) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < width && py < height)
        out[(size_t)py * width + px] = fit(scan, width, height, px, py, radius);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pillows");
    int width = p.small ? 50 : 1900, height = p.small ? 30 : 1050, radius = p.small ? 2 : 3;
    size_t count = (size_t)width * height;
    std::vector<float> noise = random_floats(count, -0.2f, 0.2f, 17), shade = random_floats(count, 0, 1, 18);
    std::vector<float2> scan(count);
    for (size_t i = 0; i < count; i++) {
        int x = i % width % 40, y = i / width % 30;
        scan[i].x = noise[i] + 0.01f * (x - 20) * (y - 15) + 0.004f * x * x;
        scan[i].y = shade[i] + 0.02f * x;
    }
    float2 *d_scan = device_copy_of(scan.data(), count);
    float4 *d_out = device_array<float4>(count);
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { fit_surfaces<<<grid, block>>>(d_scan, d_out, width, height, radius); });
    std::vector<float4> out = host_copy_of(d_out, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 157) {
        float4 want = fit(scan.data(), width, height, i % width, i / width, radius);
        pair_near(&p, "bulge", i, want.x, out[i].x, 1e-4);
        pair_near(&p, "twist", i, want.y, out[i].y, 1e-4);
        pair_near(&p, "slope in x", i, want.z, out[i].z, 1e-4);
        pair_near(&p, "slope in y", i, want.w, out[i].w, 1e-4);
    }
    return pair_end(&p);
}
