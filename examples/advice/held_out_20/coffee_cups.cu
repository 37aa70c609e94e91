// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the readings of a cup are loaded once, before the notes are scored, and stay in registers.
// Why: every note loads all readings of the cup again; a store between two notes keeps the compiler from sharing them.
#include "../common.h"

enum { SENSORS = 24, NOTES = 32, BLOCK = 128 };

__constant__ float weights[NOTES][SENSORS];
__constant__ float offsets[NOTES];

// An electronic nose: how much of each note (chocolate, citrus, smoke ...) is in a cup, 0 to 255; one thread per cup.
__global__ void taste(const float *readings, unsigned char *notes, float *strengths, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float strength = 0;
#ifdef AFTER
    float own[SENSORS];
#pragma unroll
    for (int s = 0; s < SENSORS; s++)
        own[s] = readings[(size_t)s * n + i];
#endif
#pragma unroll 1
    for (int note = 0; note < NOTES; note++) {
        float score = offsets[note];
#pragma unroll
        for (int s = 0; s < SENSORS; s++)
#ifdef AFTER
            score += weights[note][s] * own[s];
#else
            score += weights[note][s] * readings[(size_t)s * n + i];
#endif
        float part = __fdividef(1.0f, 1.0f + __expf(-score));
        strength += part;
        notes[(size_t)note * n + i] = (unsigned char)(255.0f * part + 0.5f);
    }
    strengths[i] = strength;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "coffee_cups");
    int n = p.small ? 128 : 132 * 2048;
    std::vector<float> readings = random_floats((size_t)n * SENSORS, 0, 1, 1),
                       w = random_floats(NOTES * SENSORS, -1, 1, 2), o = random_floats(NOTES, -1, 1, 3);
    CUDA_CHECK(cudaMemcpyToSymbol(weights, w.data(), w.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpyToSymbol(offsets, o.data(), o.size() * sizeof(float)));
    float *d_readings = device_copy_of(readings.data(), readings.size()), *d_strengths = device_array<float>(n);
    unsigned char *d_notes = device_array<unsigned char>((size_t)n * NOTES);
    pair_time(&p, [&] { taste<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_readings, d_notes, d_strengths, n); });
    std::vector<unsigned char> notes = host_copy_of(d_notes, (size_t)n * NOTES);
    std::vector<float> strengths = host_copy_of(d_strengths, n);
    for (int i = 0; i < n; i += p.small ? 1 : 61) {
        double strength = 0;
        for (int note = 0; note < NOTES; note++) {
            double score = o[note];
            for (int s = 0; s < SENSORS; s++)
                score += (double)w[note * SENSORS + s] * readings[(size_t)s * n + i];
            double part = 1 / (1 + exp(-score)), off = fabs(255 * part - notes[(size_t)note * n + i]);
            strength += part;
            pair_near(&p, "note", (size_t)note * n + i, 0, off, 0.51);  // rounded to the nearest
        }
        pair_near(&p, "strength", i, strength, strengths[i], 1e-3);
    }
    return pair_end(&p);
}
