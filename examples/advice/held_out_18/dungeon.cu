// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the monsters are moved in the order of their kinds, so that the lanes of a warp do the same.
// Why: the kinds stand mixed in the list; each warp walks through the code of all four.
#include "../common.h"

enum { BLOCK = 256, WANDERER, HUNTER, SLIME, BAT };

struct Hero {
    float x, y, vx, vy;
};

// One frame of all monsters of a dungeon server; a monster has a place and two numbers that depend on its kind.
__global__ void move(const int *order, const int *kinds, const float4 *monsters, float4 *moved, Hero hero, int count) {
    int turn = blockIdx.x * BLOCK + threadIdx.x;
    if (turn >= count)
        return;
    int who = order[turn];
    float4 m = monsters[who];
    switch (kinds[who]) {
    case WANDERER:  // z: heading in half turns, w: how drunk
        for (int step = 0; step < 32; step++) {
            float s, c;
            sincospif(m.z, &s, &c);
            m.x += 0.02f * c;
            m.y += 0.02f * s;
            m.z += 0.1f * m.w * (c - s);
        }
        break;
    case HUNTER:  // z: speed, w: patience
        for (int step = 0; step < 40; step++) {
            float dx = hero.x + step * hero.vx - m.x, dy = hero.y + step * hero.vy - m.y;
            float far = rsqrtf(dx * dx + dy * dy + 0.5f);
            float stride = m.z * m.w / (m.w + 0.1f * step);
            m.x += stride * dx * far;
            m.y += stride * dy * far;
        }
        break;
    case SLIME:  // z: height, w: speed upwards
        for (int step = 0; step < 80; step++) {
            float springy = 300 * fmaxf(-m.z, 0.0f);
            m.w += 0.004f * (springy - 9.8f - 0.3f * m.w);
            m.z += 0.004f * m.w;
            float slide = 0.001f * sqrtf(1 + m.w * m.w);
            m.x += slide;
            m.y -= 0.5f * slide;
        }
        break;
    default:  // BAT: z: phase, w: size
        float up = 0, side = 0, size = m.w;
        for (int wave = 1; wave <= 32; wave++) {
            up += size * cospif(wave * m.z);
            side += size * sinpif(wave * m.z + 0.25f);
            size *= 0.9f;
        }
        m.x += 0.1f * side;
        m.y += 0.1f * up;
        m.z += 0.01f;
    }
    moved[who] = m;
}

static void move_on_host(int kind, const float4 &from, const Hero &hero, double to[4]) {
    const double pi = 3.141592653589793;
    double x = from.x, y = from.y, z = from.z, w = from.w;
    if (kind == WANDERER) {
        for (int step = 0; step < 32; step++) {
            double s = sin(pi * z), c = cos(pi * z);
            x += 0.02 * c;
            y += 0.02 * s;
            z += 0.1 * w * (c - s);
        }
    } else if (kind == HUNTER) {
        for (int step = 0; step < 40; step++) {
            double dx = hero.x + step * hero.vx - x, dy = hero.y + step * hero.vy - y;
            double far = sqrt(dx * dx + dy * dy + 0.5), stride = z * w / (w + 0.1 * step);
            x += stride * dx / far;
            y += stride * dy / far;
        }
    } else if (kind == SLIME) {
        for (int step = 0; step < 80; step++) {
            w += 0.004 * (300 * std::max(-z, 0.0) - 9.8 - 0.3 * w);
            z += 0.004 * w;
            double slide = 0.001 * sqrt(1 + w * w);
            x += slide;
            y -= 0.5 * slide;
        }
    } else {
        double up = 0, side = 0, size = w;
        for (int wave = 1; wave <= 32; wave++) {
            up += size * cos(pi * wave * z);
            side += size * sin(pi * (wave * z + 0.25));
            size *= 0.9;
        }
        x += 0.1 * side;
        y += 0.1 * up;
        z += 0.01;
    }
    to[0] = x;
    to[1] = y;
    to[2] = z;
    to[3] = w;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dungeon");
    int n = p.small ? 256 : 1 << 20;
    Hero hero = {5, 5, 0.03f, -0.02f};
    std::vector<float> raw = random_floats((size_t)n * 4, 0, 1, 1);
    std::vector<float4> monsters(n);
    std::vector<int> kinds(n), order(n);
    unsigned seed = 2;
    for (int i = 0; i < n; i++) {
        monsters[i] = make_float4(10 * raw[4 * i], 10 * raw[4 * i + 1], raw[4 * i + 2], 0.2f + raw[4 * i + 3]);
        kinds[i] = WANDERER + (int)lcg_next(&seed, 4);
        order[i] = i;
    }
#ifdef AFTER
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return kinds[a] < kinds[b]; });
#endif
    int *d_order = device_copy_of(order.data(), n), *d_kinds = device_copy_of(kinds.data(), n);
    float4 *d_monsters = device_copy_of(monsters.data(), n), *d_moved = device_array<float4>(n);
    pair_time(&p, [&] {
        move<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_order, d_kinds, d_monsters, d_moved, hero, n);
    });
    std::vector<float4> moved = host_copy_of(d_moved, n);
    for (int i = 0; i < n; i += p.small ? 1 : 23) {
        double to[4];
        move_on_host(kinds[i], monsters[i], hero, to);
        pair_near(&p, "x", i, to[0], moved[i].x, 1e-3);
        pair_near(&p, "y", i, to[1], moved[i].y, 1e-3);
        pair_near(&p, "z", i, to[2], moved[i].z, 1e-3);
        pair_near(&p, "w", i, to[3], moved[i].w, 1e-3);
    }
    return pair_end(&p);
}
