// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants are float.
// Why: constants without an f make each product a double one, and the values go to double and back again and again.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define C(number) number##f
#else
#define C(number) number
#endif

// Swings of a playground, each with its rope and its child: how high they get and what pulls at the hooks; one thread
// per swing.
__global__ void swing(const float *ropes, const float *pushes, const float *masses, float2 *extremes, float2 *ends,
                      int n, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float rope = ropes[i], push = pushes[i], mass = masses[i], frequency = sqrtf(C(9.81) / rope);
    float angle = 0.3f, speed = 0, phase = 0, highest = 0, pull = 0;
    for (int s = 0; s < steps; s++) {
        float force = -C(9.81) / rope * sinf(angle) - C(0.05) * speed * fabsf(speed) + push * cosf(phase);
        float later = speed + C(0.02) * force;
        angle += C(0.01) * (speed + later);
        speed = C(0.999) * later;
        phase += C(0.02) * frequency;
        highest = fmaxf(highest, fabsf(angle));
        float tension = mass * (C(9.81) * (C(1.0) - C(0.5) * angle * angle) + rope * speed * speed);
        pull = fmaxf(pull, C(0.5) * tension);
    }
    extremes[i] = make_float2(highest, pull);
    ends[i] = make_float2(angle, speed);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "swings");
    int n = p.small ? 256 : 132 * 1024, steps = p.small ? 12 : 200;
    std::vector<float> ropes = random_floats(n, 1.5f, 4, 1), pushes = random_floats(n, 0.1f, 0.5f, 2),
                       masses = random_floats(n, 12, 50, 3);
    float *d_ropes = device_copy_of(ropes.data(), n), *d_pushes = device_copy_of(pushes.data(), n),
          *d_masses = device_copy_of(masses.data(), n);
    float2 *d_extremes = device_array<float2>(n), *d_ends = device_array<float2>(n);
    pair_time(&p, [&] {
        swing<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_ropes, d_pushes, d_masses, d_extremes, d_ends, n, steps);
    });
    std::vector<float2> extremes = host_copy_of(d_extremes, n), ends = host_copy_of(d_ends, n);
    for (int i = 0; i < n; i += p.small ? 1 : 47) {
        double rope = ropes[i], frequency = sqrt(9.81 / rope), angle = 0.3, speed = 0, phase = 0, highest = 0,
               pull = 0;
        for (int s = 0; s < steps; s++) {
            double force = -9.81 / rope * sin(angle) - 0.05 * speed * fabs(speed) + pushes[i] * cos(phase);
            double later = speed + 0.02 * force;
            angle += 0.01 * (speed + later);
            speed = 0.999 * later;
            phase += 0.02 * frequency;
            highest = std::max(highest, fabs(angle));
            double tension = masses[i] * (9.81 * (1 - 0.5 * angle * angle) + rope * speed * speed);
            pull = std::max(pull, 0.5 * tension);
        }
        pair_near(&p, "highest", i, highest, extremes[i].x, 1e-3);
        pair_near(&p, "pull", i, pull, extremes[i].y, 1e-3);
        pair_near(&p, "angle", i, angle, ends[i].x, 1e-3);
        pair_near(&p, "speed", i, speed, ends[i].y, 1e-3);
    }
    return pair_end(&p);
}
