// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a locust's place, heading and energy are local variables while it hops, and are stored once at the end.
// Why: every store to one of the four arrays might change the others, so the compiler loads and stores all four of them
// at every hop.
#include "../common.h"

enum { BLOCK = 256, HEADINGS = 64, ONE = 256, SIDE = 1024 };  // places are in 1/ONE of a cell of a field of SIDE cells

__host__ __device__ inline unsigned dice(unsigned locust, unsigned step) {
    unsigned h = locust * 0x9e3779b9u + step * 0x85ebca6bu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}

// A swarm of locusts over a field (a torus), one locust to a thread. Where there is much to eat they stay and gain
// energy; where there is little they hop on in a heading that wanders; a locust without energy dies. `hop` is the way
// of one hop in each heading.
__global__ void locusts(const int *start_x, const int *start_y, const unsigned char *green, const int2 *hop, int2 wind,
                        int steps, int *x, int *y, int *heading, int *energy, int count) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
#ifdef AFTER
    int my_x, my_y, my_heading, my_energy;
#define X my_x
#define Y my_y
#define HEADING my_heading
#define ENERGY my_energy
#else
#define X x[i]
#define Y y[i]
#define HEADING heading[i]
#define ENERGY energy[i]
#endif
    X = start_x[i];
    Y = start_y[i];
    HEADING = i % HEADINGS;
    ENERGY = 400;
    for (int step = 0; step < steps; step++) {
        const int food = green[Y / ONE * SIDE + X / ONE];
        const unsigned thrown = dice(i, step);
        ENERGY += food / 8 - 14;
        if (ENERGY <= 0)
            break;
        if (food < (int)(thrown >> 24)) {
            HEADING = (HEADING + thrown % 9 + HEADINGS - 4) % HEADINGS;
            const int2 way = hop[HEADING];
            ENERGY -= 3;
            // Well fed locusts fly and are carried by the wind, the others walk.
            const int flies = ENERGY > 300;
            X = (X + way.x + flies * (way.x + wind.x)) & (SIDE * ONE - 1);
            Y = (Y + way.y + flies * (way.y + wind.y)) & (SIDE * ONE - 1);
        }
    }
#ifdef AFTER
    x[i] = my_x;
    y[i] = my_y;
    heading[i] = my_heading;
    energy[i] = my_energy;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "locusts");
    const int count = p.small ? 1500 : 1200000, steps = p.small ? 10 : 96, bands = p.small ? 3 : 600;
    const int2 wind = {170, -60};

    // Fields of different crops with gaps in them.
    std::vector<unsigned char> green(SIDE * SIDE);
    unsigned seed = 40;
    for (int c = 0; c < SIDE * SIDE; c++) {
        const int field = c / SIDE / 50 * 21 + c % SIDE / 40;
        const int level = dice(field, 7) % 230, noise = lcg_next(&seed, 50);
        green[c] = std::max(0, std::min(255, level + noise - 25));
    }
    // Locusts come in bands.
    std::vector<int> start_x(count), start_y(count);
    for (int i = 0; i < count; i++) {
        const int band = (int)((long long)i * bands / count);
        start_x[i] = (dice(band, 1) + lcg_next(&seed, 20 * ONE)) % (SIDE * ONE);
        start_y[i] = (dice(band, 2) + lcg_next(&seed, 20 * ONE)) % (SIDE * ONE);
    }
    std::vector<int2> ways(HEADINGS);
    for (int h = 0; h < HEADINGS; h++)
        ways[h] = make_int2((int)lrint(190 * cos(h * 6.283185307 / HEADINGS)),
                            (int)lrint(190 * sin(h * 6.283185307 / HEADINGS)));

    int2 *d_hop = device_copy_of(ways.data(), HEADINGS);
    unsigned char *d_green = device_copy_of(green.data(), green.size());
    int *d_start_x = device_copy_of(start_x.data(), count), *d_start_y = device_copy_of(start_y.data(), count);
    int *d_x = device_array<int>(count), *d_y = device_array<int>(count);
    int *d_heading = device_array<int>(count), *d_energy = device_array<int>(count);
    pair_time(&p, [&] {
        locusts<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_start_x, d_start_y, d_green, d_hop, wind, steps, d_x, d_y,
                                                        d_heading, d_energy, count);
    });

    std::vector<int> x = host_copy_of(d_x, count), y = host_copy_of(d_y, count);
    std::vector<int> heading = host_copy_of(d_heading, count), energy = host_copy_of(d_energy, count);
    for (int i = 0; i < count; i += p.small ? 3 : 401) {
        int at[2] = {start_x[i], start_y[i]}, h = i % HEADINGS, e = 400;
        for (int step = 0; step < steps; step++) {
            const int food = green[(at[1] >> 8 << 10) + (at[0] >> 8)];
            const unsigned thrown = dice(i, step);
            e += food / 8 - 14;
            if (e <= 0)
                break;
            if (food >= (int)(thrown >> 24))
                continue;
            h = (h + (int)(thrown % 9) - 4 + HEADINGS) % HEADINGS;
            e -= 3;
            const int move[2] = {e > 300 ? 2 * ways[h].x + wind.x : ways[h].x,
                                 e > 300 ? 2 * ways[h].y + wind.y : ways[h].y};
            for (int axis = 0; axis < 2; axis++)
                at[axis] = (at[axis] + move[axis] + SIDE * ONE) % (SIDE * ONE);
        }
        pair_near(&p, "x", i, at[0], x[i], 0);
        pair_near(&p, "y", i, at[1], y[i], 0);
        pair_near(&p, "heading", i, h, heading[i], 0);
        pair_near(&p, "energy", i, e, energy[i], 0);
    }
    return pair_end(&p);
}
