// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the trips are sorted by kind of vehicle before they are copied to the GPU.
// Why: the lanes of a warp then run one vehicle's model together instead of all four one after the other.
#include "../common.h"

enum { BLOCK = 192 };

enum Kind { SCOOTER, BICYCLE, BUS, VAN };

struct alignas(16) Trip {
    float load, slope, km;
    int kind;
};

__host__ __device__ static float scooter_energy(const Trip &t) {
    float energy = 0, speed = 1;
    for (int step = 0; step < 40; step++) {
        float power = 0.3f * t.load * speed + 0.02f * speed * speed * speed;
        energy += power / (0.6f + 0.4f * expf(-0.05f * power));
        speed += 0.1f * (6 - speed) - 0.2f * t.slope;
    }
    return energy;
}

__host__ __device__ static float bicycle_energy(const Trip &t) {
    float energy = 0, effort = 1.5f;
    for (int step = 0; step < 32; step++) {
        float speed = sqrtf(effort / (0.1f + 0.05f * t.load + 0.3f * t.slope));
        energy += 0.01f * effort * speed;
        effort = 0.9f * effort + 0.05f * speed;
    }
    return energy;
}

__host__ __device__ static float bus_energy(const Trip &t) {
    float energy = 0, mass = 12 + t.load;
    for (int stop = 0; stop < 48; stop++) {
        float start = mass * 1.2f, climb = mass * t.slope;
        energy += start + climb - 0.4f * logf(1 + start * mass);
        mass += 0.01f * (16 - mass) * (1 + t.slope);
    }
    return energy;
}

__host__ __device__ static float van_energy(const Trip &t) {
    float energy = 0, heat = 0.2f;
    for (int step = 0; step < 36; step++) {
        float efficiency = 0.35f * heat / (0.1f + heat);
        energy += (2 + t.load + t.slope) / (0.1f + efficiency);
        heat += 0.08f * (1.2f - heat) / (1 + 0.1f * t.load);
    }
    return energy;
}

__host__ __device__ static float trip_energy(const Trip &t) {
    switch (t.kind) {
    case SCOOTER: return t.km * scooter_energy(t);
    case BICYCLE: return t.km * bicycle_energy(t);
    case BUS: return t.km * bus_energy(t);
    default: return t.km * van_energy(t);
    }
}

// The energy that each trip of a city's day takes.
__global__ void city_day(const Trip *trips, float *energy, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) {
        Trip t = trips[i];
        energy[i] = trip_energy(t);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "scooters");
    int n = p.small ? 3000 : 1250000;
    std::vector<float> r = random_floats((size_t)n * 3, 0, 1, 5);
    std::vector<Trip> trips(n);
    unsigned seed = 6;
    for (int i = 0; i < n; i++)
        trips[i] = {r[3 * i], 0.5f * r[3 * i + 1], 0.5f + r[3 * i + 2], (int)lcg_next(&seed, 4)};
#ifdef AFTER
    std::stable_sort(trips.begin(), trips.end(), [](const Trip &a, const Trip &b) { return a.kind < b.kind; });
#endif
    Trip *d_trips = device_copy_of(trips.data(), n);
    float *d_energy = device_array<float>(n);
    pair_time(&p, [&] { city_day<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_trips, d_energy, n); });
    std::vector<float> energy = host_copy_of(d_energy, n);
    for (int i = 0; i < n; i += 37)
        pair_near(&p, "energy", i, trip_energy(trips[i]), energy[i], 1e-3);
    return pair_end(&p);
}
