// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the structure of a flight is declared to be aligned to 16 bytes.
// Why: its eight floats then travel in two loads and two stores of 16 bytes instead of in eight of each.
#include "../common.h"

enum { BLOCK = 512 };

#ifdef AFTER
struct __align__(16) Flight {
#else
struct Flight {
#endif
    float x, y, z;     // metres
    float vx, vy, vz;  // metres per second
    float spin;        // radians per second
    float tilt;        // radians from upright
};

struct Wind {
    float x, y;
};

// One step of a thrown boomerang: the wing lifts towards the inner side of its circle, and upwards as it lies down.
static __host__ __device__ inline void fly(Flight &f, Wind wind, float dt) {
    float vx = f.vx - wind.x, vy = f.vy - wind.y, vz = f.vz;
    float speed = sqrtf(vx * vx + vy * vy + vz * vz) + 1e-3f;
    float lift = 0.012f * speed + 0.0008f * f.spin * speed, drag = 0.015f * speed;
    float inward = lift * (1 - 0.5f * f.tilt * f.tilt), upward = lift * f.tilt;
    f.vx += dt * (-inward * vy - drag * vx);
    f.vy += dt * (inward * vx - drag * vy);
    f.vz += dt * (upward * speed - drag * vz - 9.81f);
    f.x += dt * f.vx;
    f.y += dt * f.vy;
    f.z = fmaxf(f.z + dt * f.vz, 0.0f);
    f.spin -= dt * 0.03f * f.spin;
    f.tilt += dt * 0.004f * f.spin;
}

__global__ void advance(const Flight *__restrict__ before, Flight *__restrict__ after, int flights, int steps,
                        Wind wind, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= flights)
        return;
    Flight f = before[i];
    for (int s = 0; s < steps; s++)
        fly(f, wind, dt);
    after[i] = f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "boomerangs");
    int flights = p.small ? 3000 : 4 << 20, steps = 3;
    Wind wind = {1.5f, -0.7f};
    float dt = 0.01f;
    std::vector<Flight> before(flights);
    unsigned seed = 7;
    auto between = [&](float low, float high) { return low + (high - low) * lcg_next(&seed, 4096) / 4096; };
    for (Flight &f : before) {
        f.x = between(-20, 20);
        f.y = between(-20, 20);
        f.z = between(0, 5);
        f.vx = between(-18, 18);
        f.vy = between(-18, 18);
        f.vz = between(-3, 3);
        f.spin = between(40, 70);
        f.tilt = between(0.1f, 0.9f);
    }
    Flight *d_before = device_copy_of(before.data(), flights), *d_after = device_array<Flight>(flights);
    int blocks = (flights + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { advance<<<blocks, BLOCK>>>(d_before, d_after, flights, steps, wind, dt); });
    std::vector<Flight> after = host_copy_of(d_after, flights);
    for (int i = 0; i < flights; i += p.small ? 1 : 61) {
        Flight f = before[i];
        for (int s = 0; s < steps; s++)
            fly(f, wind, dt);
        pair_near(&p, "x", i, f.x, after[i].x, 1e-4);
        pair_near(&p, "y", i, f.y, after[i].y, 1e-4);
        pair_near(&p, "z", i, f.z, after[i].z, 1e-4);
        pair_near(&p, "vx", i, f.vx, after[i].vx, 1e-4);
        pair_near(&p, "vy", i, f.vy, after[i].vy, 1e-4);
        pair_near(&p, "vz", i, f.vz, after[i].vz, 1e-4);
        pair_near(&p, "spin", i, f.spin, after[i].spin, 1e-4);
        pair_near(&p, "tilt", i, f.tilt, after[i].tilt, 1e-4);
    }
    return pair_end(&p);
}
