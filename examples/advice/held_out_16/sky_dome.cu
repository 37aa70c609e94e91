// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block renders one row of the picture instead of eight.
// Why: 140 large blocks are just more than 132 SMs take at once, so nearly all SMs wait for a second round of eight
// blocks; rows are small enough that the rounds end almost together.
#include "../common.h"

enum { WIDTH = 1024, STEPS = 12, SUN_STEPS = 6 };

#ifdef AFTER
enum { ROWS = 1 };
#else
enum { ROWS = 8 };
#endif

struct Sun {
    float up, north;
};

struct Colour {
    float red, green, blue;
};

static const float GROUND = 6360, TOP = 6420, AIR_SCALE = 8, DUST_SCALE = 1.2f, DUST = 0.021f;  // km, 1/km
static const float RED = 0.0058f, GREEN = 0.0135f, BLUE = 0.0331f;

// How far it is from a place at distance r from the Earth's centre to the end of the air, the cosine being that to up.
template <typename Real> static __host__ __device__ Real way_out(Real r, Real cosine) {
    Real along = r * cosine;
    return sqrt(along * along + (TOP - r) * (TOP + r)) - along;
}

// Light scattered once by air and dust on the way along a line of sight (sight, up) at the ground.
template <typename Real>
static __host__ __device__ void scatter(Real up, Real north, Real sun_up, Real sun_north, Real *colour) {
    const Real r0 = GROUND + (Real)0.1f;
    Real length = way_out(r0, up), step = length / STEPS, air = 0, dust = 0;
    Real red = 0, green = 0, blue = 0, white_red = 0, white_green = 0, white_blue = 0;
    Real towards = up * sun_up + north * sun_north;
    for (int s = 0; s < STEPS; s++) {
        Real t = (s + (Real)0.5f) * step;
        Real r = sqrt(r0 * r0 + 2 * t * r0 * up + t * t), h = r - GROUND;
        Real thin_air = exp(-h / AIR_SCALE) * step, thin_dust = exp(-h / DUST_SCALE) * step;
        air += thin_air;
        dust += thin_dust;
        Real cosine = (r0 * sun_up + t * towards) / r, sun_step = way_out(r, cosine) / SUN_STEPS;
        Real sun_air = 0, sun_dust = 0;
        for (int k = 0; k < SUN_STEPS; k++) {
            Real u = (k + (Real)0.5f) * sun_step, height = sqrt(r * r + 2 * u * r * cosine + u * u) - GROUND;
            sun_air += exp(-height / AIR_SCALE);
            sun_dust += exp(-height / DUST_SCALE);
        }
        Real all_air = air + sun_air * sun_step, all_dust = DUST * (dust + sun_dust * sun_step);
        Real r_left = exp(-RED * all_air - all_dust), g_left = exp(-GREEN * all_air - all_dust),
             b_left = exp(-BLUE * all_air - all_dust);
        red += r_left * thin_air;
        green += g_left * thin_air;
        blue += b_left * thin_air;
        white_red += r_left * thin_dust;
        white_green += g_left * thin_dust;
        white_blue += b_left * thin_dust;
    }
    Real air_phase = (Real)0.0597f * (1 + towards * towards), spread = (Real)1.5776f - (Real)1.52f * towards;
    Real dust_phase = (Real)0.0214f * (1 + towards * towards) / (spread * sqrt(spread)) * DUST;
    colour[0] = 20 * (air_phase * RED * red + dust_phase * white_red);
    colour[1] = 20 * (air_phase * GREEN * green + dust_phase * white_green);
    colour[2] = 20 * (air_phase * BLUE * blue + dust_phase * white_blue);
}

// The sky of a flight simulator: all round from left to right, from the horizon in the first row to the zenith.
__global__ void __launch_bounds__(WIDTH) sky(Colour *picture, Sun sun, int height) {
    float sine, cosine;
    sincospif(2.0f * (threadIdx.x + 0.5f) / WIDTH, &sine, &cosine);
    for (int r = 0; r < ROWS; r++) {
        int row = blockIdx.x * ROWS + r;
        float up, flat, colour[3];
        sincospif(0.5f * (row + 0.5f) / height, &up, &flat);
        scatter<float>(up, flat * cosine, sun.up, sun.north, colour);
        picture[row * WIDTH + threadIdx.x] = {colour[0], colour[1], colour[2]};
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sky_dome");
    int height = p.small ? 8 : 1120;
    Sun sun = {0.28f, 0.96f};
    Colour *d_picture = device_array<Colour>((size_t)height * WIDTH);
    pair_time(&p, [&] { sky<<<height / ROWS, WIDTH>>>(d_picture, sun, height); });
    std::vector<Colour> picture = host_copy_of(d_picture, (size_t)height * WIDTH);
    for (int i = 0; i < height * WIDTH; i += 127) {
        double elevation = 0.5 * M_PI * (i / WIDTH + 0.5) / height, azimuth = 2 * M_PI * (i % WIDTH + 0.5) / WIDTH;
        double colour[3];
        scatter<double>(sin(elevation), cos(elevation) * cos(azimuth), sun.up, sun.north, colour);
        pair_near(&p, "red", i, colour[0], picture[i].red, 2e-3);
        pair_near(&p, "green", i, colour[1], picture[i].green, 2e-3);
        pair_near(&p, "blue", i, colour[2], picture[i].blue, 2e-3);
    }
    return pair_end(&p);
}
