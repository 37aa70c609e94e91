// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next hour's temperature and door openings are loaded ahead of the current hour's steps, not after them.
// Why: each hour waits for its loads and then does a chain of dependent steps; the store between them keeps the
// compiler from moving the loads, and too few warps are there to hide them.
#include "../common.h"

enum { BLOCK = 128, STEPS = 4 };

// A quarter of an hour in the fridge: warmth leaks in, the motor works the harder the warmer it is.
__host__ __device__ inline float quarter(float inside, float room, float *used) {
    float effort = 1 / (1 + expf(4 - inside));
    *used += effort;
    return inside + 0.05f * (room - inside) - 1.4f * effort;
}

// What the fridges of a town draw in each hour; room, opened and drawn are stored hour by hour.
__global__ void cool(const float *room, const unsigned char *opened, float *drawn, float *final_inside, int fridges,
                     int hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= fridges)
        return;
    float inside = 5;
#ifdef AFTER
    float next_warmth = room[i];
    int next_doors = opened[i];
#endif
    for (int h = 0; h < hours; h++) {
        size_t at = (size_t)h * fridges + i;
#ifdef AFTER
        float warmth = next_warmth;
        int doors = next_doors;
        if (h + 1 < hours) {
            next_warmth = room[at + fridges];
            next_doors = opened[at + fridges];
        }
#else
        float warmth = room[at];
        int doors = opened[at];
#endif
        inside += 0.02f * doors * (warmth - inside);
        float used = 0;
        for (int s = 0; s < STEPS; s++)
            inside = quarter(inside, warmth, &used);
        drawn[at] = used * (1.0f / STEPS);
    }
    final_inside[i] = inside;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fridges");
    int fridges = p.small ? 3000 : 132 * 256, hours = p.small ? 12 : 24 * 35;
    size_t n = (size_t)fridges * hours;
    std::vector<float> room = random_floats(n, 12, 28, 1);
    std::vector<unsigned char> opened(n);
    lcg_fill(opened.data(), n, 2, 6);
    float *d_room = device_copy_of(room.data(), n), *d_drawn = device_array<float>(n),
          *d_inside = device_array<float>(fridges);
    unsigned char *d_opened = device_copy_of(opened.data(), n);
    int blocks = (fridges + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { cool<<<blocks, BLOCK>>>(d_room, d_opened, d_drawn, d_inside, fridges, hours); });
    std::vector<float> drawn = host_copy_of(d_drawn, n), final_inside = host_copy_of(d_inside, fridges);
    for (int i = 0; i < fridges; i += p.small ? 1 : 41) {
        float inside = 5;
        for (int h = 0; h < hours; h++) {
            size_t at = (size_t)h * fridges + i;
            inside += 0.02f * opened[at] * (room[at] - inside);
            float used = 0;
            for (int s = 0; s < STEPS; s++)
                inside = quarter(inside, room[at], &used);
            pair_near(&p, "drawn", at, used / STEPS, drawn[at], 1e-4);
        }
        pair_near(&p, "inside", i, inside, final_inside[i], 1e-4);
    }
    return pair_end(&p);
}
