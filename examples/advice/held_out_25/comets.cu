// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the nights are split among eight rows of blocks instead of all being done by the same block.
// Why: there are only a few more blocks than run at a time, so that a few of them work alone as long as all before.
#include "../common.h"

#ifdef AFTER
enum { PIECES = 8 };
#else
enum { PIECES = 1 };
#endif
enum { BLOCK = 1024 };

struct Comet {
    double axis, eccentricity, anomaly, motion;  // of the ellipse; radians on the first night and per night
    double p[3], q[3];                           // directions of perihelion and at right angles to it
    double brightness;
};

// The magnitude of a comet in the sky of a night.
static __host__ __device__ double magnitude(const Comet &c, int night) {
    const double turn = 6.283185307179586;
    double mean = c.anomaly + c.motion * night;
    mean -= turn * floor(mean / turn + 0.5);
    double angle = mean + copysign(0.85 * c.eccentricity, mean), sine = 0, cosine = 0;
    for (int i = 0; i < 20; i++) {  // Kepler's equation
        sincos(angle, &sine, &cosine);
        double change = (angle - c.eccentricity * sine - mean) / (1 - c.eccentricity * cosine);
        angle -= change;
        if (fabs(change) < 1e-8)
            break;
    }
    double along = c.axis * (cosine - c.eccentricity);
    double across = c.axis * sqrt(1 - c.eccentricity * c.eccentricity) * sine;
    double earth[3] = {0, 0, 0}, sun_squared = 0, earth_squared = 0;
    sincos(turn / 365.25 * night, &earth[1], &earth[0]);
    for (int k = 0; k < 3; k++) {
        double at = along * c.p[k] + across * c.q[k];
        sun_squared += at * at;
        earth_squared += (at - earth[k]) * (at - earth[k]);
    }
    return c.brightness + 2.5 * log10(earth_squared) + 5 * log10(sun_squared);
}

// The magnitudes of all comets in all nights.
__global__ void __launch_bounds__(BLOCK) light_curves(const Comet *comets, float *magnitudes, int count, int nights) {
    int i = blockIdx.x * BLOCK + threadIdx.x, each = nights / PIECES;
    if (i >= count)
        return;
    Comet comet = comets[i];
    for (int night = blockIdx.y * each; night < (blockIdx.y + 1) * each; night++)
        magnitudes[(size_t)night * count + i] = (float)magnitude(comet, night);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "comets");
    int count = p.small ? 100 : 140 * BLOCK - 300, nights = p.small ? 8 : 64;
    std::vector<float> numbers = random_floats((size_t)count * 6, 0, 1, 10);
    std::vector<Comet> comets(count);
    for (int i = 0; i < count; i++) {
        const float *r = &numbers[(size_t)i * 6];
        Comet &c = comets[i];
        c.axis = 2 + 6 * r[0];
        c.eccentricity = 0.2 + 0.7 * r[1];
        c.anomaly = 6.283 * r[2];
        c.motion = 0.0172 / (c.axis * sqrt(c.axis));
        double turned = 6.283 * r[3], tilt = 1.5 * r[4];
        c.p[0] = cos(turned);
        c.p[1] = sin(turned) * cos(tilt);
        c.p[2] = sin(turned) * sin(tilt);
        c.q[0] = -sin(turned);
        c.q[1] = cos(turned) * cos(tilt);
        c.q[2] = cos(turned) * sin(tilt);
        c.brightness = 5 + 10 * r[5];
    }
    Comet *d_comets = device_copy_of(comets.data(), count);
    float *d_magnitudes = device_array<float>((size_t)count * nights);
    dim3 grid((count + BLOCK - 1) / BLOCK, PIECES);
    pair_time(&p, [&] { light_curves<<<grid, BLOCK>>>(d_comets, d_magnitudes, count, nights); });
    std::vector<float> magnitudes = host_copy_of(d_magnitudes, (size_t)count * nights);
    for (int i = 0; i < count; i += p.small ? 1 : 199)
        for (int night = 0; night < nights; night++) {
            size_t at = (size_t)night * count + i;
            pair_near(&p, "magnitude", at, magnitude(comets[i], night), magnitudes[at], 1e-5);
        }
    return pair_end(&p);
}
