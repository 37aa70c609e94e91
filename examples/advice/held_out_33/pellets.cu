// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: 64 neighbouring threads have the same kind of precipitation, instead of four neighbours four kinds.
// Why: the kinds fall by different laws; with all four of them in a warp, the warp runs the four branches in turn.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4, CELLS = BLOCK / KINDS };
enum Kind { RAIN, SNOW, PELLETS, ICE };

// Cloud physics: how much mass of each kind of precipitation falls through a cell in a second. The sizes of the
// particles have an exponential distribution, which is summed up over some bins.
struct Bins {
    float smallest, width;  // metres
    int count;
};

static __device__ float slope_of(float content, float density, float intercept) {
    return sqrtf(sqrtf(3.1415927f * density * intercept / content));
}

static __device__ float rain_flux(float content, float air, Bins bins) {
    float slope = slope_of(content, 1000, 8e6f), thin = powf(1.2f / air, 0.4f), flux = 0;
    for (int b = 0; b < bins.count; b++) {
        float d = bins.smallest + b * bins.width;
        float speed = fmaxf(9.65f - 10.3f * expf(-600 * d), 0);
        flux += 8e6f * expf(-slope * d) * 523.6f * d * d * d * speed;
    }
    return flux * thin * bins.width;
}

static __device__ float snow_flux(float content, float air, float celsius, Bins bins) {
    float intercept = 2e6f * expf(-0.12f * fmaxf(celsius, -40)), slope = slope_of(content, 100, intercept), flux = 0;
    for (int b = 0; b < bins.count; b++) {
        float d = bins.smallest + b * bins.width;
        flux += intercept * expf(-slope * d) * 0.069f * d * d * 8.8f * powf(d, 0.41f);
    }
    return flux * sqrtf(1.2f / air) * bins.width;
}

// Ice pellets: terminal speed from the Best number, which holds for all Reynolds numbers.
static __device__ float pellet_flux(float content, float air, Bins bins) {
    float slope = slope_of(content, 700, 4e4f), viscosity = 1.7e-5f, flux = 0;
    for (int b = 0; b < bins.count; b++) {
        float d = bins.smallest + b * bins.width, mass = 366.5f * d * d * d;
        float best = 12.49f * mass * air / (viscosity * viscosity);
        float root = sqrtf(1 + 0.1519f * sqrtf(best)) - 1;
        float speed = 8.5f * root * root * viscosity / (air * d);
        flux += 4e4f * expf(-slope * d) * mass * speed;
    }
    return flux * bins.width;
}

static __device__ float ice_flux(float content, float air, float celsius, Bins bins) {
    float slope = slope_of(content, 500, 1e7f), aspect = 0.3f - 0.005f * celsius, flux = 0;
    for (int b = 0; b < bins.count; b++) {
        float d = bins.smallest + b * bins.width, mass = 0.02f * d * d * aspect;
        float speed = 71 * sqrtf(d) / (1 + 40 * logf(1 + d));
        flux += 1e7f * expf(-slope * d) * mass * speed;
    }
    return flux * cbrtf(1.2f / air) * bins.width;
}

// content and flux: [kind][level][column]; the y index of the grid is the level.
__global__ void sediment(const float *content, const float *air, const float *celsius, float *flux, Bins bins,
                         int columns, int levels) {
#ifdef AFTER
    int kind = threadIdx.x / CELLS, column = blockIdx.x * CELLS + threadIdx.x % CELLS;
#else
    int kind = threadIdx.x % KINDS, column = blockIdx.x * CELLS + threadIdx.x / KINDS;
#endif
    if (column >= columns)
        return;
    size_t cell = (size_t)blockIdx.y * columns + column, i = (size_t)kind * levels * columns + cell;
    float c = content[i], a = air[cell], t = celsius[cell], f = 0;
    switch (kind) {
    case RAIN:
        f = rain_flux(c, a, bins);
        break;
    case SNOW:
        f = snow_flux(c, a, t, bins);
        break;
    case PELLETS:
        f = pellet_flux(c, a, bins);
        break;
    case ICE:
        f = ice_flux(c, a, t, bins);
        break;
    }
    flux[i] = f;
}

static double expected_flux(int kind, double c, double air, double t, Bins bins) {
    const double density[KINDS] = {1000, 100, 700, 500};
    double intercept[KINDS] = {8e6, 2e6 * exp(-0.12 * fmax(t, -40)), 4e4, 1e7}, sum = 0;
    double slope = pow(3.1415927 * density[kind] * intercept[kind] / c, 0.25), v2 = 1.7e-5 * 1.7e-5;
    double thin[KINDS] = {pow(1.2 / air, 0.4), sqrt(1.2 / air), 1, cbrt(1.2 / air)};
    for (int b = 0; b < bins.count; b++) {
        double d = bins.smallest + b * (double)bins.width, pellet = 366.5 * d * d * d;
        double mass[KINDS] = {523.6 * d * d * d, 0.069 * d * d, pellet, 0.02 * d * d * (0.3 - 0.005 * t)};
        double root = sqrt(1 + 0.1519 * sqrt(12.49 * pellet * air / v2)) - 1;
        double speed[KINDS] = {fmax(9.65 - 10.3 * exp(-600 * d), 0), 8.8 * pow(d, 0.41),
                               8.5 * root * root * 1.7e-5 / (air * d), 71 * sqrt(d) / (1 + 40 * log(1 + d))};
        sum += intercept[kind] * exp(-slope * d) * mass[kind] * speed[kind];
    }
    return sum * thin[kind] * bins.width;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pellets");
    int columns = p.small ? 1500 : 12000, levels = p.small ? 10 : 60, cells = columns * levels;
    std::vector<float> content = random_floats((size_t)KINDS * cells, 1e-5f, 2e-3f, 1),
                       air = random_floats(cells, 0.4f, 1.2f, 2), celsius = random_floats(cells, -45, 5, 3);
    float *d_content = device_copy_of(content.data(), content.size()), *d_air = device_copy_of(air.data(), cells),
          *d_celsius = device_copy_of(celsius.data(), cells), *d_flux = device_array<float>(content.size());
    Bins bins = {1e-4f, 2.5e-4f, p.small ? 12 : 20};
    dim3 grid((columns + CELLS - 1) / CELLS, levels);
    pair_time(&p, [&] { sediment<<<grid, BLOCK>>>(d_content, d_air, d_celsius, d_flux, bins, columns, levels); });

    std::vector<float> flux = host_copy_of(d_flux, content.size());
    for (int kind = 0; kind < KINDS; kind++)
        for (int cell = kind; cell < cells; cell += cells / 151) {
            size_t i = (size_t)kind * cells + cell;
            double expected = expected_flux(kind, content[i], air[cell], celsius[cell], bins);
            pair_near(&p, "flux", i, 1000 * expected, 1000.0 * flux[i], 2e-3);
        }
    for (float *array : {d_content, d_air, d_celsius, d_flux})
        CUDA_CHECK(cudaFree(array));
    return pair_end(&p);
}
