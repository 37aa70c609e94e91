// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the sparks lie sorted by their kind instead of in the order in which they were lit.
// Why: each kind has code of its own, and a warp with all four kinds goes through the code of all four.
#include "../common.h"

enum { STAR, COMET, CRACKLE, SMOKE };

struct Sparks {
    const int *kinds;
    const float *x, *y, *speed_x, *speed_y, *age;
};

static __device__ float noise(unsigned key) {
    key ^= key >> 16;
    key *= 0x7feb352du;
    key ^= key >> 15;
    key *= 0x846ca68bu;
    key ^= key >> 16;
    return (key >> 8) * (1.0f / 16777216.0f);
}

// One frame: where every spark is after its small steps, and how bright it glows.
__global__ void frame(Sparks s, float *new_x, float *new_y, float *glow, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float x = s.x[i], y = s.y[i], vx = s.speed_x[i], vy = s.speed_y[i], age = s.age[i], light = 0;
    switch (s.kinds[i]) {
    case STAR:  // falls and is slowed by the air
        for (int k = 0; k < 16; k++) {
            float drag = 1.0f - 0.01f * sqrtf(vx * vx + vy * vy);
            vx *= drag;
            vy = vy * drag - 0.05f;
            x += 0.02f * vx;
            y += 0.02f * vy;
        }
        light = __expf(-age);
        break;
    case COMET:  // draws a tail that lights up behind it
        for (int k = 0; k < 16; k++) {
            vy -= 0.03f;
            x += 0.02f * vx;
            y += 0.02f * vy;
            light += 0.1f * __expf(-0.3f * k - age) * (1.0f + 0.2f * __sinf(3.0f * y));
        }
        break;
    case CRACKLE:  // flashes at places of its own
        for (unsigned k = 0; k < 12; k++) {
            float flash = noise(__float_as_uint(age) * 31u + k);
            light += flash > 0.5f ? flash * flash : 0.1f * flash;
            x += 0.001f * (flash - 0.5f);
        }
        break;
    default:  // drifts and turns
        for (int k = 0; k < 16; k++) {
            float turn = 0.1f + 0.01f * k, old = vx;
            vx = 0.99f * (vx - turn * vy);
            vy = 0.99f * (vy + turn * old) + 0.01f;
            x += 0.02f * vx;
            y += 0.02f * vy;
        }
        light = __fdividef(0.1f, 1.0f + age);
    }
    new_x[i] = x;
    new_y[i] = y;
    glow[i] = light;
}

static float host_noise(unsigned key) {
    key ^= key >> 16;
    key *= 0x7feb352du;
    key ^= key >> 15;
    key *= 0x846ca68bu;
    key ^= key >> 16;
    return (key >> 8) * (1.0f / 16777216.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fireworks");
    int n = p.small ? 4096 : 1 << 23;
    std::vector<int> kinds(n);
    lcg_fill(kinds.data(), n, 1, 4);
#ifdef AFTER
    std::sort(kinds.begin(), kinds.end());
#endif
    std::vector<float> x = random_floats(n, -5, 5, 2), y = random_floats(n, 10, 40, 3), vx = random_floats(n, -4, 4, 4),
                       vy = random_floats(n, -4, 4, 5), age = random_floats(n, 0, 2, 6);
    int *d_kinds = device_copy_of(kinds.data(), n);
    Sparks s = {d_kinds,
                device_copy_of(x.data(), n),
                device_copy_of(y.data(), n),
                device_copy_of(vx.data(), n),
                device_copy_of(vy.data(), n),
                device_copy_of(age.data(), n)};
    float *d_x = device_array<float>(n), *d_y = device_array<float>(n), *d_glow = device_array<float>(n);
    pair_time(&p, [&] { frame<<<(n + 255) / 256, 256>>>(s, d_x, d_y, d_glow, n); });
    std::vector<float> new_x = host_copy_of(d_x, n), new_y = host_copy_of(d_y, n), glow = host_copy_of(d_glow, n);
    for (int i = 0; i < n; i += p.small ? 7 : 499) {
        double a = x[i], b = y[i], u = vx[i], v = vy[i], light = 0;
        unsigned bits;
        memcpy(&bits, &age[i], 4);
        for (int k = 0; k < (kinds[i] == CRACKLE ? 12 : 16); k++) {
            if (kinds[i] == CRACKLE) {
                float flash = host_noise(bits * 31u + k);
                light += flash > 0.5f ? flash * flash : 0.1f * flash;
                a += 0.001 * (flash - 0.5);
                continue;
            }
            double drag = 1 - 0.01 * sqrt(u * u + v * v), turn = 0.1 + 0.01 * k, old = u;
            if (kinds[i] == STAR) {
                u *= drag;
                v = v * drag - 0.05;
            } else if (kinds[i] == COMET) {
                v -= 0.03;
            } else {
                u = 0.99 * (u - turn * v);
                v = 0.99 * (v + turn * old) + 0.01;
            }
            a += 0.02 * u;
            b += 0.02 * v;
            if (kinds[i] == COMET)
                light += 0.1 * exp(-0.3 * k - age[i]) * (1 + 0.2 * sin(3 * b));
        }
        if (kinds[i] == STAR)
            light = exp(-(double)age[i]);
        if (kinds[i] == SMOKE)
            light = 0.1 / (1.0 + age[i]);
        pair_near(&p, "x", i, a, new_x[i], 1e-4);
        pair_near(&p, "y", i, b, new_y[i], 1e-4);
        pair_near(&p, "glow", i, light, glow[i], 1e-4);
    }
    return pair_end(&p);
}
