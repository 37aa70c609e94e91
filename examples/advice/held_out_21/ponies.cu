// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the 32 threads of a warp compute the same gait of 32 ponies, not four gaits of eight.
// Why: each gait has a loop of its own, and a warp with all four goes through all four loops.
#include "../common.h"

enum { BLOCK = 256, GAITS = 4 };
enum { WALK, TROT, CANTER, GALLOP };

// What a pony spends on a ride in each gait, and its highest step; one thread per pony and gait. The roughness of the
// way is given metre by metre.
__global__ void rides(const float *legs, const float *weights, const float *way, float *spent, float *highest, int n,
                      int metres) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int pony = t / (32 * GAITS) * 32 + t % 32, gait = t / 32 % GAITS;
#else
    int pony = t / GAITS, gait = t % GAITS;
#endif
    if (pony >= n)
        return;
    float leg = legs[pony], weight = weights[pony], energy = 0, high = 0, phase = 0;
    if (gait == WALK) {
        for (int m = 0; m < metres; m++) {
            float step = leg * (0.3f + 0.1f * way[m]);
            energy += weight * step * 0.05f;
            high = fmaxf(high, step);
        }
    } else if (gait == TROT) {
        for (int m = 0; m < metres; m++) {
            phase += __fdividef(1.9f, leg);
            float bounce = fabsf(__sinf(phase)) * 0.12f + 0.02f * way[m];
            energy += weight * (0.03f + bounce * bounce);
            high = fmaxf(high, bounce);
        }
    } else if (gait == CANTER) {
        for (int m = 0; m < metres; m++) {
            float reach = sqrtf(leg * leg + way[m]);
            phase = phase * 0.9f + 0.1f * reach;
            energy += weight * 0.04f * phase + 0.3f * reach;
            high = fmaxf(high, reach - phase);
        }
    } else {
        float speed = 8;
        for (int m = 0; m < metres; m++) {
            float push = 2.0f - 0.2f * speed - 0.5f * way[m];
            speed = fmaxf(3.0f, speed + __fdividef(push, speed));
            energy += weight * 0.001f * speed * speed;
            high = fmaxf(high, 0.05f * speed * leg);
        }
    }
    spent[gait * n + pony] = energy;
    highest[gait * n + pony] = high;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ponies");
    int n = p.small ? 512 : 132 * 1024, metres = p.small ? 24 : 200;
    std::vector<float> legs = random_floats(n, 0.6f, 1.1f, 1), weights = random_floats(n, 1.5f, 3, 2),
                       way = random_floats(metres, 0, 1, 3);
    float *d_legs = device_copy_of(legs.data(), n), *d_weights = device_copy_of(weights.data(), n),
          *d_way = device_copy_of(way.data(), metres), *d_spent = device_array<float>((size_t)n * GAITS),
          *d_highest = device_array<float>((size_t)n * GAITS);
    pair_time(&p,
              [&] { rides<<<n * GAITS / BLOCK, BLOCK>>>(d_legs, d_weights, d_way, d_spent, d_highest, n, metres); });
    std::vector<float> spent = host_copy_of(d_spent, (size_t)n * GAITS),
                       highest = host_copy_of(d_highest, (size_t)n * GAITS);
    for (int i = 0; i < n; i += p.small ? 1 : 67)
        for (int gait = 0; gait < GAITS; gait++) {
            double leg = legs[i], weight = weights[i], energy = 0, high = 0, phase = 0, speed = 8, now = 0;
            for (int m = 0; m < metres; m++) {
                if (gait == WALK) {
                    now = leg * (0.3 + 0.1 * way[m]);
                    energy += weight * now * 0.05;
                } else if (gait == TROT) {
                    phase += 1.9 / leg;
                    now = fabs(sin(phase)) * 0.12 + 0.02 * way[m];
                    energy += weight * (0.03 + now * now);
                } else if (gait == CANTER) {
                    double reach = sqrt(leg * leg + way[m]);
                    phase = phase * 0.9 + 0.1 * reach;
                    energy += weight * 0.04 * phase + 0.3 * reach;
                    now = reach - phase;
                } else {
                    speed = std::max(3.0, speed + (2 - 0.2 * speed - 0.5 * way[m]) / speed);
                    energy += weight * 0.001 * speed * speed;
                    now = 0.05 * speed * leg;
                }
                high = std::max(high, now);
            }
            pair_near(&p, "spent", (size_t)gait * n + i, energy, spent[(size_t)gait * n + i], 2e-3);
            pair_near(&p, "highest", (size_t)gait * n + i, high, highest[(size_t)gait * n + i], 2e-3);
        }
    return pair_end(&p);
}
