// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: blocks of 64 threads instead of 1024, so that there are sixteen times as many of them.
// Why: the throws that are tried make up fewer blocks than the GPU has multiprocessors, and most of those stand idle.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 64 };
#else
enum { BLOCK = 1024 };
#endif

struct Weather {
    float head_wind, gust, air_density;
};

struct Landing {
    float distance, speed;
};

template <typename Real> struct Flight {
    Real x, y, vx, vy;
};

// The change of speed of a ball, with the drag of the air that comes towards it faster higher up.
template <typename Real>
static __host__ __device__ void acceleration(const Flight<Real> &f, Real drag, const Weather &w, Real *ax, Real *ay) {
    Real against = f.vx + w.head_wind + w.gust * f.y;
    Real speed = sqrt(against * against + f.vy * f.vy);
    *ax = -drag * speed * against;
    *ay = -drag * speed * f.vy - (Real)9.81;
}

// Follows a ball, by the midpoint rule, until it is on the ground.
template <typename Real>
static __host__ __device__ void fly(float speed, float angle, float radius, const Weather &w, float step,
                                    Real *distance, Real *end_speed) {
    Real drag = (Real)0.5 * w.air_density * (Real)0.47 / ((Real)(4.0 / 3.0) * 400 * radius);
    Flight<Real> f = {0, (Real)1.5, speed * cos((Real)angle), speed * sin((Real)angle)};
    Real dt = step, ax, ay, last_x = 0, last_y = f.y;
    while (f.y > 0) {
        last_x = f.x;
        last_y = f.y;
        acceleration(f, drag, w, &ax, &ay);
        Flight<Real> half = {f.x + dt / 2 * f.vx, f.y + dt / 2 * f.vy, f.vx + dt / 2 * ax, f.vy + dt / 2 * ay};
        acceleration(half, drag, w, &ax, &ay);
        f.x += dt * half.vx;
        f.y += dt * half.vy;
        f.vx += dt * ax;
        f.vy += dt * ay;
    }
    *distance = last_x + (f.x - last_x) * last_y / (last_y - f.y);
    *end_speed = sqrt(f.vx * f.vx + f.vy * f.vy);
}

__global__ void try_throws(const float *speeds, const float *angles, const float *radii, Landing *landings, int throws,
                           Weather weather, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= throws)
        return;
    Landing landing;
    fly<float>(speeds[i], angles[i], radii[i], weather, step, &landing.distance, &landing.speed);
    landings[i] = landing;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "snowballs");
    int throws = p.small ? 1500 : 32 * 1024;
    float step = p.small ? 0.05f : 0.001f;
    Weather weather = {2.5f, 0.4f, 1.29f};
    std::vector<float> speeds = random_floats(throws, 12, 22, 1), angles = random_floats(throws, 0.2f, 1.1f, 2),
                       radii = random_floats(throws, 0.03f, 0.06f, 3);
    float *d_speeds = device_copy_of(speeds.data(), throws), *d_angles = device_copy_of(angles.data(), throws),
          *d_radii = device_copy_of(radii.data(), throws);
    Landing *d_landings = device_array<Landing>(throws);
    pair_time(&p, [&] {
        int blocks = (throws + BLOCK - 1) / BLOCK;
        try_throws<<<blocks, BLOCK>>>(d_speeds, d_angles, d_radii, d_landings, throws, weather, step);
    });
    std::vector<Landing> landings = host_copy_of(d_landings, throws);
    for (int i = 0; i < throws; i += p.small ? 3 : 61) {
        double distance, speed;
        fly<double>(speeds[i], angles[i], radii[i], weather, step, &distance, &speed);
        pair_near(&p, "distance", i, distance, landings[i].distance, 1e-3);
        pair_near(&p, "speed", i, speed, landings[i].speed, p.small ? 3e-2 : 2e-3);
    }
    return pair_end(&p);
}
