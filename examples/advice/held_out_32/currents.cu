// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: an observation that is not usable is computed like all others, with the weight 0, instead of being skipped.
// Why: in nearly every warp some lane's is usable, so that hardly anything is skipped; but the branch makes the other
// loads wait for the flag's, and the next observation's loads for this one.
#include "../common.h"

#include <cstdint>

enum { BLOCK = 128, USABLE = 4, BEST = 7 };

// What the radars on the coast saw of the sea: for each scan, and within it for each cell, how fast the water came
// towards the radar, and in which direction that one is.
struct Scans {
    const uint8_t *quality;  // 0 to BEST; usable from USABLE on
    const float *bearing;    // radians, -pi to pi
    const float *speed;      // m/s; whatever was left there (a finite number) where it is not usable
    int cells, count;
};

struct Current {
    float east, north;  // m/s
    float residue;      // weighted mean square
    int used;
};

// Normal equations of the least squares.
struct Sums {
    float ee, en, nn, es, ns, ss, weight;
    int used;
};

static __device__ void add_observation(Sums &a, float weight, float bearing, float speed) {
    float east, north;
    __sincosf(bearing, &east, &north);
    float we = weight * east, wn = weight * north, ws = weight * speed;
    a.ee += we * east;
    a.en += we * north;
    a.nn += wn * north;
    a.es += ws * east;
    a.ns += ws * north;
    a.ss += ws * speed;
    a.weight += weight;
}

static __device__ Current solved(const Sums &a) {
    Current c = {0, 0, 0, a.used};
    float det = a.ee * a.nn - a.en * a.en;
    if (a.used >= 3 && det > 1e-6f) {
        c.east = (a.es * a.nn - a.ns * a.en) / det;
        c.north = (a.ns * a.ee - a.es * a.en) / det;
        c.residue = (a.ss - c.east * a.es - c.north * a.ns) / a.weight;
    }
    return c;
}

// The current in each cell, one cell a thread, that fits all scans best.
__global__ void currents(Scans s, Current *out) {
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    if (cell >= s.cells)
        return;
    Sums a = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int scan = 0; scan < s.count; scan++) {
        size_t at = (size_t)scan * s.cells + cell;
        int quality = s.quality[at];
#ifdef AFTER
        float weight = quality >= USABLE ? quality * (1.0f / BEST) : 0.0f;
        add_observation(a, weight, s.bearing[at], s.speed[at]);
        a.used += quality >= USABLE;
#else
        if (quality >= USABLE) {
            add_observation(a, quality * (1.0f / BEST), s.bearing[at], s.speed[at]);
            a.used++;
        }
#endif
    }
    out[cell] = solved(a);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "currents");
    int cells = p.small ? 132 * 2 * BLOCK : 132 * 8 * BLOCK - 33, scans = p.small ? 24 : 100;
    size_t n = (size_t)cells * scans;
    std::vector<uint8_t> quality(n);
    lcg_fill(quality.data(), n, 1, BEST + 1);
    std::vector<float> bearing = random_floats(n, -3.1415f, 3.1415f, 2), speed = random_floats(n, -0.8f, 0.8f, 3);
    Scans s = {device_copy_of(quality.data(), n), device_copy_of(bearing.data(), n), device_copy_of(speed.data(), n),
               cells, scans};
    Current *d_out = device_array<Current>(cells);
    int blocks = (cells + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { currents<<<blocks, BLOCK>>>(s, d_out); });
    std::vector<Current> out = host_copy_of(d_out, cells);
    for (int cell = 0; cell < cells; cell += cells / 307) {
        double ee = 0, en = 0, nn = 0, es = 0, ns = 0, ss = 0, weight = 0;
        int used = 0;
        for (int scan = 0; scan < scans; scan++) {
            size_t at = (size_t)scan * cells + cell;
            if (quality[at] < USABLE)
                continue;
            double w = quality[at] / (double)BEST, east = sin((double)bearing[at]), north = cos((double)bearing[at]);
            ee += w * east * east, en += w * east * north, nn += w * north * north;
            es += w * east * speed[at], ns += w * north * speed[at], ss += w * speed[at] * speed[at];
            weight += w;
            used++;
        }
        double det = ee * nn - en * en, east = 0, north = 0, residue = 0;
        if (used >= 3 && det > 1e-6) {
            east = (es * nn - ns * en) / det, north = (ns * ee - es * en) / det;
            residue = (ss - east * es - north * ns) / weight;
        }
        pair_near(&p, "east", cell, east, out[cell].east, 1e-3);
        pair_near(&p, "north", cell, north, out[cell].north, 1e-3);
        pair_near(&p, "residue", cell, residue, out[cell].residue, 1e-3);
        pair_near(&p, "used", cell, used, out[cell].used, 0);
    }
    return pair_end(&p);
}
