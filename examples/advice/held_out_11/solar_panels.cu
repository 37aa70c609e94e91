// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Also: block-increase
// Change: four blocks share the hours of a roof instead of one block having them all.
// Why: 540 blocks of 512 threads are twelve more than run at once, and these run alone at the end.
#include "../common.h"

#ifdef AFTER
enum { SHARES = 4 };
#else
enum { SHARES = 1 };
#endif
enum { BLOCK = 512, ROOFS = 540, HOURS = 512 };

// What the panels of a roof yield in a summer: a thread has a panel, which others shade for a part of the day.
__global__ void __launch_bounds__(BLOCK, 4)
    solar_panels(const float *tilts, const float *clouds, float *out, int hours) {
    int roof = blockIdx.x / SHARES, share = blockIdx.x % SHARES, each = hours / SHARES;
    float tilt = tilts[roof * BLOCK + threadIdx.x], sum = 0;
    for (int h = share * each; h < (share + 1) * each; h++) {
        float sun = __sinf(0.2f * (float)(h % 16)), angle = sun * (1.0f - tilt * tilt) + tilt * (1.0f - sun);
        float clear = 1.0f - 0.7f * clouds[h], warm = 1.0f - 0.004f * (20.0f * sun * clear);
        sum += fmaxf(angle, 0.0f) * clear * warm * rsqrtf(1.0f + 0.3f * angle);
    }
    out[(roof * SHARES + share) * BLOCK + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "solar_panels");
    int hours = p.small ? 32 : HOURS;
    std::vector<float> tilts = random_floats((size_t)ROOFS * BLOCK, 0, 0.8f, 1), clouds = random_floats(hours, 0, 1, 2);
    float *d_tilts = device_copy_of(tilts.data(), tilts.size()), *d_clouds = device_copy_of(clouds.data(), hours),
          *d_out = device_array<float>(tilts.size() * SHARES);
    pair_time(&p, [&] { solar_panels<<<ROOFS * SHARES, BLOCK>>>(d_tilts, d_clouds, d_out, hours); });
    std::vector<float> out = host_copy_of(d_out, tilts.size() * SHARES);
    for (int i = 0; i < ROOFS * BLOCK; i += 1009) {
        double sum = 0, got = 0, tilt = tilts[i];
        for (int h = 0; h < hours; h++) {
            double sun = sin(0.2 * (h % 16)), angle = sun * (1 - tilt * tilt) + tilt * (1 - sun),
                   clear = 1 - 0.7 * clouds[h];
            sum += std::max(angle, 0.0) * clear * (1 - 0.08 * sun * clear) / sqrt(1 + 0.3 * angle);
        }
        for (int share = 0; share < SHARES; share++)
            got += out[(i / BLOCK * SHARES + share) * BLOCK + i % BLOCK];
        pair_near(&p, "yield", i, sum, got, 1e-3);
    }
    return pair_end(&p);
}
