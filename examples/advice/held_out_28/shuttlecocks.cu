// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the apex and the length of the path are kept in registers during the flight and stored once, at its end.
// Why: the two words are otherwise loaded and stored again in every step, as the compiler cannot tell them apart.
#include "../common.h"

enum { BLOCK = 128 };

// Flights with drag. Serve i starts with the speed and the angle given; what is kept is the highest point, the length
// of the path and where it comes down.
__global__ void flights(const float *speed, const float *angle, float *apex, float *path, float *range, int serves,
                        int steps, float dt, float drag) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= serves)
        return;
    float x = 0, y = 1.1f;
    float vx = speed[i] * cosf(angle[i]), vy = speed[i] * sinf(angle[i]);
#ifdef AFTER
    float highest = y, length = 0;
#else
    apex[i] = y;
    path[i] = 0;
#endif
    for (int s = 0; s < steps; s++) {
        float v = sqrtf(vx * vx + vy * vy);
        vx -= dt * drag * v * vx;
        vy -= dt * (9.81f + drag * v * vy);
        x += dt * vx;
        y += dt * vy;
#ifdef AFTER
        highest = fmaxf(highest, y);
        length += dt * v;
#else
        apex[i] = fmaxf(apex[i], y);
        path[i] += dt * v;
#endif
    }
#ifdef AFTER
    apex[i] = highest;
    path[i] = length;
#endif
    range[i] = x;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "shuttlecocks");
    int serves = p.small ? 3000 : 700000, steps = p.small ? 40 : 150;
    const float dt = 0.006f, drag = 0.22f;
    std::vector<float> speed = random_floats(serves, 10, 60, 1), angle = random_floats(serves, 0.1f, 1.2f, 2);
    float *d_speed = device_copy_of(speed.data(), serves), *d_angle = device_copy_of(angle.data(), serves);
    float *d_apex = device_array<float>(serves), *d_path = device_array<float>(serves);
    float *d_range = device_array<float>(serves);
    pair_time(&p, [&] {
        flights<<<(serves + BLOCK - 1) / BLOCK, BLOCK>>>(d_speed, d_angle, d_apex, d_path, d_range, serves, steps, dt,
                                                         drag);
    });
    std::vector<float> apex = host_copy_of(d_apex, serves), path = host_copy_of(d_path, serves);
    std::vector<float> range = host_copy_of(d_range, serves);
    for (int i = 0; i < serves; i += 113) {
        double x = 0, y = 1.1, vx = speed[i] * cos(angle[i]), vy = speed[i] * sin(angle[i]), highest = y, length = 0;
        for (int s = 0; s < steps; s++) {
            double v = sqrt(vx * vx + vy * vy);
            vx -= dt * drag * v * vx;
            vy -= dt * (9.81 + drag * v * vy);
            x += dt * vx, y += dt * vy;
            highest = std::max(highest, y), length += dt * v;
        }
        pair_near(&p, "apex", i, highest, apex[i], 1e-3);
        pair_near(&p, "path", i, length, path[i], 1e-3);
        pair_near(&p, "range", i, x, range[i], 1e-3);
    }
    return pair_end(&p);
}
