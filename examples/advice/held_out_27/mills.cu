// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: what is known of a mill is copied to a local variable before the loop, not read through the pointer.
// Why: the store of the power may change *mill for all the compiler knows, so every field is loaded again every hour.
#include "../common.h"

enum { BLOCK = 256 };

struct Mill {
    float width, head, efficiency;
    float lowest, highest;  // flow in m3/s per m of width: it stands still below, and the sluice opens above
    float leak, wear, grease;
};

// The power of water mills on one river, hour by hour; one thread each.
__global__ void grind(const Mill *mills, const float *river, float *power, float *worn, int n, int hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
#ifdef AFTER
    const Mill copy = mills[i];
    const Mill *mill = &copy;
#else
    const Mill *mill = mills + i;
#endif
    float friction = 0.05f;
    for (int hour = 0; hour < hours; hour++) {
        float flow = river[hour] - mill->leak;
        float used = flow < mill->lowest ? 0.0f : fminf(flow, mill->highest);
        float gross = 9.81f * used * mill->width * mill->head * mill->efficiency;
        friction += mill->wear * used - mill->grease * friction;
        power[(size_t)hour * n + i] = gross * (1.0f - friction);
    }
    worn[i] = friction;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mills");
    int n = p.small ? 512 : 132 * 2048, hours = p.small ? 24 : 96;
    std::vector<float> raw = random_floats((size_t)n * 8, 0, 1, 1), river(hours);
    std::vector<Mill> mills(n);
    for (int i = 0; i < n; i++) {
        const float *r = &raw[8 * (size_t)i];
        mills[i] = {1 + 2 * r[0],    1 + 4 * r[1],    0.5f + 0.3f * r[2],     -1.0f,
                    1 + r[4],        0.1f * r[5],     0.001f + 0.002f * r[6], 0.01f + 0.02f * r[7]};
        // Between the values that the flow takes: the comparison must not depend on the last bit.
        if (r[3] < 0.5f)
            mills[i].lowest = 0.25f;
    }
    // The flow is either a trickle (below every `lowest` but -1) or well above.
    for (int hour = 0; hour < hours; hour++)
        river[hour] = hour % 7 == 3 ? 0.2f : 0.8f + 0.7f * (1 + sinf(0.26f * hour));
    Mill *d_mills = device_copy_of(mills.data(), n);
    float *d_river = device_copy_of(river.data(), hours), *d_power = device_array<float>((size_t)n * hours);
    float *d_worn = device_array<float>(n);
    pair_time(&p,
              [&] { grind<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_mills, d_river, d_power, d_worn, n, hours); });
    std::vector<float> power = host_copy_of(d_power, (size_t)n * hours), worn = host_copy_of(d_worn, n);
    for (int i = 0; i < n; i += p.small ? 1 : 53) {
        const Mill &mill = mills[i];
        double friction = 0.05f;
        for (int hour = 0; hour < hours; hour++) {
            double flow = (double)river[hour] - mill.leak;
            double used = flow < mill.lowest ? 0 : std::min(flow, (double)mill.highest);
            double gross = 9.81 * used * mill.width * mill.head * mill.efficiency;
            friction += mill.wear * used - mill.grease * friction;
            size_t at = (size_t)hour * n + i;
            pair_near(&p, "power", at, gross * (1 - friction), power[at], 1e-4);
        }
        pair_near(&p, "worn", i, friction, worn[i], 1e-4);
    }
    return pair_end(&p);
}
