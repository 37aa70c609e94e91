// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the head, the flows and the new level of the basin are computed by one kernel instead of three.
// Why: head, turbine flow and sluice flow go to memory only for the next kernel to read them back.
#include "../common.h"

enum { BLOCK = 256 };

// What the engineers vary is in arrays, one barrage of the study per element; this is what all have in common.
struct Plant {
    float hours, step, turbine_area, rated_head, rated_flow, sluice_loss, density_gravity;
};

// The sea in front of the wall: the two main tides, an overtide and the mean.
__host__ __device__ inline float sea_level(float moon, float sun, float delay, float hours) {
    float m2 = hours * (1 / 6.2103f) - delay, s2 = hours * (1 / 6.0f);  // in half turns
    return moon * cospif(m2) + sun * cospif(s2) + 0.05f * moon * cospif(2 * m2);
}

// Turbines turn both ways: an orifice below the rated head, held at the rated power above it.
__host__ __device__ inline float turbine_flow(float head, const Plant &plant) {
    float size = fabsf(head), flow = plant.turbine_area * sqrtf(19.62f * size);
    if (size > plant.rated_head)
        flow = plant.rated_flow * plant.rated_head / size;
    return size < 0.8f ? 0 : copysignf(flow, head);
}

__host__ __device__ inline float sluice_flow(float head, float gates, const Plant &plant) {
    return fabsf(head) > 1.5f ? 0 : copysignf(gates * plant.sluice_loss * sqrtf(19.62f * fabsf(head)), head);
}

// The basin gets wider as it fills: its shores are mud flats.
__host__ __device__ inline float basin_area(float level, float area) {
    return area * (1 + 0.08f * fminf(fmaxf(level, -4.0f), 4.0f));
}

__host__ __device__ inline float electric_power(float head, float flow, const Plant &plant) {
    float load = fabsf(head) / plant.rated_head, efficiency = 0.9f - 0.25f * (1 - load) * (1 - load);
    return plant.density_gravity * fabsf(head) * fabsf(flow) * fmaxf(efficiency, 0.0f);
}

#ifdef AFTER

__global__ void barrage(Plant plant, const float *moon, const float *sun, const float *delay, const float *gates,
                        const float *area, const float *level, float *next, float *power, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float head = sea_level(moon[i], sun[i], delay[i], plant.hours) - level[i];
    float turbines = turbine_flow(head, plant), sluices = sluice_flow(head, gates[i], plant);
    next[i] = level[i] + (turbines + sluices) * plant.step / basin_area(level[i], area[i]);
    power[i] = electric_power(head, turbines, plant);
}

#else

__global__ void heads(Plant plant, const float *moon, const float *sun, const float *delay, const float *level,
                      float *head, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        head[i] = sea_level(moon[i], sun[i], delay[i], plant.hours) - level[i];
}

__global__ void flows(Plant plant, const float *head, const float *gates, float *turbines, float *sluices, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    turbines[i] = turbine_flow(head[i], plant);
    sluices[i] = sluice_flow(head[i], gates[i], plant);
}

__global__ void basins(Plant plant, const float *head, const float *turbines, const float *sluices, const float *area,
                       const float *level, float *next, float *power, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    next[i] = level[i] + (turbines[i] + sluices[i]) * plant.step / basin_area(level[i], area[i]);
    power[i] = electric_power(head[i], turbines[i], plant);
}

#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sluices");
    int count = p.small ? 20000 : 8000000, blocks = (count + BLOCK - 1) / BLOCK;
    Plant plant = {7.3f, 300, 900, 5.5f, 9300, 0.9f, 10055};
    std::vector<float> moon = random_floats(count, 2, 5, 1), sun = random_floats(count, 0.5f, 1.5f, 2),
                       delay = random_floats(count, 0, 2, 3), gates = random_floats(count, 500, 3000, 4),
                       area = random_floats(count, 1e7f, 5e7f, 5), level = random_floats(count, -3, 3, 6);
    float *d_moon = device_copy_of(moon.data(), count), *d_sun = device_copy_of(sun.data(), count),
          *d_delay = device_copy_of(delay.data(), count), *d_gates = device_copy_of(gates.data(), count),
          *d_area = device_copy_of(area.data(), count), *d_level = device_copy_of(level.data(), count),
          *d_next = device_array<float>(count), *d_power = device_array<float>(count);
#ifdef AFTER
    pair_time(&p, [&] {
        barrage<<<blocks, BLOCK>>>(plant, d_moon, d_sun, d_delay, d_gates, d_area, d_level, d_next, d_power, count);
    });
#else
    float *d_head = device_array<float>(count), *d_turbines = device_array<float>(count),
          *d_sluices = device_array<float>(count);
    pair_time(&p, [&] {
        heads<<<blocks, BLOCK>>>(plant, d_moon, d_sun, d_delay, d_level, d_head, count);
        flows<<<blocks, BLOCK>>>(plant, d_head, d_gates, d_turbines, d_sluices, count);
        basins<<<blocks, BLOCK>>>(plant, d_head, d_turbines, d_sluices, d_area, d_level, d_next, d_power, count);
    });
#endif
    std::vector<float> next = host_copy_of(d_next, count), power = host_copy_of(d_power, count);
    for (int i = 0; i < count; i += 7) {
        float head = sea_level(moon[i], sun[i], delay[i], plant.hours) - level[i], size = fabsf(head);
        if (fabsf(size - 0.8f) < 1e-4f || fabsf(size - 1.5f) < 1e-4f)
            continue;  // a gate may or may not open here
        float turbines = turbine_flow(head, plant), sluices = sluice_flow(head, gates[i], plant);
        pair_near(&p, "next", i, level[i] + (turbines + sluices) * plant.step / basin_area(level[i], area[i]), next[i],
                  1e-4);
        pair_near(&p, "power", i, electric_power(head, turbines, plant), power[i], 1e-3);
    }
    return pair_end(&p);
}
