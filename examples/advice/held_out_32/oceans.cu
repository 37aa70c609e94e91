// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the equation of state get the suffix f.
// Why: without it they are double, so every product and sum with a float is converted, done in double and rounded
// back; the results are stored as float anyway.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

// Levels from the surface down, of the same thickness everywhere; land has a bottom of 0 levels.
struct Ocean {
    int columns, levels;
    float thickness;  // m
};

// The one-atmosphere density and the secant bulk modulus of sea water: UNESCO technical paper 44 (EOS-80).
static __device__ float surface_density(float t, float s, float root) {
    float pure =
        C(999.842594) +
        t * (C(6.793952e-2) +
             t * (C(-9.095290e-3) + t * (C(1.001685e-4) + t * (C(-1.120083e-6) + t * C(6.536332e-9)))));
    float linear = C(0.824493) + t * (C(-4.0899e-3) + t * (C(7.6438e-5) + t * (C(-8.2467e-7) + t * C(5.3875e-9))));
    float three_halves = C(-5.72466e-3) + t * (C(1.0227e-4) + t * C(-1.6546e-6));
    return pure + s * (linear + root * three_halves + s * C(4.8314e-4));
}

static __device__ float bulk_modulus(float t, float s, float root, float bar) {
    float pure = C(19652.21) + t * (C(148.4206) + t * (C(-2.327105) + t * (C(1.360477e-2) + t * C(-5.155288e-5))));
    float linear = C(54.6746) + t * (C(-0.603459) + t * (C(1.09987e-2) + t * C(-6.1670e-5)));
    float three_halves = C(7.944e-2) + t * (C(1.6483e-2) + t * C(-5.3009e-4));
    float a = C(3.239908) + t * (C(1.43713e-3) + t * (C(1.16092e-4) + t * C(-5.77905e-7))) +
              s * (C(2.2838e-3) + t * (C(-1.0981e-5) + t * C(-1.6078e-6)) + root * C(1.91075e-4));
    float b = C(8.50935e-5) + t * (C(-6.12293e-6) + t * C(5.2787e-8)) +
              s * (C(-9.9348e-7) + t * (C(2.0816e-8) + t * C(9.1697e-10)));
    return pure + s * (linear + root * three_halves) + bar * (a + bar * b);
}

// Density down every column of water, with the pressure of what lies above it; and the pressure at the bottom.
__global__ void densities(const float *__restrict__ temperature, const float *__restrict__ salinity,
                          const int *__restrict__ bottom, Ocean ocean, float *__restrict__ density,
                          float *__restrict__ bottom_bar) {
    int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= ocean.columns)
        return;
    int levels = bottom[column];
    float bar = 0;
    for (int k = 0; k < levels; k++) {
        size_t at = (size_t)k * ocean.columns + column;
        float t = temperature[at], s = salinity[at], root = sqrtf(s);
        float rho = surface_density(t, s, root) / (C(1.0) - bar / bulk_modulus(t, s, root, bar));
        density[at] = rho;
        bar += C(9.80665e-5) * rho * ocean.thickness;
    }
    bottom_bar[column] = bar;
}

// The same in double; returns the pressure below.
static double reference_level(double t, double s, double bar, double thickness, double *rho) {
    double root = sqrt(s);
    double surface =
        999.842594 + t * (6.793952e-2 + t * (-9.095290e-3 + t * (1.001685e-4 + t * (-1.120083e-6 + t * 6.536332e-9)))) +
        s * (0.824493 + t * (-4.0899e-3 + t * (7.6438e-5 + t * (-8.2467e-7 + t * 5.3875e-9))) +
             root * (-5.72466e-3 + t * (1.0227e-4 + t * -1.6546e-6)) + s * 4.8314e-4);
    double modulus = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 + t * -5.155288e-5))) +
                     s * (54.6746 + t * (-0.603459 + t * (1.09987e-2 + t * -6.1670e-5)) +
                          root * (7.944e-2 + t * (1.6483e-2 + t * -5.3009e-4)));
    modulus += bar * (3.239908 + t * (1.43713e-3 + t * (1.16092e-4 + t * -5.77905e-7)) +
                      s * (2.2838e-3 + t * (-1.0981e-5 + t * -1.6078e-6) + root * 1.91075e-4));
    modulus += bar * bar * (8.50935e-5 + t * (-6.12293e-6 + t * 5.2787e-8) +
                            s * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10)));
    *rho = surface / (1 - bar / modulus);
    return bar + 9.80665e-5 * *rho * thickness;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "oceans");
    Ocean ocean = {p.small ? 132 * 128 : 720 * 360, p.small ? 20 : 75, 60};
    size_t cells = (size_t)ocean.columns * ocean.levels;
    std::vector<float> temperature = random_floats(cells, -1, 28, 1), salinity = random_floats(cells, 31, 38, 2);
    std::vector<int> bottom(ocean.columns);
    for (int c = 0; c < ocean.columns; c++) {
        int shelf = c / 96 % 8;  // a coast every 768 columns
        bottom[c] = shelf == 0 ? 0 : shelf == 1 ? ocean.levels / 3 : ocean.levels - shelf % 3;
    }
    float *d_temperature = device_copy_of(temperature.data(), cells),
          *d_salinity = device_copy_of(salinity.data(), cells),
          *d_density = device_array<float>(cells), *d_bottom_bar = device_array<float>(ocean.columns);
    int *d_bottom = device_copy_of(bottom.data(), bottom.size());
    pair_time(&p, [&] {
        densities<<<(ocean.columns + BLOCK - 1) / BLOCK, BLOCK>>>(d_temperature, d_salinity, d_bottom, ocean, d_density,
                                                                  d_bottom_bar);
    });
    std::vector<float> density = host_copy_of(d_density, cells), bottom_bar = host_copy_of(d_bottom_bar, ocean.columns);
    for (int c = 0; c < ocean.columns; c += 41) {
        double bar = 0, rho = 0;
        for (int k = 0; k < bottom[c]; k++) {
            size_t at = (size_t)k * ocean.columns + c;
            bar = reference_level(temperature[at], salinity[at], bar, ocean.thickness, &rho);
            pair_near(&p, "density", at, rho, density[at], 1e-5);
        }
        pair_near(&p, "bottom_bar", c, bar, bottom_bar[c], 1e-5);
    }
    return pair_end(&p);
}
