// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the row of path costs that each thread keeps in shared memory is one element longer than it needs to be.
// Why: rows of 40 elements start in only four different banks, so eight threads of a warp meet in one; with 41 the
// warp's 32 accesses fall into 32 banks.
#include "../common.h"

#include <cfloat>

enum { SAMPLES = 40, BLOCK = 128 };

#ifdef AFTER
enum { ROW = SAMPLES + 1 };
#else
enum { ROW = SAMPLES };
#endif

// Positions of the pen in the signature that was just given, resampled to SAMPLES points, centred and scaled.
__constant__ float2 probe[SAMPLES];

// Dynamic time warping of the probe against every enrolled signature, in a band around the diagonal: the cheapest way
// to walk along both at once. Each thread compares one signature and keeps one row of the matrix of costs.
__global__ void signatures(const float2 *__restrict__ enrolled, float *__restrict__ distance, int count, int band) {
    __shared__ float costs[BLOCK][ROW];
    const int who = blockIdx.x * BLOCK + threadIdx.x;
    if (who >= count)
        return;
    float *row = costs[threadIdx.x];
    for (int j = 0; j < SAMPLES; j++)
        row[j] = FLT_MAX;
    for (int i = 0; i < SAMPLES; i++) {
        const float2 pen = enrolled[(size_t)i * count + who];
        const int from = max(0, i - band), to = min(SAMPLES - 1, i + band);
        float left = FLT_MAX, diagonal = from > 0 ? row[from - 1] : i == 0 ? 0 : FLT_MAX;
        for (int j = from; j <= to; j++) {
            const float above = row[j];
            const float dx = pen.x - probe[j].x, dy = pen.y - probe[j].y;
            left = dx * dx + dy * dy + fminf(fminf(left, above), diagonal);
            row[j] = left;
            diagonal = above;
        }
    }
    distance[who] = row[SAMPLES - 1];
}

static double warped_distance(const std::vector<float2> &enrolled, const float2 *given, int count, int who, int band) {
    std::vector<double> cost((SAMPLES + 1) * (SAMPLES + 1), 1e30);
    cost[0] = 0;
    for (int i = 1; i <= SAMPLES; i++)
        for (int j = 1; j <= SAMPLES; j++) {
            if (abs(i - j) > band)
                continue;
            const float2 a = enrolled[(size_t)(i - 1) * count + who], b = given[j - 1];
            const double *up = &cost[(i - 1) * (SAMPLES + 1) + j];
            double best = std::min(std::min(up[0], up[-1]), cost[i * (SAMPLES + 1) + j - 1]);
            cost[i * (SAMPLES + 1) + j] =
                ((double)a.x - b.x) * ((double)a.x - b.x) + ((double)a.y - b.y) * ((double)a.y - b.y) + best;
        }
    return cost.back();
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "signatures");
    const int count = p.small ? 300 : 250000, band = p.small ? 3 : 10;

    // A hand's loops: two frequencies across and two up and down, of the writer's own, with a little tremor.
    float sine[1024];
    for (int i = 0; i < 1024; i++)
        sine[i] = sinf(i * 6.2831853f / 1024);
    std::vector<float2> enrolled((size_t)SAMPLES * count);
    unsigned seed = 77;
    for (int who = 0; who < count; who++) {
        const unsigned loops = 1 + lcg_next(&seed, 5), waves = 2 + lcg_next(&seed, 4), turn = lcg_next(&seed, 1024);
        const float slant = lcg_next(&seed, 100) / 150.0f, height = 0.2f + lcg_next(&seed, 100) / 200.0f;
        for (unsigned i = 0; i < SAMPLES; i++) {
            const float tremor = lcg_next(&seed, 1000) / 50000.0f;
            const float y = height * sine[(i * 1024 * waves / SAMPLES + turn) % 1024] + tremor;
            const float x = 2.0f * i / SAMPLES - 1 + 0.2f * sine[i * 1024 * loops / SAMPLES % 1024] + slant * y;
            enrolled[(size_t)i * count + who] = {x, y};
        }
    }
    // The probe is an enrolled hand on another day.
    float2 given[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        given[i] = enrolled[(size_t)std::max(0, i - i % 3) * count + count / 3];
        given[i].x += lcg_next(&seed, 1000) / 30000.0f;
    }

    CUDA_CHECK(cudaMemcpyToSymbol(probe, given, sizeof given));
    float2 *d_enrolled = device_copy_of(enrolled.data(), enrolled.size());
    float *d_distance = device_array<float>(count);
    pair_time(&p, [&] { signatures<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_enrolled, d_distance, count, band); });

    std::vector<float> distance = host_copy_of(d_distance, count);
    for (int who = 0; who < count; who += p.small ? 7 : 983)
        pair_near(&p, "distance", who, warped_distance(enrolled, given, count, who, band), distance[who], 1e-4);
    return pair_end(&p);
}
