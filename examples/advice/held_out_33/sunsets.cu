// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a pixel's record is copied into registers before the loop over the bands, not read again for every band.
// Why: the store of a band's radiance may change the record as far as the compiler knows, so it loads seven values
// again after each store; the records are apart by 28 bytes, so each such load takes several passes of the L1 cache.
#include "../common.h"

enum { TILE_X = 32, TILE_Y = 8, MAX_BANDS = 64 };

struct Pixel {
    float path;      // length of the sun's path through the air, in atmospheres
    float back;      // and of the way to the satellite
    float scatter;   // cosine of the angle between the two
    float aerosol;   // optical depth at 550 nm
    float angstrom;  // how it falls with the wavelength
    float ozone;     // Dobson units / 1000
    float pressure;  // of the ground, in atmospheres
};

struct Band {
    float rayleigh;    // optical depth of clean air
    float log_ratio;   // log(wavelength / 550 nm)
    float absorption;  // of ozone
    float sun;         // irradiance
};

static __constant__ Band bands[MAX_BANDS];

static __device__ float rayleigh_phase(float cosine) {
    return 0.75f * (1 + cosine * cosine);
}

// Radiance of the sky's light that reaches the satellite, of each band: single scattering in one layer.
__global__ void sky_radiance(const Pixel *pixels, float *radiance, int width, int height, int band_count) {
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
#ifdef AFTER
    const Pixel pixel = pixels[i];
#else
    const Pixel &pixel = pixels[i];
#endif
    for (int b = 0; b < band_count; b++) {
        const Band &band = bands[b];
        float air = band.rayleigh * pixel.pressure;
        float haze = pixel.aerosol * __expf(-pixel.angstrom * band.log_ratio);
        float ways = pixel.path + pixel.back;
        float ozone = __expf(-band.absorption * pixel.ozone * ways);
        float lost = 1 - __expf(-(air + haze) * ways);
        float phase = air * rayleigh_phase(pixel.scatter) + haze * (1 + 0.6f * pixel.scatter);
        radiance[((size_t)b * height + y) * width + x] =
            band.sun * ozone * lost * __fdividef(phase * pixel.back, (air + haze) * ways);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sunsets");
    int width = p.small ? 200 : 1000, height = p.small ? 160 : 640, band_count = p.small ? 12 : 36;
    size_t n = (size_t)width * height;
    std::vector<float> random = random_floats(n * 7, 0, 1, 77);
    std::vector<Pixel> pixels(n);
    for (size_t i = 0; i < n; i++) {
        const float *r = &random[7 * i];
        pixels[i] = {2 + 8 * r[0],       1 + 0.5f * r[1],    2 * r[2] - 1,       0.05f + 0.5f * r[3],
                     0.5f + 1.2f * r[4], 0.25f + 0.2f * r[5], 0.7f + 0.32f * r[6]};
    }
    std::vector<Band> table(band_count);
    for (int b = 0; b < band_count; b++) {
        float micrometres = 0.4f + 0.5f * b / band_count;
        table[b] = {0.00864f / (micrometres * micrometres * micrometres * micrometres), logf(micrometres / 0.55f),
                    0.12f * expf(-80 * (micrometres - 0.6f) * (micrometres - 0.6f)), 1.9f - micrometres};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(bands, table.data(), band_count * sizeof(Band)));
    Pixel *d_pixels = device_copy_of(pixels.data(), n);
    float *d_radiance = device_array<float>(n * band_count);
    dim3 grid((width + TILE_X - 1) / TILE_X, (height + TILE_Y - 1) / TILE_Y), block(TILE_X, TILE_Y);
    pair_time(&p, [&] { sky_radiance<<<grid, block>>>(d_pixels, d_radiance, width, height, band_count); });
    std::vector<float> radiance = host_copy_of(d_radiance, n * band_count);
    for (size_t at = 0; at < radiance.size(); at += radiance.size() / 1999) {
        const Pixel &pixel = pixels[at % n];
        const Band &band = table[at / n];
        double air = (double)band.rayleigh * pixel.pressure, ways = (double)pixel.path + pixel.back,
               haze = pixel.aerosol * exp(-(double)pixel.angstrom * band.log_ratio), c = pixel.scatter;
        double phase = air * 0.75 * (1 + c * c) + haze * (1 + 0.6 * c);
        double expected = band.sun * exp(-(double)band.absorption * pixel.ozone * ways) *
                          (1 - exp(-(air + haze) * ways)) * phase * pixel.back / ((air + haze) * ways);
        pair_near(&p, "radiance", at, expected, radiance[at], 1e-3);
    }
    return pair_end(&p);
}
