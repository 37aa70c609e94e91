// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for eight blocks on a multiprocessor.
// Why: eight blocks of 256 threads leave 32 registers for a thread; the sums of 24 layers alone are 48 values, and
//      what does not fit goes to local memory and back for every atom.
#include "../common.h"

enum { BLOCK = 256, LAYERS = 24 };

#ifdef AFTER
#define FACTORS_BOUNDS __launch_bounds__(BLOCK)
#else
#define FACTORS_BOUNDS __launch_bounds__(BLOCK, 8)
#endif

// An atom of the cell: where it is in the plane, its electrons and how much it shakes.
struct Site {
    float x, y, electrons, shake;
};

// From one layer (l) of reciprocal space to the next: the turn of the phase, the fall of the amplitude.
struct Climb {
    float cosine, sine, fall, fall_ratio;
};

__device__ inline float damping(float h, float k, float shake) {
    return __expf(-shake * (h * h + h * k + k * k));
}

// Intensities of the reflections (h, k, 0..LAYERS-1) of a hexagonal cell, a thread for each (h, k).
__global__ void FACTORS_BOUNDS intensities(const Site *__restrict__ site, const Climb *__restrict__ climb, int atoms,
                                           int side, float scale, float *intensity) {
    int t = blockIdx.x * BLOCK + threadIdx.x, count = side * side;
    float h = (float)(t / side - side / 2), k = (float)(t % side - side / 2);
    float real[LAYERS], imaginary[LAYERS];
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        real[l] = imaginary[l] = 0;
    for (int a = 0; a < atoms; a++) {
        Site s = site[a];
        Climb c = climb[a];
        float sine, cosine, amplitude = s.electrons * damping(h, k, s.shake);
        sincospif(2 * (h * s.x + k * s.y), &sine, &cosine);
        float re = amplitude * cosine, im = amplitude * sine, fall = c.fall;
#pragma unroll
        for (int l = 0; l < LAYERS; l++) {
            real[l] += re;
            imaginary[l] += im;
            float turned = fall * (re * c.cosine - im * c.sine);
            im = fall * (re * c.sine + im * c.cosine);
            re = turned;
            fall *= c.fall_ratio;
        }
    }
    if (t >= count)
        return;
    float polarisation = scale / (1 + 0.001f * (h * h + k * k));
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        intensity[(size_t)l * count + t] = polarisation * (real[l] * real[l] + imaginary[l] * imaginary[l]);
}

static double reference(const std::vector<Site> &site, const std::vector<double> &z, double scale, int h, int k, int l,
                        double shake_z) {
    double real = 0, imaginary = 0, q = h * h + h * k + k * k;
    for (size_t a = 0; a < site.size(); a++) {
        double phase = 2 * M_PI * ((double)h * site[a].x + (double)k * site[a].y + l * z[a]);
        double amplitude = site[a].electrons * exp(-site[a].shake * q) * exp(-shake_z * l * l);
        real += amplitude * cos(phase);
        imaginary += amplitude * sin(phase);
    }
    return scale / (1 + 0.001 * (h * h + k * k)) * (real * real + imaginary * imaginary);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crystallites");
    int side = p.small ? 48 : 512, atoms = p.small ? 16 : 128, count = side * side;
    float scale = 0.01f, shake_z = 0.004f;
    std::vector<float> random = random_floats((size_t)atoms * 4, 0, 1, 1);
    std::vector<Site> site;
    std::vector<Climb> climb;
    std::vector<double> z;
    for (int a = 0; a < atoms; a++) {
        const float *r = &random[(size_t)a * 4];
        site.push_back({r[0], r[1], 6 + 20 * r[2], (p.small ? 1e-4f : 1e-6f) * (1 + r[3])});
        z.push_back(fmod(0.618034 * a, 1.0));
        climb.push_back({(float)cos(2 * M_PI * z[a]), (float)sin(2 * M_PI * z[a]), expf(-shake_z), expf(-2 * shake_z)});
    }
    Site *d_site = device_copy_of(site.data(), atoms);
    Climb *d_climb = device_copy_of(climb.data(), atoms);
    float *d_intensity = device_array<float>((size_t)count * LAYERS);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { intensities<<<blocks, BLOCK>>>(d_site, d_climb, atoms, side, scale, d_intensity); });
    std::vector<float> intensity = host_copy_of(d_intensity, (size_t)count * LAYERS);
    for (int t = 0; t < count; t += p.small ? 11 : 997)
        for (int l = 0; l < LAYERS; l += 3)
            pair_near(&p, "intensity", (size_t)l * count + t,
                      reference(site, z, scale, t / side - side / 2, t % side - side / 2, l, shake_z),
                      intensity[(size_t)l * count + t], 2e-3);
    return pair_end(&p);
}
