// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: threadIdx.x counts the gates along a ray of the radar, and threadIdx.y the rays, instead of the other way.
// Why: the gates of a ray lie next to each other; with a ray for every lane, a warp reads 32 lines at a time.
#include "../common.h"

enum { MISSING = -32768, TILE_X = 32, TILE_Y = 8 };

// A polar volume scan: levels[elevation][azimuth][gate], in hundredths of a dBZ.
struct Scan {
    int elevations, azimuths, gates;
    float gate_km, top_dbz;
};

// What there is above a place: the ice mass, the height of the highest strong echo, the strongest echo.
struct Products {
    float *ice, *top_km;
    short *strongest;
};

// Height of the middle of the beam with the 4/3 earth radius, by its series.
static __device__ float beam_height(float range_km, float sine) {
    return range_km * (sine + range_km * (1.0f - sine * sine) * (0.5f / 8495.0f));
}

// Density of the ice (Z to the power 4/7), from the level in dBZ.
static __device__ float ice_density(float dbz) {
    return 3.44e-3f * exp2f(dbz * (0.332192809f * 4.0f / 7.0f));
}

__global__ void snow_columns(const short *__restrict__ levels, const float *__restrict__ sines, Scan scan,
                             Products out) {
#ifdef AFTER
    int gate = blockIdx.x * TILE_X + threadIdx.x, azimuth = blockIdx.y * TILE_Y + threadIdx.y;
#else
    int azimuth = blockIdx.x * TILE_X + threadIdx.x, gate = blockIdx.y * TILE_Y + threadIdx.y;
#endif
    if (gate >= scan.gates || azimuth >= scan.azimuths)
        return;
    size_t place = (size_t)azimuth * scan.gates + gate, sweep = (size_t)scan.azimuths * scan.gates;
    float range = (gate + 0.5f) * scan.gate_km, ice = 0, top = 0, last_height = 0, last_density = 0;
    int strongest = MISSING;
    for (int e = 0; e < scan.elevations; e++) {
        int level = levels[e * sweep + place];
        if (level == MISSING)
            continue;
        float dbz = 0.01f * level, height = beam_height(range, sines[e]), density = ice_density(fminf(dbz, 56.0f));
        ice += 0.5f * (density + last_density) * (height - last_height);
        if (dbz >= scan.top_dbz)
            top = height;
        strongest = max(strongest, level);
        last_height = height;
        last_density = density;
    }
    out.ice[place] = ice;
    out.top_km[place] = top;
    out.strongest[place] = (short)strongest;
}

static std::vector<short> snowy_levels(size_t count) {
    std::vector<short> levels(count);
    unsigned seed = 5;
    for (short &level : levels) {
        unsigned r = lcg_next(&seed, 1 << 16);
        level = r % 16 == 0 ? (short)MISSING : (short)(-1000 + (int)(r % 4500));
    }
    return levels;
}

static void check(Pair *p, const std::vector<short> &levels, const std::vector<float> &sines, const Scan &scan,
                  const Products &out) {
    size_t sweep = (size_t)scan.azimuths * scan.gates;
    std::vector<float> ice = host_copy_of(out.ice, sweep), top = host_copy_of(out.top_km, sweep);
    std::vector<short> strongest = host_copy_of(out.strongest, sweep);
    for (size_t place = 0; place < sweep; place += 211) {
        double range = (place % scan.gates + 0.5) * scan.gate_km, mass = 0, height_top = 0, height0 = 0, density0 = 0;
        int most = MISSING;
        for (int e = 0; e < scan.elevations; e++) {
            int level = levels[e * sweep + place];
            if (level == MISSING)
                continue;
            double height = range * sines[e] + range * range * (1 - (double)sines[e] * sines[e]) / (2 * 8495.0);
            double density = 3.44e-3 * pow(10, std::min(0.01 * level, 56.0) * 0.1 * 4 / 7);
            mass += 0.5 * (density + density0) * (height - height0);
            if (0.01f * level >= scan.top_dbz)
                height_top = height;
            most = std::max(most, level);
            height0 = height;
            density0 = density;
        }
        pair_near(p, "ice", place, mass, ice[place], 1e-3);
        pair_near(p, "top", place, height_top, top[place], 1e-3);
        pair_near(p, "strongest", place, most, strongest[place], 0);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "blizzards");
    Scan scan = {24, 720, 1832, 0.25f, 18.005f};
    if (p.small)
        scan.elevations = 8, scan.azimuths = 360, scan.gates = 332;
    size_t sweep = (size_t)scan.azimuths * scan.gates;
    std::vector<short> levels = snowy_levels(sweep * scan.elevations);
    std::vector<float> sines(scan.elevations);
    for (int e = 0; e < scan.elevations; e++)
        sines[e] = sinf(0.01745329f * (0.5f + 0.75f * e));
    short *d_levels = device_copy_of(levels.data(), levels.size());
    float *d_sines = device_copy_of(sines.data(), sines.size());
    Products out = {device_array<float>(sweep), device_array<float>(sweep), device_array<short>(sweep)};
#ifdef AFTER
    int across = scan.gates, down = scan.azimuths;
#else
    int across = scan.azimuths, down = scan.gates;
#endif
    dim3 block(TILE_X, TILE_Y), grid((across + TILE_X - 1) / TILE_X, (down + TILE_Y - 1) / TILE_Y);
    pair_time(&p, [&] { snow_columns<<<grid, block>>>(d_levels, d_sines, scan, out); });
    check(&p, levels, sines, scan, out);
    return pair_end(&p);
}
