// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the forces on the arrow are computed by an inlined function.
// Why: a call costs more instructions than the function has, and nothing is reordered across it.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
#define FORCES static __device__ __forceinline__
#else
#define FORCES static __device__ __noinline__
#endif

// Gravity, and drag against the air that moves with the wind.
FORCES float2 acceleration(float2 velocity, float wind, float drag) {
    float along = velocity.x - wind, speed = sqrtf(along * along + velocity.y * velocity.y);
    return {-drag * speed * along, -9.81f - drag * speed * velocity.y};
}

// Flies one arrow for `steps` steps of the midpoint rule, and keeps the height at which it passes the target.
__global__ void arrows(const float2 *shots, const float *winds, float *heights, float distance, float dt, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float wind = winds[i], drag = 0.002f, height = 0, x = 0, y = 1.5f;
    float2 velocity = shots[i];
    for (int s = 0; s < steps; s++) {
        float2 start = acceleration(velocity, wind, drag);
        float2 middle = {velocity.x + 0.5f * dt * start.x, velocity.y + 0.5f * dt * start.y};
        float2 change = acceleration(middle, wind, drag);
        x += dt * middle.x;
        y += dt * middle.y;
        velocity.x += dt * change.x;
        velocity.y += dt * change.y;
        height = x <= distance ? y : height;
    }
    heights[i] = height;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "archery");
    int n = p.small ? 512 : 1 << 18, steps = p.small ? 16 : 200;
    std::vector<float> angles = random_floats(n, 0, 0.2f, 1), winds = random_floats(n, -8, 8, 2);
    std::vector<float2> shots(n);
    for (int i = 0; i < n; i++)
        shots[i] = {60 * cosf(angles[i]), 60 * sinf(angles[i])};
    float2 *d_shots = device_copy_of(shots.data(), n);
    float *d_winds = device_copy_of(winds.data(), n), *d_heights = device_array<float>(n), distance = p.small ? 6 : 70,
          dt = 0.01f;
    pair_time(&p, [&] { arrows<<<n / BLOCK, BLOCK>>>(d_shots, d_winds, d_heights, distance, dt, steps); });
    std::vector<float> heights = host_copy_of(d_heights, n);
    for (int i = 0; i < n; i += 257) {
        double u = shots[i].x, v = shots[i].y, x = 0, y = 1.5, height = 0, step = 0;
        for (int s = 0; s < steps; s++) {
            double speed = sqrt((u - winds[i]) * (u - winds[i]) + v * v);
            double a = u - 0.5 * dt * 0.002 * speed * (u - winds[i]), b = v - 0.5 * dt * (9.81 + 0.002 * speed * v);
            speed = sqrt((a - winds[i]) * (a - winds[i]) + b * b);
            x += dt * a;
            y += dt * b;
            u -= dt * 0.002 * speed * (a - winds[i]);
            v -= dt * (9.81 + 0.002 * speed * b);
            if (x <= distance) {
                step = fabs(dt * b);
                height = y;
            }
        }
        // A rounding may let the arrow pass one step earlier or later.
        pair_near(&p, "height", i, 0, std::max(fabs(height - heights[i]) - 1.05 * step, 0.0), 2e-3);
    }
    return pair_end(&p);
}
