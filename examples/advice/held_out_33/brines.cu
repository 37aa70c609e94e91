// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the coefficients of the equation of state are float literals instead of double ones.
// Why: a literal without an f makes the polynomial around it double: half the rate, twice the registers, and a
// conversion for every value that goes in or out.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define COEFFICIENT(x) x##f
#else
#define COEFFICIENT(x) x
#endif
#define C(x) COEFFICIENT(x)

// Adiabatic lapse rate of sea water, degrees per decibar (Bryden 1973).
static __device__ float lapse_rate(float s, float t, float p) {
    float ds = s - C(35.0);
    return (((C(-2.1687e-16) * t + C(1.8676e-14)) * t - C(4.6206e-13)) * p +
            ((C(2.7759e-12) * t - C(1.1351e-10)) * ds +
             ((C(-5.4481e-14) * t + C(8.733e-12)) * t - C(6.7795e-10)) * t + C(1.8741e-8))) *
               p +
           (C(-4.2393e-8) * t + C(1.8932e-6)) * ds +
           ((C(6.6228e-10) * t - C(6.836e-8)) * t + C(8.5258e-6)) * t + C(3.5803e-5);
}

// Temperature of the water once brought from pressure p to the surface without exchange of heat: one step of
// Runge-Kutta-Gill (Fofonoff 1977).
static __device__ float potential_temperature(float s, float t, float p) {
    float h = -p, k = h * lapse_rate(s, t, p), q = k;
    t += C(0.5) * k;
    p += C(0.5) * h;
    k = h * lapse_rate(s, t, p);
    t += C(0.29289322) * (k - q);
    q = C(0.58578644) * k + C(0.121320344) * q;
    k = h * lapse_rate(s, t, p);
    t += C(1.707106781) * (k - q);
    q = C(3.414213562) * k - C(4.121320344) * q;
    p += C(0.5) * h;
    k = h * lapse_rate(s, t, p);
    return t + (k - C(2.0) * q) * C(0.16666667);
}

// Density at the surface less 1000 kg / m3 (EOS-80).
static __device__ float density_anomaly(float s, float t) {
    float water =
        ((((C(6.536332e-9) * t - C(1.120083e-6)) * t + C(1.001685e-4)) * t - C(9.095290e-3)) * t + C(6.793952e-2)) * t -
        C(0.157406);
    float a = (((C(5.3875e-9) * t - C(8.2467e-7)) * t + C(7.6438e-5)) * t - C(4.0899e-3)) * t + C(0.824493);
    float b = (C(-1.6546e-6) * t + C(1.0227e-4)) * t - C(5.72466e-3);
    return water + s * (a + b * sqrtf(s) + C(4.8314e-4) * s);
}

// One level of the ocean per blockIdx.y; land has a salinity of 0.
__global__ void brines(const float *__restrict__ salinity, const float *__restrict__ temperature,
                       const float *__restrict__ pressure, float *__restrict__ theta, float *__restrict__ sigma,
                       int points) {
    int i = blockIdx.x * BLOCK + threadIdx.x, level = blockIdx.y;
    if (i >= points)
        return;
    size_t at = (size_t)level * points + i;
    float s = salinity[at], t = temperature[at], potential = 0, anomaly = 0;
    if (s > 0) {
        potential = potential_temperature(s, t, pressure[level]);
        anomaly = density_anomaly(s, potential);
    }
    theta[at] = potential;
    sigma[at] = anomaly;
}

static double lapse_rate_of(double s, double t, double p) {
    double ds = s - 35;
    return 3.5803e-5 + 8.5258e-6 * t - 6.836e-8 * t * t + 6.6228e-10 * t * t * t + (1.8932e-6 - 4.2393e-8 * t) * ds +
           p * (1.8741e-8 - 6.7795e-10 * t + 8.733e-12 * t * t - 5.4481e-14 * t * t * t +
                (2.7759e-12 * t - 1.1351e-10) * ds) +
           p * p * (1.8676e-14 * t - 4.6206e-13 - 2.1687e-16 * t * t);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "brines");
    int points = p.small ? 100 * 110 : 500 * 520, levels = p.small ? 40 : 50;
    size_t count = (size_t)points * levels;
    std::vector<float> salinity = random_floats(count, 30, 38, 1), temperature = random_floats(count, -1, 28, 2),
                       pressure(levels);
    for (int l = 0; l < levels; l++)
        pressure[l] = 5.0f + 2.0f * l * l;
    for (int i = 0; i < points; i++)
        if (i % 4096 < 512)
            for (int l = 0; l < levels; l++)
                salinity[(size_t)l * points + i] = 0;
    float *d_salinity = device_copy_of(salinity.data(), count),
          *d_temperature = device_copy_of(temperature.data(), count),
          *d_pressure = device_copy_of(pressure.data(), levels),
          *d_theta = device_array<float>(count), *d_sigma = device_array<float>(count);
    dim3 grid((points + BLOCK - 1) / BLOCK, levels);
    pair_time(&p, [&] {
        brines<<<grid, BLOCK>>>(d_salinity, d_temperature, d_pressure, d_theta, d_sigma, points);
    });
    std::vector<float> theta = host_copy_of(d_theta, count), sigma = host_copy_of(d_sigma, count);
    for (size_t i = 0; i < count; i += 1009) {
        double s = salinity[i], t = temperature[i], from = pressure[i / points], rho = 0;
        if (s > 0) {
            const int steps = 100;  // of the midpoint rule, instead of one of Runge-Kutta-Gill
            for (int k = 0; k < steps; k++) {
                double h = from / steps, at = from - k * h, half = t - 0.5 * h * lapse_rate_of(s, t, at);
                t -= h * lapse_rate_of(s, half, at - 0.5 * h);
            }
            rho = -0.157406 + 6.793952e-2 * t - 9.095290e-3 * pow(t, 2) + 1.001685e-4 * pow(t, 3) -
                  1.120083e-6 * pow(t, 4) + 6.536332e-9 * pow(t, 5);
            rho += s * (0.824493 - 4.0899e-3 * t + 7.6438e-5 * t * t - 8.2467e-7 * pow(t, 3) + 5.3875e-9 * pow(t, 4));
            rho += pow(s, 1.5) * (-5.72466e-3 + 1.0227e-4 * t - 1.6546e-6 * t * t) + 4.8314e-4 * s * s;
        }
        pair_near(&p, "theta", i, s > 0 ? t : 0, theta[i], 1e-3);
        pair_near(&p, "sigma", i, rho, sigma[i], 1e-3);
    }
    return pair_end(&p);
}
