// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the formulas are float ones (0.5f instead of 0.5, and so on).
// Why: a double constant makes the arithmetic around it double, with conversions there and back.
#include "../common.h"

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

struct Mirror {
    float east, north, height, area;
};

// What the mirrors of a solar tower send to its top in a day: slanted mirrors are narrower, and the air takes its
// share.
__global__ void harvest(const Mirror *mirrors, const float3 *suns, float tower, float *energy, float *best, int count,
                        int moments) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Mirror m = mirrors[i];
    float up = tower - m.height;
    float far = sqrtf(m.east * m.east + m.north * m.north + up * up);
    float to_x = -m.east / far, to_y = -m.north / far, to_z = up / far;
    float clear = C(0.99321) - C(0.0001176) * far + C(0.0000000197) * far * far;
    float sum = 0, most = 0;
    for (int t = 0; t < moments; t++) {
        float3 sun = suns[t];
        float both = sun.x * to_x + sun.y * to_y + sun.z * to_z;
        float slant = sqrtf(fmaxf(C(0.5) + C(0.5) * both, 0.0f));
        float air = C(1.0) - C(0.14) * __fdividef(1.0f, sun.z + C(0.15));
        float blur = C(1.0) - C(0.06) * (C(1.0) - slant) * (C(1.0) - slant);
        float power = C(0.94) * m.area * slant * blur * clear * air;
        sum += power;
        most = fmaxf(most, power);
    }
    energy[i] = sum;
    best[i] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "heliostats");
    int n = p.small ? 1000 : 1 << 20, moments = p.small ? 16 : 64;
    std::vector<float> r = random_floats((size_t)n * 4, 0, 1, 1);
    std::vector<Mirror> mirrors(n);
    for (int i = 0; i < n; i++) {
        const float *q = &r[(size_t)i * 4];
        mirrors[i] = {1600 * q[0] - 800, 1600 * q[1] - 800, 2 + 4 * q[2], 20 + 100 * q[3]};
    }
    std::vector<float3> suns(moments);
    for (int t = 0; t < moments; t++) {
        double hour = 3.0 * (t + 0.5) / moments - 1.5, x = sin(hour), y = -0.4 * cos(hour), z = cos(hour);
        double length = sqrt(x * x + y * y + z * z);
        suns[t] = make_float3((float)(x / length), (float)(y / length), (float)(z / length));
    }
    Mirror *d_mirrors = device_copy_of(mirrors.data(), n);
    float3 *d_suns = device_copy_of(suns.data(), moments);
    float *d_energy = device_array<float>(n), *d_best = device_array<float>(n);
    pair_time(&p, [&] { harvest<<<(n + 255) / 256, 256>>>(d_mirrors, d_suns, 140.0f, d_energy, d_best, n, moments); });
    std::vector<float> energy = host_copy_of(d_energy, n), best = host_copy_of(d_best, n);
    for (int i = 0; i < n; i += p.small ? 3 : 97) {
        Mirror m = mirrors[i];
        double up = 140.0 - m.height, far = sqrt((double)m.east * m.east + (double)m.north * m.north + up * up);
        double clear = 0.99321 - 0.0001176 * far + 1.97e-8 * far * far, sum = 0, most = 0;
        for (int t = 0; t < moments; t++) {
            double both = (-suns[t].x * (double)m.east - suns[t].y * (double)m.north + suns[t].z * up) / far;
            double slant = sqrt(std::max(0.5 + 0.5 * both, 0.0));
            double air = 1 - 0.14 / (suns[t].z + 0.15), blur = 1 - 0.06 * (1 - slant) * (1 - slant);
            double power = 0.94 * m.area * slant * blur * clear * air;
            sum += power;
            most = std::max(most, power);
        }
        pair_near(&p, "energy", i, sum, energy[i], 1e-4);
        pair_near(&p, "best", i, most, best[i], 1e-4);
    }
    return pair_end(&p);
}
