// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: blocks of 128 threads, not of 1024.
// Why: one block of 1024 fits on an SM; 150 of them on 132 SMs take two rounds, and in the second one 18 SMs work while
// all others wait. The small blocks of the last round are spread over all SMs.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif

enum { STONES = 8 };

// For the siege of a game: where each of eight stones, from heavy to light, is ten seconds after the shot from the
// hill, and how high it came. A thread takes one setting of the machine, all eight stones side by side.
__global__ void __launch_bounds__(BLOCK) shoot(const float *angle, const float *speed, const float *wind, float *reach,
                                               float *apex, int shots, int steps, float dt) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= shots)
        return;
    float x[STONES], y[STONES], u[STONES], v[STONES], top[STONES], blow = wind[i];
    float ahead = speed[i] * cosf(angle[i]), up = speed[i] * sinf(angle[i]);
#pragma unroll
    for (int s = 0; s < STONES; s++) {
        x[s] = y[s] = top[s] = 0;
        u[s] = ahead;
        v[s] = up;
    }
    for (int t = 0; t < steps; t++) {
#pragma unroll
        for (int s = 0; s < STONES; s++) {
            float across = u[s] - blow * (1 + 0.002f * y[s]);
            float square = across * across + v[s] * v[s] + 1e-6f;
            float slow = (0.001f + 0.0005f * s) * dt * square * rsqrtf(square);
            u[s] -= slow * across;
            v[s] -= slow * v[s] + 9.81f * dt;
            x[s] += u[s] * dt;
            y[s] += v[s] * dt;
            top[s] = fmaxf(top[s], y[s]);
        }
    }
#pragma unroll
    for (int s = 0; s < STONES; s++) {
        reach[s * shots + i] = x[s];
        apex[s * shots + i] = top[s];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trebuchets");
    int shots = 1024 * (p.small ? 5 : 150), steps = p.small ? 20 : 200;
    float dt = 10.0f / steps;
    size_t n = (size_t)shots * STONES;
    std::vector<float> angle = random_floats(shots, 0.3f, 1.2f, 1), speed = random_floats(shots, 30, 60, 2),
                       wind = random_floats(shots, -8, 8, 3);
    float *d_angle = device_copy_of(angle.data(), shots), *d_speed = device_copy_of(speed.data(), shots),
          *d_wind = device_copy_of(wind.data(), shots), *d_reach = device_array<float>(n),
          *d_apex = device_array<float>(n);
    pair_time(&p, [&] {
        shoot<<<(shots + BLOCK - 1) / BLOCK, BLOCK>>>(d_angle, d_speed, d_wind, d_reach, d_apex, shots, steps, dt);
    });
    std::vector<float> reach = host_copy_of(d_reach, n), apex = host_copy_of(d_apex, n);
    for (int i = 0; i < shots; i += p.small ? 1 : 67) {
        for (int s = 0; s < STONES; s++) {
            double x = 0, y = 0, u = speed[i] * cos(angle[i]), v = speed[i] * sin(angle[i]), top = 0;
            for (int t = 0; t < steps; t++) {
                double across = u - wind[i] * (1 + 0.002 * y);
                double slow = (0.001 + 0.0005 * s) * dt * sqrt(across * across + v * v + 1e-6);
                u -= slow * across;
                v -= slow * v + 9.81 * dt;
                x += u * dt;
                y += v * dt;
                top = std::max(top, y);
            }
            pair_near(&p, "reach", (size_t)s * shots + i, x, reach[(size_t)s * shots + i], 1e-3);
            pair_near(&p, "apex", (size_t)s * shots + i, top, apex[(size_t)s * shots + i], 1e-3);
        }
    }
    return pair_end(&p);
}
