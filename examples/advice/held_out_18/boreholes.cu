// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: spills
// Change: each weight is used as soon as it is known and the sums are divided at the end; no weight is kept.
// Why: a weight per borehole is kept until their total is known; they are more than the registers and go to memory.
#include "../common.h"

enum { BLOCK = 256, HOLES = 96 };

struct Hole {
    float x, y, water, salt;
};

// Depth of the ground water, its salt, and how sure that is, on a grid between boreholes (inverse distance weights).
__global__ void __launch_bounds__(BLOCK, 4) interpolate(const Hole *boreholes, const float *relief, float *water,
                                                        float *salt, float *sure, int width, float scale) {
    __shared__ Hole holes[HOLES];
    if (threadIdx.x < HOLES)
        holes[threadIdx.x] = boreholes[threadIdx.x];
    __syncthreads();
    int at = blockIdx.x * BLOCK + threadIdx.x;
    float x = at % width * scale, y = at / width * scale, hill = relief[at];
    float depth = 0, salinity = 0, total = 0, squares = 0;
#ifdef AFTER
#pragma unroll
    for (int k = 0; k < HOLES; k++) {
        float dx = x - holes[k].x, dy = y - holes[k].y, dh = hill - holes[k].water;
        float weight = __frcp_rn(dx * dx + dy * dy + 0.2f * dh * dh + 0.01f);
        total += weight;
        depth += weight * holes[k].water;
        salinity += weight * holes[k].salt;
        squares += weight * weight;
    }
    depth /= total;
    salinity /= total;
    squares /= total * total;
#else
    float weights[HOLES];
#pragma unroll
    for (int k = 0; k < HOLES; k++) {
        float dx = x - holes[k].x, dy = y - holes[k].y, dh = hill - holes[k].water;
        weights[k] = __frcp_rn(dx * dx + dy * dy + 0.2f * dh * dh + 0.01f);
        total += weights[k];
    }
    float per_total = 1 / total;
#pragma unroll
    for (int k = 0; k < HOLES; k++) {
        float weight = weights[k] * per_total;
        depth += weight * holes[k].water;
        salinity += weight * holes[k].salt;
        squares += weight * weight;
    }
#endif
    water[at] = hill - depth;
    salt[at] = salinity;
    sure[at] = squares;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "boreholes");
    int width = p.small ? 32 : 2048, n = p.small ? 256 : width * 1056;
    float scale = 20.0f / width;
    std::vector<float> raw = random_floats(HOLES * 4, 0, 1, 1), relief = random_floats(n, 0, 3, 2);
    std::vector<Hole> holes(HOLES);
    for (int k = 0; k < HOLES; k++)
        holes[k] = {20 * raw[4 * k], 10 * raw[4 * k + 1], 3 * raw[4 * k + 2], raw[4 * k + 3]};
    Hole *d_holes = device_copy_of(holes.data(), HOLES);
    float *d_relief = device_copy_of(relief.data(), n), *d_water = device_array<float>(n),
          *d_salt = device_array<float>(n), *d_sure = device_array<float>(n);
    pair_time(&p, [&] {
        interpolate<<<n / BLOCK, BLOCK>>>(d_holes, d_relief, d_water, d_salt, d_sure, width, scale);
    });
    std::vector<float> water = host_copy_of(d_water, n), salt = host_copy_of(d_salt, n), sure = host_copy_of(d_sure, n);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        double depth = 0, salinity = 0, total = 0, squares = 0;
        for (const Hole &hole : holes) {
            double dx = (double)(i % width) * scale - hole.x, dy = (double)(i / width) * scale - hole.y,
                   dh = (double)relief[i] - hole.water;
            double weight = 1 / (dx * dx + dy * dy + 0.2 * dh * dh + 0.01);
            total += weight;
            depth += weight * hole.water;
            salinity += weight * hole.salt;
            squares += weight * weight;
        }
        pair_near(&p, "water", i, relief[i] - depth / total, water[i], 1e-3);
        pair_near(&p, "salt", i, salinity / total, salt[i], 1e-3);
        pair_near(&p, "sure", i, squares / total / total, sure[i], 1e-3);
    }
    return pair_end(&p);
}
