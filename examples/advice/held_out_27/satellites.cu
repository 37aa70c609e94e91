// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block moves 2 groups of 1024 satellites, not 8, and there are four times as many blocks.
// Why: only one block fits on a multiprocessor, and 160 blocks for 132 of them take two waves, the second with most of
// the GPU idle; 640 short blocks take nearly five full waves of a quarter of the time.
#include "../common.h"

#ifdef AFTER
#define GROUPS 2
#else
#define GROUPS 8
#endif

#define BLOCK 1024

struct Vector {
    double x, y, z;
};

// Gravity of a flattened planet; unit of length: its radius.
__host__ __device__ inline Vector gravity(const Vector &at, double flat) {
    double square = at.x * at.x + at.y * at.y + at.z * at.z, inverse = 1 / square;
    double pull = -inverse * sqrt(inverse), bulge = 1.5 * flat * inverse, height = 5 * at.z * at.z * inverse;
    return {pull * at.x * (1 + bulge * (1 - height)), pull * at.y * (1 + bulge * (1 - height)),
            pull * at.z * (1 + bulge * (3 - height))};
}

// `steps` steps of the leapfrog method.
__host__ __device__ inline void fly(Vector &at, Vector &speed, double dt, double flat, int steps) {
    for (int k = 0; k < steps; k++) {
        at = {at.x + 0.5 * dt * speed.x, at.y + 0.5 * dt * speed.y, at.z + 0.5 * dt * speed.z};
        Vector g = gravity(at, flat);
        speed = {speed.x + dt * g.x, speed.y + dt * g.y, speed.z + dt * g.z};
        at = {at.x + 0.5 * dt * speed.x, at.y + 0.5 * dt * speed.y, at.z + 0.5 * dt * speed.z};
    }
}

// Starts all satellites on circular orbits; tilt is the sine of the inclination.
__global__ void __launch_bounds__(BLOCK, 1)
    fly_all(const double *orbit, const double *tilt, Vector *places, double dt, double flat, int steps) {
    for (int group = 0; group < GROUPS; group++) {
        size_t i = ((size_t)blockIdx.x * GROUPS + group) * BLOCK + threadIdx.x;
        double radius = orbit[i], lean = tilt[i], pace = rsqrt(radius);
        Vector at = {radius, 0, 0}, speed = {0, pace * sqrt(1 - lean * lean), pace * lean};
        fly(at, speed, dt, flat, steps);
        places[i] = at;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "satellites");
    size_t n = (size_t)8 * BLOCK * (p.small ? 1 : 160);
    int steps = p.small ? 2 : 40;
    double dt = 0.05, flat = 1.08e-3;
    std::vector<float> random = random_floats(2 * n, 0, 1, 3);
    std::vector<double> orbit(n), tilt(n);
    for (size_t i = 0; i < n; i++) {
        orbit[i] = 1.05 + 0.5 * random[2 * i];
        tilt[i] = 0.99 * random[2 * i + 1];
    }
    double *d_orbit = device_copy_of(orbit.data(), n), *d_tilt = device_copy_of(tilt.data(), n);
    Vector *d_places = device_array<Vector>(n);
    int blocks = (int)(n / (BLOCK * GROUPS));
    pair_time(&p, [&] { fly_all<<<blocks, BLOCK>>>(d_orbit, d_tilt, d_places, dt, flat, steps); });
    std::vector<Vector> places = host_copy_of(d_places, n);
    for (size_t i = 0; i < n; i += p.small ? 3 : 119) {
        double pace = 1 / sqrt(orbit[i]);
        Vector at = {orbit[i], 0, 0}, speed = {0, pace * sqrt(1 - tilt[i] * tilt[i]), pace * tilt[i]};
        fly(at, speed, dt, flat, steps);
        pair_near(&p, "x", i, at.x, places[i].x, 1e-9);
        pair_near(&p, "y", i, at.y, places[i].y, 1e-9);
        pair_near(&p, "z", i, at.z, places[i].z, 1e-9);
    }
    return pair_end(&p);
}
