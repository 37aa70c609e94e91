// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function for the forces on a rocket is inlined; it had been kept out of line to compile faster.
// Why: two calls in each time step save registers, pass the structures through local memory and keep nothing in place.
#include "../common.h"

#ifdef AFTER
#define FORCES static __host__ __device__ __forceinline__
#else
#define FORCES static __host__ __device__ __noinline__
#endif

struct Rocket {
    float thrust, burn_time, dry_mass, fuel, drag;
};

struct Flight {
    float height, speed, mass;
};

struct Apex {
    float height, time;
};

// What changes in a second of this flight, at time t.
FORCES void change(const Rocket *rocket, const Flight *now, float t, Flight *rate) {
    bool burning = t < rocket->burn_time;
    float air = 1.2f * expf(now->height * (-1 / 8500.0f));
    float force = (burning ? rocket->thrust : 0) - rocket->drag * air * now->speed * fabsf(now->speed);
    rate->height = now->speed;
    rate->speed = force / now->mass - 9.81f;
    rate->mass = burning ? -rocket->fuel / rocket->burn_time : 0;
}

// Up to where it stops rising, with the midpoint method.
static __host__ __device__ Apex fly(const Rocket &rocket, float dt, int most_steps) {
    Flight now = {0, 0, rocket.dry_mass + rocket.fuel};
    int step = 0;
    while (step < most_steps && now.speed >= 0) {
        Flight rate, half;
        float t = step * dt;
        change(&rocket, &now, t, &rate);
        half.height = now.height + 0.5f * dt * rate.height;
        half.speed = now.speed + 0.5f * dt * rate.speed;
        half.mass = now.mass + 0.5f * dt * rate.mass;
        change(&rocket, &half, t + 0.5f * dt, &rate);
        now.height += dt * rate.height;
        now.speed += dt * rate.speed;
        now.mass += dt * rate.mass;
        step++;
    }
    return {now.height, step * dt};
}

// How high each of many variants of a model rocket flies, and when it gets there.
__global__ void launch_pad(const Rocket *rockets, Apex *apexes, int count, float dt, int most_steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Rocket rocket = rockets[i];
    apexes[i] = fly(rocket, dt, most_steps);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rockets");
    int count = p.small ? 100 : 132 * 1024, most_steps = p.small ? 600 : 3000;
    float dt = p.small ? 0.1f : 0.02f;
    unsigned seed = 3;
    std::vector<Rocket> rockets(count);
    for (Rocket &r : rockets) {
        r.dry_mass = 0.5f + lcg_next(&seed, 1000) * 0.001f;
        r.fuel = r.dry_mass * (0.1f + lcg_next(&seed, 300) * 0.001f);
        r.thrust = (r.dry_mass + r.fuel) * (25 + lcg_next(&seed, 600) * 0.1f);
        r.burn_time = (50 + lcg_next(&seed, 250)) * 0.01f + 0.0025f;  // never at the end of a step or half step
        r.drag = 0.0003f + lcg_next(&seed, 1000) * 0.000001f;
    }
    Rocket *d_rockets = device_copy_of(rockets.data(), count);
    Apex *d_apexes = device_array<Apex>(count);
    pair_time(&p, [&] { launch_pad<<<(count + 127) / 128, 128>>>(d_rockets, d_apexes, count, dt, most_steps); });
    std::vector<Apex> apexes = host_copy_of(d_apexes, count);
    for (int i = 0; i < count; i += p.small ? 1 : 67) {
        Apex apex = fly(rockets[i], dt, most_steps);
        pair_near(&p, "height", i, apex.height, apexes[i].height, 1e-3);
        pair_near(&p, "time", i, apex.time, apexes[i].time, 1.5 * dt);  // may stop one step earlier or later
    }
    return pair_end(&p);
}
