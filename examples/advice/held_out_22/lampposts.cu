// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: the three zones of a lamp are one formula with a minimum and a factor of zero or one.
// Why: the threads of a warp are in different zones of the same lamp, so that most lamps cost all the branches.
#include "../common.h"

enum { WIDE = 16, HIGH = 16, LAMPS = 128 };

struct Lamp {
    float x, y, inner, outer, red, green, blue, height;  // inner, outer: squares of distances
};

// The light on each point of a street plan: full near a lamp, falling with the square of the distance further away,
// and none beyond the reach of its hood.
__global__ void illuminate(const Lamp *lamps, float *red, float *green, float *blue, int width, int count) {
    __shared__ Lamp near[LAMPS];
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y, me = threadIdx.y * WIDE + threadIdx.x;
    for (int k = me; k < count; k += WIDE * HIGH)
        near[k] = lamps[k];
    __syncthreads();
    float px = x * 0.1f, py = y * 0.1f, r = 0, g = 0, b = 0;
    for (int k = 0; k < count; k++) {
        float dx = px - near[k].x, dy = py - near[k].y, d = dx * dx + dy * dy + near[k].height;
#ifdef AFTER
        float level = __fdividef(near[k].inner, fmaxf(d, near[k].inner));
        level *= (float)(d < near[k].outer);
        r += near[k].red * level;
        g += near[k].green * level;
        b += near[k].blue * level;
#else
        if (d < near[k].inner) {
            r += near[k].red;
            g += near[k].green;
            b += near[k].blue;
        } else if (d < near[k].outer) {
            float level = __fdividef(near[k].inner, d);
            r += near[k].red * level;
            g += near[k].green * level;
            b += near[k].blue * level;
        }
#endif
    }
    int i = y * width + x;
    red[i] = r;
    green[i] = g;
    blue[i] = b;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lampposts");
    int width = p.small ? 64 : 1056, height = p.small ? 64 : 1024, count = p.small ? 12 : 120;
    size_t n = (size_t)width * height;
    std::vector<float> random = random_floats(8 * LAMPS, 0, 1, 1);
    std::vector<Lamp> lamps(LAMPS);
    for (int k = 0; k < LAMPS; k++) {
        const float *f = &random[8 * k];
        lamps[k] = {f[0] * width * 0.1f, f[1] * height * 0.1f, 2 + 4 * f[2], 50 + 3000 * f[3], f[4], f[5], f[6], f[7]};
    }
    Lamp *d_lamps = device_copy_of(lamps.data(), LAMPS);
    float *d_red = device_array<float>(n), *d_green = device_array<float>(n), *d_blue = device_array<float>(n);
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] { illuminate<<<grid, block>>>(d_lamps, d_red, d_green, d_blue, width, count); });
    std::vector<float> red = host_copy_of(d_red, n), green = host_copy_of(d_green, n), blue = host_copy_of(d_blue, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 61) {
        double r = 0, g = 0, b = 0, slack = 0;
        float px = (int)(i % width) * 0.1f, py = (int)(i / width) * 0.1f;
        for (int k = 0; k < count; k++) {
            double dx = px - lamps[k].x, dy = py - lamps[k].y, d = dx * dx + dy * dy + lamps[k].height;
            double level = d < lamps[k].outer ? lamps[k].inner / std::max(d, (double)lamps[k].inner) : 0;
            if (fabs(d - lamps[k].outer) < 1e-2)  // either side of the edge is right
                slack += 0.2;
            r += lamps[k].red * level;
            g += lamps[k].green * level;
            b += lamps[k].blue * level;
        }
        pair_near(&p, "red", i, r, red[i], 1e-3 + slack);
        pair_near(&p, "green", i, g, green[i], 1e-3 + slack);
        pair_near(&p, "blue", i, b, blue[i], 1e-3 + slack);
    }
    return pair_end(&p);
}
