// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds ask for one block per SM at least instead of eight.
// Why: with 32 registers a thread can't hold its puppet; the joints go to local memory and back in each step.
#include "../common.h"

enum { BLOCK = 256, JOINTS = 12, ROUNDS = 2 };
#ifdef AFTER
enum { RESIDENT = 1 };
#else
enum { RESIDENT = 8 };
#endif

// Puppets that hang from a moving hand: a chain of joints with rods between them (Verlet; rounds restore the rods).
// A thread moves one puppet; the result is where its foot comes to and how far the foot has swung.
__global__ void __launch_bounds__(BLOCK, RESIDENT) dance(const float4 *hands, float4 *feet, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 hand = hands[i];  // x, y: how it moves, z: rhythm (turns per step), w: length of a rod
    float x[JOINTS], y[JOINTS], z[JOINTS], old_x[JOINTS], old_y[JOINTS], old_z[JOINTS];
#pragma unroll
    for (int k = 0; k < JOINTS; k++) {
        x[k] = old_x[k] = 0.05f * k * hand.x;
        y[k] = old_y[k] = 0.05f * k * hand.y;
        z[k] = old_z[k] = -hand.w * k;
    }
    float swung = 0;
    for (int s = 0; s < steps; s++) {
        float foot_x = x[JOINTS - 1], foot_y = y[JOINTS - 1], foot_z = z[JOINTS - 1], turn, lift;
#pragma unroll
        for (int k = 0; k < JOINTS; k++) {
            float vx = 0.95f * (x[k] - old_x[k]), vy = 0.95f * (y[k] - old_y[k]), vz = 0.95f * (z[k] - old_z[k]);
            old_x[k] = x[k];
            old_y[k] = y[k];
            old_z[k] = z[k];
            x[k] += vx;
            y[k] += vy;
            z[k] += vz - 0.001f;
        }
        sincospif(2 * hand.z * s, &turn, &lift);
#pragma unroll
        for (int round = 0; round < ROUNDS; round++) {
            x[0] = hand.x * turn;
            y[0] = hand.y * turn;
            z[0] = 0.1f * lift;
#pragma unroll
            for (int k = 0; k + 1 < JOINTS; k++) {
                float dx = x[k + 1] - x[k], dy = y[k + 1] - y[k], dz = z[k + 1] - z[k];
                float pull = 0.5f - 0.5f * hand.w * rsqrtf(dx * dx + dy * dy + dz * dz);
                x[k] += pull * dx;
                y[k] += pull * dy;
                z[k] += pull * dz;
                x[k + 1] -= pull * dx;
                y[k + 1] -= pull * dy;
                z[k + 1] -= pull * dz;
            }
        }
        foot_x -= x[JOINTS - 1];
        foot_y -= y[JOINTS - 1];
        foot_z -= z[JOINTS - 1];
        swung += sqrtf(foot_x * foot_x + foot_y * foot_y + foot_z * foot_z);
    }
    feet[i] = make_float4(x[JOINTS - 1], y[JOINTS - 1], z[JOINTS - 1], swung);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "marionettes");
    int blocks = p.small ? 1 : 1056, steps = p.small ? 2 : 60, n = blocks * BLOCK;
    std::vector<float> raw = random_floats(4 * (size_t)n, 0, 1, 1);
    std::vector<float4> hands(n);
    for (int i = 0; i < n; i++)
        hands[i] = make_float4(0.3f * raw[4 * i] + 0.05f, 0.3f * raw[4 * i + 1] + 0.05f, 0.01f + 0.02f * raw[4 * i + 2],
                               0.2f + 0.2f * raw[4 * i + 3]);
    float4 *d_hands = device_copy_of(hands.data(), n), *d_feet = device_array<float4>(n);
    pair_time(&p, [&] { dance<<<blocks, BLOCK>>>(d_hands, d_feet, steps); });
    std::vector<float4> feet = host_copy_of(d_feet, n);
    for (int i = 0; i < n; i += p.small ? 1 : 43) {
        const float4 &hand = hands[i];
        double at[JOINTS][3], old[JOINTS][3], swung = 0;
        for (int k = 0; k < JOINTS; k++) {
            at[k][0] = old[k][0] = 0.05 * k * hand.x;
            at[k][1] = old[k][1] = 0.05 * k * hand.y;
            at[k][2] = old[k][2] = -(double)hand.w * k;
        }
        for (int s = 0; s < steps; s++) {
            double foot[3] = {at[JOINTS - 1][0], at[JOINTS - 1][1], at[JOINTS - 1][2]};
            for (int k = 0; k < JOINTS; k++)
                for (int a = 0; a < 3; a++) {
                    double v = 0.95 * (at[k][a] - old[k][a]);
                    old[k][a] = at[k][a];
                    at[k][a] += v - (a == 2 ? 0.001 : 0);
                }
            double angle = 2 * 3.141592653589793 * hand.z * s;
            for (int round = 0; round < ROUNDS; round++) {
                at[0][0] = hand.x * sin(angle);
                at[0][1] = hand.y * sin(angle);
                at[0][2] = 0.1 * cos(angle);
                for (int k = 0; k + 1 < JOINTS; k++) {
                    double d[3], square = 0;
                    for (int a = 0; a < 3; a++) {
                        d[a] = at[k + 1][a] - at[k][a];
                        square += d[a] * d[a];
                    }
                    double pull = 0.5 - 0.5 * hand.w / sqrt(square);
                    for (int a = 0; a < 3; a++) {
                        at[k][a] += pull * d[a];
                        at[k + 1][a] -= pull * d[a];
                    }
                }
            }
            double square = 0;
            for (int a = 0; a < 3; a++)
                square += (foot[a] - at[JOINTS - 1][a]) * (foot[a] - at[JOINTS - 1][a]);
            swung += sqrt(square);
        }
        pair_near(&p, "x", i, at[JOINTS - 1][0], feet[i].x, 2e-3);
        pair_near(&p, "y", i, at[JOINTS - 1][1], feet[i].y, 2e-3);
        pair_near(&p, "z", i, at[JOINTS - 1][2], feet[i].z, 2e-3);
        pair_near(&p, "swung", i, swung, feet[i].w, 2e-3);
    }
    return pair_end(&p);
}
