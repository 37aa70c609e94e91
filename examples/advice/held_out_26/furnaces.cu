// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a furnace's properties are read into registers once, before the loop over the time steps.
// Why: the record of the temperatures might overlap the properties, so that each step loads all of them again.
#include "../common.h"

struct Furnace {
    float outside, wanted, eagerness, most_power, leak, capacity, tariff, radiation;
};

// Watts now, from how cold it is.
static __host__ __device__ float heating(const Furnace &f, float celsius) {
    return fminf(f.most_power, fmaxf(0.0f, f.eagerness * (f.wanted - celsius)));
}

// Degrees after one time step.
static __host__ __device__ float one_step(const Furnace &f, float celsius, float power) {
    float kilo = 0.001f * celsius;
    float lost = f.leak * (celsius - f.outside) + f.radiation * kilo * kilo * kilo;
    return celsius + (power - lost) * f.capacity;
}

// Many furnaces with different properties are started cold; temperatures[step * count + i] is furnace i's record.
__global__ void heat_up(const Furnace *furnaces, float *temperatures, float *costs, int count, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
#ifdef AFTER
    const Furnace furnace = furnaces[i];
#else
    const Furnace &furnace = furnaces[i];
#endif
    float celsius = furnace.outside, cost = 0;
    for (int s = 0; s < steps; s++) {
        float power = heating(furnace, celsius);
        celsius = one_step(furnace, celsius, power);
        cost += furnace.tariff * power;
        temperatures[(size_t)s * count + i] = celsius;
    }
    costs[i] = cost;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "furnaces");
    int count = p.small ? 1500 : 400000, steps = p.small ? 12 : 60, block = 128;
    std::vector<float> any = random_floats((size_t)8 * count, 0, 1, 1);
    std::vector<Furnace> furnaces(count);
    for (int i = 0; i < count; i++) {
        const float *a = &any[(size_t)8 * i];
        Furnace &f = furnaces[i];
        f.outside = 5 + 20 * a[0];
        f.wanted = 600 + 600 * a[1];
        f.eagerness = 20 + 30 * a[2];
        f.most_power = 4000 + 6000 * a[3];
        f.leak = 1 + 2 * a[4];
        f.capacity = 0.004f + 0.004f * a[5];
        f.tariff = 0.0001f + 0.0002f * a[6];
        f.radiation = 200 + 800 * a[7];
    }
    Furnace *d_furnaces = device_copy_of(furnaces.data(), count);
    float *d_temperatures = device_array<float>((size_t)steps * count), *d_costs = device_array<float>(count);
    pair_time(&p, [&] {
        heat_up<<<(count + block - 1) / block, block>>>(d_furnaces, d_temperatures, d_costs, count, steps);
    });
    std::vector<float> temperatures = host_copy_of(d_temperatures, (size_t)steps * count);
    std::vector<float> costs = host_copy_of(d_costs, count);
    for (int i = 0; i < count; i += p.small ? 1 : 23) {
        float celsius = furnaces[i].outside, cost = 0;
        for (int s = 0; s < steps; s++) {
            float power = heating(furnaces[i], celsius);
            celsius = one_step(furnaces[i], celsius, power);
            cost += furnaces[i].tariff * power;
            size_t where = (size_t)s * count + i;
            pair_near(&p, "temperatures", where, celsius, temperatures[where], 1e-4);
        }
        pair_near(&p, "costs", i, cost, costs[i], 1e-3);
    }
    return pair_end(&p);
}
