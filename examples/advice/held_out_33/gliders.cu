// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: blocks of 128 threads instead of 1024, and so 250 blocks instead of 32.
// Why: 32 blocks use 32 of the 132 SMs, and each of those is busy issuing for 32 warps.
#include "../common.h"

enum { THERMALS = 3 };

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif

struct Thermal {
    float centre, strength, narrowness;  // m, m/s, 1/m2
};

struct Air {
    Thermal thermals[THERMALS];
    float density, sink;  // kg/m3, m/s between the thermals
};

struct Flight {
    float x, z, vx, vz;
};

static __device__ float updraught(const Air &air, float x) {
    float w = -air.sink;
#pragma unroll
    for (int i = 0; i < THERMALS; i++) {
        float d = x - air.thermals[i].centre;
        w += air.thermals[i].strength * expf(-d * d * air.thermals[i].narrowness);
    }
    return w;
}

// Derivatives of a flight: a point mass with the lift and the drag of a polar, in moving air.
static __device__ Flight derivative(const Air &air, const Flight &f, float lift, float drag) {
    float u = f.vx, w = f.vz - updraught(air, f.x), speed = sqrtf(u * u + w * w);
    return {f.vx, f.vz, -speed * (drag * u + lift * w), speed * (lift * u - drag * w) - 9.81f};
}

static __device__ Flight moved(const Flight &f, const Flight &d, float h) {
    return {f.x + h * d.x, f.z + h * d.z, f.vx + h * d.vx, f.vz + h * d.vz};
}

// Every thread flies one glider, with its own wing loading and lift coefficient, by Runge-Kutta of order 4.
__global__ void __launch_bounds__(BLOCK)
    gliders(const float *__restrict__ loading, const float *__restrict__ lift_coefficient, Flight *__restrict__ landed,
            Air air, float dt, int count, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float cl = lift_coefficient[i], cd = 0.012f + 0.018f * cl * cl, scale = 0.5f * air.density / loading[i];
    float lift = scale * cl, drag = scale * cd;
    Flight f = {0, 600, 28, -0.8f};
    for (int s = 0; s < steps; s++) {
        Flight k1 = derivative(air, f, lift, drag), k2 = derivative(air, moved(f, k1, 0.5f * dt), lift, drag),
               k3 = derivative(air, moved(f, k2, 0.5f * dt), lift, drag),
               k4 = derivative(air, moved(f, k3, dt), lift, drag);
        f = moved(moved(moved(moved(f, k1, dt / 6), k2, dt / 3), k3, dt / 3), k4, dt / 6);
    }
    landed[i] = f;
}

static void derivative_of(const Air &air, const double *f, double lift, double drag, double *d) {
    double w = f[3] + air.sink;
    for (const Thermal &t : air.thermals)
        w -= t.strength * exp(-(f[0] - t.centre) * (f[0] - t.centre) * t.narrowness);
    double speed = sqrt(f[2] * f[2] + w * w);
    d[0] = f[2];
    d[1] = f[3];
    d[2] = -speed * (drag * f[2] + lift * w);
    d[3] = speed * (lift * f[2] - drag * w) - 9.81;
}

static void fly(const Air &air, double loading, double cl, double dt, int steps, double *f) {
    double scale = 0.5 * air.density / loading, lift = scale * cl, drag = scale * (0.012 + 0.018 * cl * cl);
    const double after[4] = {0, 0.5 * dt, 0.5 * dt, dt}, weight[4] = {dt / 6, dt / 3, dt / 3, dt / 6};
    for (int s = 0; s < steps; s++) {
        double d[4] = {0, 0, 0, 0}, sum[4] = {f[0], f[1], f[2], f[3]}, at[4];
        for (int k = 0; k < 4; k++) {
            for (int j = 0; j < 4; j++)
                at[j] = f[j] + after[k] * d[j];
            derivative_of(air, at, lift, drag, d);
            for (int j = 0; j < 4; j++)
                sum[j] += weight[k] * d[j];
        }
        std::copy(sum, sum + 4, f);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gliders");
    int count = 32000, steps = p.small ? 8 : 300;
    float dt = 0.1f;
    Air air = {{{200, 2.5f, 1e-4f}, {450, 4.0f, 6e-5f}, {800, 3.0f, 8e-5f}}, 1.15f, 0.5f};
    std::vector<float> loading = random_floats(count, 28, 50, 1), lift = random_floats(count, 0.5f, 1.1f, 2);
    float *d_loading = device_copy_of(loading.data(), count), *d_lift = device_copy_of(lift.data(), count);
    Flight *d_landed = device_array<Flight>(count);
    int grid = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { gliders<<<grid, BLOCK>>>(d_loading, d_lift, d_landed, air, dt, count, steps); });
    std::vector<Flight> landed = host_copy_of(d_landed, count);
    for (int i = 0; i < count; i += 307) {
        double f[4] = {0, 600, 28, -0.8f};
        fly(air, loading[i], lift[i], dt, steps, f);
        pair_near(&p, "distance", i, f[0], landed[i].x, 1e-3);
        pair_near(&p, "height", i, f[1], landed[i].z, 1e-3);
        pair_near(&p, "speed", i, f[2], landed[i].vx, 1e-2);
    }
    return pair_end(&p);
}
