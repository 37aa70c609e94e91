// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block has one trampoline instead of four.
// Why: 264 blocks run at a time; of 297 equally long ones, 33 are left over for a second wave with little to do.
// Also: block-increase
#include "../common.h"

enum { SIDE = 32, NODES = SIDE * SIDE };
#ifdef AFTER
enum { EACH = 1 };
#else
enum { EACH = 4 };
#endif

struct Jump {
    float x, y, push, stiffness;
};

// A jump on a trampoline: a mat of masses and springs; how deep it goes and how much it still moves after all steps.
__global__ void __launch_bounds__(NODES, 2) bounce(const Jump *jumps, float *depths, float *motions, int steps) {
    __shared__ float mat[2][SIDE + 2][SIDE + 2], low[SIDE], moving[SIDE];
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    for (int i = threadIdx.x; i < 2 * (SIDE + 2) * (SIDE + 2); i += NODES)
        (&mat[0][0][0])[i] = 0;  // the frame stays so
    __syncthreads();
    for (int e = 0; e < EACH; e++) {
        int trampoline = blockIdx.x * EACH + e;
        Jump jump = jumps[trampoline];
        float dx = x - jump.x, dy = y - jump.y;
        float height = 0, speed = 0, deepest = 0, load = jump.push * __expf(-0.15f * (dx * dx + dy * dy));
        mat[0][y + 1][x + 1] = 0;
        __syncthreads();
        for (int s = 0; s < steps; s++) {
            float(*now)[SIDE + 2] = mat[s % 2];
            float around = now[y][x + 1] + now[y + 2][x + 1] + now[y + 1][x] + now[y + 1][x + 2];
            float pull = jump.stiffness * (around - 4.0f * height) * (1.0f + 0.1f * height * height);
            speed += 0.05f * (pull - load - 0.2f * speed);
            load *= 0.98f;
            height += 0.05f * speed;
            deepest = fminf(deepest, height);
            mat[(s + 1) % 2][y + 1][x + 1] = height;
            __syncthreads();
        }
        float motion = speed * speed;
        for (int gap = 16; gap; gap >>= 1) {
            deepest = fminf(deepest, __shfl_xor_sync(~0u, deepest, gap));
            motion += __shfl_xor_sync(~0u, motion, gap);
        }
        if (x == 0) {
            low[y] = deepest;
            moving[y] = motion;
        }
        __syncthreads();
        if (y == 0) {
            deepest = low[x];
            motion = moving[x];
            for (int gap = 16; gap; gap >>= 1) {
                deepest = fminf(deepest, __shfl_xor_sync(~0u, deepest, gap));
                motion += __shfl_xor_sync(~0u, motion, gap);
            }
            if (x == 0) {
                depths[trampoline] = deepest;
                motions[trampoline] = motion;
            }
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trampolines");
    int n = p.small ? 4 : 297 * 4, steps = p.small ? 1 : 100;
    std::vector<float> x = random_floats(n, 8, 24, 1), y = random_floats(n, 8, 24, 2),
                       push = random_floats(n, 0.5f, 2, 3), stiffness = random_floats(n, 2, 6, 4);
    std::vector<Jump> jumps(n);
    for (int i = 0; i < n; i++)
        jumps[i] = {x[i], y[i], push[i], stiffness[i]};
    Jump *d_jumps = device_copy_of(jumps.data(), n);
    float *d_depths = device_array<float>(n), *d_motions = device_array<float>(n);
    pair_time(&p, [&] { bounce<<<n / EACH, NODES>>>(d_jumps, d_depths, d_motions, steps); });
    std::vector<float> depths = host_copy_of(d_depths, n), motions = host_copy_of(d_motions, n);
    for (int t = 0; t < n; t += p.small ? 1 : 27) {
        std::vector<double> now((SIDE + 2) * (SIDE + 2), 0.0), next(now), speed(now), load(now);
        double deepest = 0, motion = 0;
        for (int s = 0; s < steps; s++) {
            for (int j = 0; j < SIDE; j++)
                for (int i = 0; i < SIDE; i++) {
                    int at = (j + 1) * (SIDE + 2) + i + 1;
                    if (s == 0)
                        load[at] = push[t] * exp(-0.15 * ((i - x[t]) * (i - x[t]) + (j - y[t]) * (j - y[t])));
                    double around = now[at - SIDE - 2] + now[at + SIDE + 2] + now[at - 1] + now[at + 1],
                           pull = stiffness[t] * (around - 4 * now[at]) * (1 + 0.1 * now[at] * now[at]);
                    speed[at] += 0.05 * (pull - load[at] - 0.2 * speed[at]);
                    load[at] *= 0.98;
                    next[at] = now[at] + 0.05 * speed[at];
                    deepest = std::min(deepest, next[at]);
                }
            std::swap(now, next);
        }
        for (double v : speed)
            motion += v * v;
        pair_near(&p, "depth", t, deepest, depths[t], 1e-4);
        pair_near(&p, "motion", t, motion, motions[t], 1e-3);
    }
    return pair_end(&p);
}
