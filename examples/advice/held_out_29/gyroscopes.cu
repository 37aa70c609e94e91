// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: turn() is inlined into the loop over the samples.
// Why: a call costs jumps and saved registers, and passes the attitude through local memory in every time step.
#include "../common.h"

#ifdef AFTER
#define TURN_LINKAGE __forceinline__
#else
#define TURN_LINKAGE __noinline__
#endif

enum { BLOCK = 160 };

struct Attitude {
    float w, x, y, z;
};

// Turns by the rates p, q, r (radians per second) for dt seconds and keeps the length at one.
__host__ __device__ TURN_LINKAGE void turn(Attitude *a, float p, float q, float r, float dt) {
    float h = 0.5f * dt;
    Attitude b = *a;
    a->w -= h * (b.x * p + b.y * q + b.z * r);
    a->x += h * (b.w * p + b.y * r - b.z * q);
    a->y += h * (b.w * q - b.x * r + b.z * p);
    a->z += h * (b.w * r + b.x * q - b.y * p);
    float fix = 1.5f - 0.5f * (a->w * a->w + a->x * a->x + a->y * a->y + a->z * a->z);
    a->w *= fix;
    a->x *= fix;
    a->y *= fix;
    a->z *= fix;
}

// One trial of a Monte Carlo study of drift: the logged rates with this trial's sensor errors.
__host__ __device__ inline Attitude drift(const float3 *log, int samples, float bias, float scale, float dt) {
    Attitude a = {1, 0, 0, 0};
    for (int t = 0; t < samples; t++) {
        float3 rate = log[t];
        turn(&a, rate.x * scale + bias, rate.y * scale - bias, rate.z * scale, dt);
    }
    return a;
}

__global__ void trials(const float3 *log, const float *bias, const float *scale, Attitude *end, int n, int samples) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        end[i] = drift(log, samples, bias[i], scale[i], 0.01f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gyroscopes");
    int n = p.small ? 2000 : 300000, samples = p.small ? 20 : 250;
    std::vector<float> bias = random_floats(n, -0.02f, 0.02f, 1), scale = random_floats(n, 0.97f, 1.03f, 2);
    std::vector<float3> log(samples);
    unsigned seed = 3;
    for (float3 &rate : log)
        rate = {lcg_next(&seed, 4000) * 1e-3f - 1, lcg_next(&seed, 4000) * 1e-3f - 2, lcg_next(&seed, 4000) * 1e-3f};
    float3 *d_log = device_copy_of(log.data(), samples);
    float *d_bias = device_copy_of(bias.data(), n), *d_scale = device_copy_of(scale.data(), n);
    Attitude *d_end = device_array<Attitude>(n);
    pair_time(&p, [&] { trials<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_log, d_bias, d_scale, d_end, n, samples); });
    std::vector<Attitude> end = host_copy_of(d_end, n);
    for (int i = 0; i < n; i += 499) {
        Attitude a = drift(log.data(), samples, bias[i], scale[i], 0.01f);
        pair_near(&p, "w", i, a.w, end[i].w, 1e-3);
        pair_near(&p, "x", i, a.x, end[i].x, 1e-3);
        pair_near(&p, "y", i, a.y, end[i].y, 1e-3);
        pair_near(&p, "z", i, a.z, end[i].z, 1e-3);
    }
    return pair_end(&p);
}
