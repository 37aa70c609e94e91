// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: sampling the current, the drag and the motion are one kernel instead of three.
// Why: the water's velocity and the force of each grain stay in registers instead of being written to global memory
// and read again, the grains' own data are read once, and two launches are saved.
#include "../common.h"

// Transport of sand grains by a river: each grain feels the current at its place (bilinear between grid points), the
// drag of Schiller and Naumann and its weight, and moves one time step; the bed stops what reaches it.

constexpr int THREADS = 256;
constexpr float STEP = 0.002f;           // seconds
constexpr float CELL = 0.05f;            // metres between grid points
constexpr float VISCOSITY = 1.0e-6f;     // of water, square metres a second
constexpr float DENSITY_RATIO = 2.65f;   // of quartz to water
constexpr float GRAVITY = 9.81f;

struct Grid {
    const float2 *flow;  // metres a second
    int width, height;
};

struct Grains {
    float2 *place, *speed;
};

__host__ __device__ inline float2 current_at(const Grid &g, float2 place) {
    float gx = fminf(fmaxf(place.x / CELL, 0.0f), g.width - 1.001f);
    float gy = fminf(fmaxf(place.y / CELL, 0.0f), g.height - 1.001f);
    int x = (int)gx, y = (int)gy;
    float fx = gx - x, fy = gy - y;
    const float2 *f = g.flow + (size_t)y * g.width + x;
    float2 a = f[0], b = f[1], c = f[g.width], d = f[g.width + 1];
    return make_float2((a.x * (1 - fx) + b.x * fx) * (1 - fy) + (c.x * (1 - fx) + d.x * fx) * fy,
                       (a.y * (1 - fx) + b.y * fx) * (1 - fy) + (c.y * (1 - fx) + d.y * fx) * fy);
}

// The acceleration by drag and weight less buoyancy.
__host__ __device__ inline float2 pull_on(float2 water, float2 speed, float diameter) {
    float dx = water.x - speed.x, dy = water.y - speed.y;
    float reynolds = sqrtf(dx * dx + dy * dy) * diameter / VISCOSITY;
    float correction = 1.0f + 0.15f * powf(reynolds, 0.687f);
    float rate = 18.0f * VISCOSITY * correction / (DENSITY_RATIO * diameter * diameter);
    return make_float2(rate * dx, rate * dy - GRAVITY * (1.0f - 1.0f / DENSITY_RATIO));
}

__host__ __device__ inline void move(float2 pull, float2 *place, float2 *speed) {
    speed->x += pull.x * STEP;
    speed->y += pull.y * STEP;
    place->x += speed->x * STEP;
    place->y += speed->y * STEP;
    if (place->y < 0) {
        place->y = 0;
        *speed = make_float2(0.6f * speed->x, -0.2f * speed->y);
    }
}

#ifdef AFTER
__global__ void step(Grid grid, Grains from, const float *diameter, Grains to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float2 place = from.place[i], speed = from.speed[i];
    float2 water = current_at(grid, place);
    move(pull_on(water, speed, diameter[i]), &place, &speed);
    to.place[i] = place;
    to.speed[i] = speed;
}
#else
__global__ void sample_current(Grid grid, const float2 *place, float2 *water, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        water[i] = current_at(grid, place[i]);
}

__global__ void compute_pull(const float2 *water, const float2 *speed, const float *diameter, float2 *pull,
                             int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        pull[i] = pull_on(water[i], speed[i], diameter[i]);
}

__global__ void move_grains(const float2 *pull, Grains from, Grains to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float2 place = from.place[i], speed = from.speed[i];
    move(pull[i], &place, &speed);
    to.place[i] = place;
    to.speed[i] = speed;
}
#endif

static std::vector<float2> pairs_of(size_t count, float x0, float x1, float y0, float y1, unsigned seed) {
    std::vector<float> x = random_floats(count, x0, x1, seed), y = random_floats(count, y0, y1, seed + 1);
    std::vector<float2> out(count);
    for (size_t i = 0; i < count; i++)
        out[i] = make_float2(x[i], y[i]);
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "grains");
    int count = p.small ? 4 * THREADS - 50 : 4 << 20, width = p.small ? 64 : 1024, height = p.small ? 16 : 128;
    std::vector<float2> flow = pairs_of((size_t)width * height, 0.2f, 1.4f, -0.1f, 0.1f, 1);
    std::vector<float2> place = pairs_of(count, 0.0f, width * CELL, 0.0f, height * CELL, 3);
    std::vector<float2> speed = pairs_of(count, 0.0f, 1.0f, -0.2f, 0.1f, 5);
    std::vector<float> diameter = random_floats(count, 2e-4f, 2e-3f, 7);

    float2 *d_flow = device_copy_of(flow.data(), flow.size());
    float *d_diameter = device_copy_of(diameter.data(), count);
    float2 *d_water = device_array<float2>(count), *d_pull = device_array<float2>(count);
    Grains from = {device_copy_of(place.data(), count), device_copy_of(speed.data(), count)};
    Grains to = {device_array<float2>(count), device_array<float2>(count)};

    Grid grid = {d_flow, width, height};
    int blocks = (count + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
#ifdef AFTER
        step<<<blocks, THREADS>>>(grid, from, d_diameter, to, count);
#else
        sample_current<<<blocks, THREADS>>>(grid, from.place, d_water, count);
        compute_pull<<<blocks, THREADS>>>(d_water, from.speed, d_diameter, d_pull, count);
        move_grains<<<blocks, THREADS>>>(d_pull, from, to, count);
#endif
    });

    std::vector<float2> new_place = host_copy_of(to.place, count), new_speed = host_copy_of(to.speed, count);
    Grid on_cpu = {flow.data(), width, height};
    for (int i = 0; i < count; i += p.small ? 1 : 97) {
        float2 x = place[i], v = speed[i];
        move(pull_on(current_at(on_cpu, x), v, diameter[i]), &x, &v);
        pair_near(&p, "place x", i, x.x, new_place[i].x, 1e-4);
        pair_near(&p, "place y", i, x.y, new_place[i].y, 1e-4);
        pair_near(&p, "speed x", i, v.x, new_speed[i].x, 1e-3);
    }
    for (void *memory : {(void *)d_flow, (void *)d_diameter, (void *)d_water, (void *)d_pull, (void *)from.place,
                         (void *)from.speed, (void *)to.place, (void *)to.speed})
        CUDA_CHECK(cudaFree(memory));
    return pair_end(&p);
}
