// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the steps at which a ray enters and leaves the cube are found before the loop; the loop tests no longer.
// Why: three comparisons and a branch at every step, which the load must wait for, and most of the steps lie outside.
#include "../common.h"

enum { LEVELS = 256, ONE = 1 << 16 };  // places along a ray are in 1/ONE of a cell

struct Gas {
    float glow, dust;  // light sent out and part of the light swallowed along one step
};

struct Ray {
    int start[3], step[3];
};

struct View {
    int origin[3], right[3], down[3], forward[3];  // of the first pixel; from pixel to pixel; along the rays
    int steps;
};

__host__ __device__ inline Ray ray_of(const View &view, int column, int row) {
    Ray ray;
    for (int axis = 0; axis < 3; axis++) {
        ray.start[axis] = view.origin[axis] + column * view.right[axis] + row * view.down[axis];
        ray.step[axis] = view.forward[axis];
    }
    return ray;
}

#ifdef AFTER
// The steps from .x to below .y are inside. The outermost half cell, always empty, is left out because of rounding.
__device__ inline int2 steps_inside(const Ray &ray, int side, int steps) {
    float enter = 0, leave = steps - 1.0f;
    for (int axis = 0; axis < 3; axis++) {
        const float low = (0.5f * ONE - ray.start[axis]) / ray.step[axis];
        const float high = ((side - 0.5f) * ONE - ray.start[axis]) / ray.step[axis];
        enter = fmaxf(enter, fminf(low, high));
        leave = fminf(leave, fmaxf(low, high));
    }
    return make_int2((int)ceilf(enter), (int)floorf(leave) + 1);
}
#endif

// A picture of a cloud of gas in space: along each ray the light of the cells adds up, and the dust in front dims it.
__global__ void nebulae(const unsigned char *__restrict__ density, int side, const Gas *__restrict__ gas, View view,
                        float *__restrict__ picture, int columns, int rows) {
    __shared__ Gas of_level[LEVELS];
    for (int l = threadIdx.y * blockDim.x + threadIdx.x; l < LEVELS; l += blockDim.x * blockDim.y)
        of_level[l] = gas[l];
    __syncthreads();
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    const Ray ray = ray_of(view, column, row);
    float light = 0, clear = 1;
#ifdef AFTER
    const int2 inside = steps_inside(ray, side, view.steps);
    for (int s = inside.x; s < inside.y; s++) {
#else
    for (int s = 0; s < view.steps; s++) {
#endif
        const int x = ray.start[0] + s * ray.step[0];
        const int y = ray.start[1] + s * ray.step[1];
        const int z = ray.start[2] + s * ray.step[2];
#ifndef AFTER
        if (x < 0 || x >= side * ONE || y < 0 || y >= side * ONE || z < 0 || z >= side * ONE)
            continue;
#endif
        const Gas cell = of_level[density[((z >> 16) * side + (y >> 16)) * side + (x >> 16)]];
        light += clear * cell.glow;
        clear -= clear * cell.dust;
    }
    picture[row * columns + column] = light;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nebulae");
    const int side = p.small ? 24 : 224, columns = p.small ? 48 : 1000, rows = p.small ? 36 : 900;

    // Clouds are products of one bell for each axis; the outermost cells are empty.
    const int clouds = 7;
    std::vector<float> bell(3 * clouds * side);
    unsigned seed = 31;
    for (int b = 0; b < 3 * clouds; b++) {
        const float middle = side * (0.25f + 0.5f * lcg_next(&seed, 100) / 100.0f);
        const float width = side * (0.05f + 0.1f * lcg_next(&seed, 100) / 100.0f);
        for (int i = 0; i < side; i++)
            bell[b * side + i] = expf(-(i - middle) * (i - middle) / (2 * width * width));
    }
    std::vector<unsigned char> density((size_t)side * side * side, 0);
    for (int z = 1; z < side - 1; z++)
        for (int y = 1; y < side - 1; y++)
            for (int x = 1; x < side - 1; x++) {
                float sum = 0.02f + 0.0004f * lcg_next(&seed, 100);
                for (int c = 0; c < clouds; c++)
                    sum += bell[3 * c * side + x] * bell[(3 * c + 1) * side + y] * bell[(3 * c + 2) * side + z];
                density[((size_t)z * side + y) * side + x] = (unsigned char)std::min(255.0f, 160 * sum);
            }
    std::vector<Gas> gas(LEVELS);
    for (int l = 0; l < LEVELS; l++)
        gas[l] = {0.0002f * l * (1 + l / 50.0f), 0.0001f * l};

    View view;
    const double a = 0.6, b = 0.4, pixel = 1.45 * side / columns;
    const double forward[3] = {cos(b) * sin(a), sin(b), cos(b) * cos(a)}, right[3] = {cos(a), 0, -sin(a)};
    const double down[3] = {-sin(b) * sin(a), cos(b), -sin(b) * cos(a)};
    view.steps = (int)(1.74 * side);
    for (int axis = 0; axis < 3; axis++) {
        view.forward[axis] = (int)lrint(ONE * forward[axis]);
        view.right[axis] = (int)lrint(ONE * pixel * right[axis]);
        view.down[axis] = (int)lrint(ONE * pixel * down[axis]);
        view.origin[axis] = (int)lrint(ONE * 0.5 * side) - view.steps / 2 * view.forward[axis] -
                            columns / 2 * view.right[axis] - rows / 2 * view.down[axis];
    }

    unsigned char *d_density = device_copy_of(density.data(), density.size());
    Gas *d_gas = device_copy_of(gas.data(), LEVELS);
    float *d_picture = device_array<float>((size_t)columns * rows);
    const dim3 block(16, 16), grid((columns + 15) / 16, (rows + 15) / 16);
    pair_time(&p, [&] { nebulae<<<grid, block>>>(d_density, side, d_gas, view, d_picture, columns, rows); });

    std::vector<float> picture = host_copy_of(d_picture, (size_t)columns * rows);
    for (int i = 0; i < columns * rows; i += p.small ? 5 : 101) {
        const Ray ray = ray_of(view, i % columns, i / columns);
        double light = 0, clear = 1;
        for (int s = 0; s < view.steps; s++) {
            int at[3];
            bool outside = false;
            for (int axis = 0; axis < 3; axis++) {
                at[axis] = (int)floor((ray.start[axis] + (double)s * ray.step[axis]) / ONE);
                outside = outside || at[axis] < 0 || at[axis] >= side;
            }
            if (outside)
                continue;
            const Gas &g = gas[density[((size_t)at[2] * side + at[1]) * side + at[0]]];
            light += clear * g.glow;
            clear *= 1.0 - g.dust;
        }
        pair_near(&p, "picture", i, light, picture[i], 1e-4);
    }
    return pair_end(&p);
}
