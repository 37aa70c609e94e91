// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: what the sorter knows of the grain under a nozzle is updated with selects instead of nested branches.
// Why: grains begin and end in different lines under the nozzles of a warp, so all sides of every branch are taken in
//      nearly every line; they are a few instructions each, which cost less than going around them.
#include "../common.h"

enum { BLOCK = 128 };

// How the machine is set for a kind of seed: brightness 0 to 255 of both cameras.
struct Recipe {
    int belt, rot, stone;       // darker than the belt: nothing there; rot is dark, stones shine in the infrared
    int shortest, longest;      // a seed, in lines
    int dullest, most_rot;      // mean brightness of a good seed; sixteenths of it that may be rotten
    int delay, pulse;           // lines from camera to nozzle, lines that the valve stays open
};

// What is under one nozzle, and what has been.
struct Grain {
    int length, light, dark, stones;
    int good, bad, dust, fire_until;
};

__host__ __device__ inline void see(Grain &g, const Recipe &r, int line, int seen, int infrared) {
#ifdef AFTER
    int on = seen > r.belt, ended = !on & (g.length > 0), seed = ended & (g.length >= r.shortest);
    int fault = (g.length > r.longest) | (g.stones > 1) | (16 * g.dark > r.most_rot * g.length) |
                (g.light < r.dullest * g.length);
    g.dust += ended & !seed;
    g.good += seed & !fault;
    g.bad += seed & fault;
    g.fire_until = seed & fault ? line + r.delay + r.pulse : g.fire_until;
    int stone = infrared > r.stone;
    g.length = on ? g.length + 1 : 0;
    g.light = on ? g.light + seen : 0;
    g.stones = on ? g.stones + stone : 0;
    g.dark = on ? g.dark + (!stone & (seen < r.rot)) : 0;
#else
    if (seen > r.belt) {
        g.length++;
        g.light += seen;
        if (infrared > r.stone)
            g.stones++;
        else if (seen < r.rot)
            g.dark++;
    } else if (g.length > 0) {
        if (g.length < r.shortest) {
            g.dust++;
        } else if (g.length > r.longest || g.stones > 1 || 16 * g.dark > r.most_rot * g.length ||
                   g.light < r.dullest * g.length) {
            g.bad++;
            g.fire_until = line + r.delay + r.pulse;
        } else {
            g.good++;
        }
        g.length = g.light = g.stones = g.dark = 0;
    }
#endif
}

// A thread follows one nozzle of the chute through all lines of both cameras, which come four at a time.
__global__ void __launch_bounds__(BLOCK) sort_seeds(const uchar4 *__restrict__ visible,
                                                    const uchar4 *__restrict__ infrared, int nozzles, int lines,
                                                    Recipe recipe, int3 *count, int *open_lines) {
    int n = blockIdx.x * BLOCK + threadIdx.x;
    if (n >= nozzles)
        return;
    Grain grain = {};
    int open = 0;
    for (int line = 0; line < lines; line += 4) {
        size_t at = (size_t)(line / 4) * nozzles + n;
        uchar4 v = visible[at], w = infrared[at];
        see(grain, recipe, line, v.x, w.x);
        see(grain, recipe, line + 1, v.y, w.y);
        see(grain, recipe, line + 2, v.z, w.z);
        see(grain, recipe, line + 3, v.w, w.w);
        open += min(max(grain.fire_until - line, 0), 4);
    }
    count[n] = make_int3(grain.good, grain.bad, grain.dust);
    open_lines[n] = open;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nozzles");
    int nozzles = p.small ? 1024 : 132 * 512, lines = p.small ? 96 : 768;
    Recipe recipe = {60, 110, 200, 3, 11, 140, 5, 4, 3};
    std::vector<unsigned char> visible((size_t)nozzles * lines), infrared(visible.size());
    auto place = [&](int line, int n) { return ((size_t)(line / 4) * nozzles + n) * 4 + line % 4; };
    unsigned seed = 1;
    for (int n = 0; n < nozzles; n++)
        for (int line = 0, left = 0, gap = lcg_next(&seed, 8), shade = 0, hot = 0; line < lines; line++) {
            size_t at = place(line, n);
            if (gap-- > 0) {
                visible[at] = 20 + lcg_next(&seed, 40);
                infrared[at] = 30;
                left = gap > 0 ? 0 : 1 + lcg_next(&seed, 13), shade = 110 + lcg_next(&seed, 80);
                hot = lcg_next(&seed, 9) == 0 ? 120 : 0;
                continue;
            }
            visible[at] = shade + lcg_next(&seed, 50) - (lcg_next(&seed, 6) == 0 ? 45 : 0);
            infrared[at] = 70 + lcg_next(&seed, 60) + hot;
            if (--left <= 0)
                gap = 1 + lcg_next(&seed, 6);
        }
    uchar4 *d_visible = device_copy_of((const uchar4 *)visible.data(), visible.size() / 4),
           *d_infrared = device_copy_of((const uchar4 *)infrared.data(), infrared.size() / 4);
    int3 *d_count = device_array<int3>(nozzles);
    int *d_open = device_array<int>(nozzles);
    pair_time(&p, [&] {
        sort_seeds<<<(nozzles + BLOCK - 1) / BLOCK, BLOCK>>>(d_visible, d_infrared, nozzles, lines, recipe, d_count,
                                                             d_open);
    });
    std::vector<int3> count = host_copy_of(d_count, nozzles);
    std::vector<int> open_lines = host_copy_of(d_open, nozzles);
    for (int n = 0; n < nozzles; n += p.small ? 3 : 101) {
        Grain grain = {};
        int open = 0;
        for (int line = 0; line < lines; line++) {
            see(grain, recipe, line, visible[place(line, n)], infrared[place(line, n)]);
            if (line % 4 == 3)
                open += std::min(std::max(grain.fire_until - line + 3, 0), 4);
        }
        pair_near(&p, "good", n, grain.good, count[n].x, 0);
        pair_near(&p, "bad", n, grain.bad, count[n].y, 0);
        pair_near(&p, "dust", n, grain.dust, count[n].z, 0);
        pair_near(&p, "open", n, open, open_lines[n], 0);
    }
    return pair_end(&p);
}
