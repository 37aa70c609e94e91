// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf() and logf() become __expf() and __logf().
// Why: the loop is little else than two exponentials and a logarithm; the exact ones cost several times as many
// instructions, and the log-likelihood of a survey needs three digits, not seven.
#include "../common.h"

#ifdef AFTER
#define EXPONENTIAL(x) __expf(x)
#define LOGARITHM(x) __logf(x)
#else
#define EXPONENTIAL(x) expf(x)
#define LOGARITHM(x) logf(x)
#endif

enum { TRAPS = 96, BLOCK = 128 };

struct Trap {
    float x, y;    // kilometres
    float nights;  // that the camera worked
};

struct Model {
    float rate;    // expected photographs per night of an animal whose home is at the camera
    float spread;  // 1 / (2 sigma^2), sigma: how far it roams
    float stray;   // rate of photographs of any animal that passes by, wherever it lives
};

// Spatial capture-recapture: the log-likelihood of each jaguar's capture history for every cell of the habitat in
// which its home range may be centred. grid.y: the jaguar.
__global__ void jaguars(const Trap *__restrict__ traps, const unsigned char *__restrict__ captures, Model model,
                        float *__restrict__ likelihood, int columns, int rows, float cell) {
    __shared__ Trap site[TRAPS];
    __shared__ float caught[TRAPS];
    const int jaguar = blockIdx.y;
    for (int t = threadIdx.x; t < TRAPS; t += BLOCK) {
        site[t] = traps[t];
        caught[t] = captures[jaguar * TRAPS + t];
    }
    __syncthreads();
    const int index = blockIdx.x * BLOCK + threadIdx.x;
    if (index >= columns * rows)
        return;
    const float x = (index % columns + 0.5f) * cell, y = (index / columns + 0.5f) * cell;
    float sum = 0;
    for (int t = 0; t < TRAPS; t++) {
        float dx = site[t].x - x, dy = site[t].y - y;
        float hazard = model.rate * EXPONENTIAL(-(dx * dx + dy * dy) * model.spread) + model.stray;
        float seen = 1 - EXPONENTIAL(-hazard);  // in one night, at least once
        sum += caught[t] * LOGARITHM(seen) - (site[t].nights - caught[t]) * hazard;
    }
    likelihood[(size_t)jaguar * columns * rows + index] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jaguars");
    const int columns = p.small ? 16 : 256, rows = p.small ? 15 : 192, animals = p.small ? 3 : 60;
    const float width = 80, cell = width / columns, height = cell * rows, sigma = 3.2f;
    const Model model = {0.11f, 0.5f / (sigma * sigma), 0.002f};

    // Cameras on a jittered grid of 12 by 8, some of which were stolen early.
    std::vector<Trap> traps(TRAPS);
    unsigned seed = 77;
    for (int t = 0; t < TRAPS; t++) {
        traps[t].x = width * (t % 12 + 0.3f + 0.4f * lcg_next(&seed, 1000) / 1000.0f) / 12;
        traps[t].y = height * (t / 12 + 0.3f + 0.4f * lcg_next(&seed, 1000) / 1000.0f) / 8;
        traps[t].nights = lcg_next(&seed, 10) ? 90 : 10 + lcg_next(&seed, 60);
    }
    // Capture histories, drawn from the model itself.
    std::vector<unsigned char> captures((size_t)animals * TRAPS);
    for (int a = 0; a < animals; a++) {
        float x = width * lcg_next(&seed, 1000) / 1000.0f, y = height * lcg_next(&seed, 1000) / 1000.0f;
        for (int t = 0; t < TRAPS; t++) {
            float d = (traps[t].x - x) * (traps[t].x - x) + (traps[t].y - y) * (traps[t].y - y);
            float seen = 1 - expf(-model.rate * expf(-d * model.spread) - model.stray);
            int count = 0;
            for (int night = 0; night < traps[t].nights; night++)
                count += lcg_next(&seed, 100000) < 100000 * seen;
            captures[(size_t)a * TRAPS + t] = count;
        }
    }

    const size_t cells = (size_t)columns * rows;
    Trap *d_traps = device_copy_of(traps.data(), TRAPS);
    unsigned char *d_captures = device_copy_of(captures.data(), captures.size());
    float *d_likelihood = device_array<float>(cells * animals);
    const dim3 grid((unsigned)(cells + BLOCK - 1) / BLOCK, animals);
    pair_time(&p, [&] { jaguars<<<grid, BLOCK>>>(d_traps, d_captures, model, d_likelihood, columns, rows, cell); });

    std::vector<float> likelihood = host_copy_of(d_likelihood, cells * animals);
    for (size_t i = 0; i < likelihood.size(); i += p.small ? 5 : 1777) {
        size_t animal = i / cells, index = i % cells;
        double x = (index % columns + 0.5) * cell, y = (index / columns + 0.5) * cell, sum = 0;
        for (int t = 0; t < TRAPS; t++) {
            double d = (traps[t].x - x) * (traps[t].x - x) + (traps[t].y - y) * (traps[t].y - y);
            double hazard = model.rate * exp(-d * model.spread) + model.stray;
            int caught = captures[animal * TRAPS + t];
            sum += caught * log(1 - exp(-hazard)) - (traps[t].nights - caught) * hazard;
        }
        pair_near(&p, "likelihood", i, sum, likelihood[i], 5e-4);
    }
    return pair_end(&p);
}
