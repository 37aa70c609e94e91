// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares four samples with four others, no longer one with one.
// Why: each abundance read from shared memory then serves four comparisons, and reading them is what takes the time.
#include "../common.h"

enum { SIDE = 16, CHUNK = 32 };

#ifdef AFTER
enum { PER = 4 };
#else
enum { PER = 1 };
#endif

enum { TILE = SIDE * PER };

// Bray-Curtis dissimilarity of all pairs of stool samples: how much of their bacteria they do not share.
__global__ void __launch_bounds__(SIDE *SIDE)
    dissimilarity(const float *abundance, const float *totals, float *result, int samples, int taxa) {
    __shared__ float left[CHUNK][TILE + 1], right[CHUNK][TILE + 1];
    int tid = threadIdx.y * SIDE + threadIdx.x;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float differ[PER][PER] = {};
    for (int first = 0; first < taxa; first += CHUNK) {
        for (int i = tid; i < TILE * CHUNK; i += SIDE * SIDE) {
            int sample = i / CHUNK, taxon = i % CHUNK;
            left[taxon][sample] = abundance[(size_t)(row + sample) * taxa + first + taxon];
            right[taxon][sample] = abundance[(size_t)(column + sample) * taxa + first + taxon];
        }
        __syncthreads();
#pragma unroll 4
        for (int taxon = 0; taxon < CHUNK; taxon++) {
            float a[PER], b[PER];
#pragma unroll
            for (int k = 0; k < PER; k++) {
                a[k] = left[taxon][threadIdx.y + SIDE * k];
                b[k] = right[taxon][threadIdx.x + SIDE * k];
            }
#pragma unroll
            for (int i = 0; i < PER; i++)
#pragma unroll
                for (int j = 0; j < PER; j++)
                    differ[i][j] += fabsf(a[i] - b[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            int r = row + threadIdx.y + SIDE * i, c = column + threadIdx.x + SIDE * j;
            result[(size_t)r * samples + c] = differ[i][j] / (totals[r] + totals[c]);
        }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gut_flora");
    int samples = p.small ? 128 : 2048, taxa = p.small ? 64 : 512;
    std::vector<float> abundance = random_floats((size_t)samples * taxa, 0, 1, 1), totals(samples);
    for (int s = 0; s < samples; s++) {
        double total = 0;
        for (int t = 0; t < taxa; t++) {
            float &a = abundance[(size_t)s * taxa + t];
            a = a < 0.4f ? 0 : 100 * a * a * a;  // many species are missing, a few are common
            total += a;
        }
        totals[s] = (float)total;
    }
    float *d_abundance = device_copy_of(abundance.data(), abundance.size()),
          *d_totals = device_copy_of(totals.data(), totals.size()),
          *d_result = device_array<float>((size_t)samples * samples);
    dim3 grid(samples / TILE, samples / TILE), block(SIDE, SIDE);
    pair_time(&p, [&] { dissimilarity<<<grid, block>>>(d_abundance, d_totals, d_result, samples, taxa); });
    std::vector<float> result = host_copy_of(d_result, (size_t)samples * samples);
    for (int r = 0; r < samples; r += 19)
        for (int c = r % 7; c < samples; c += 23) {
            double differ = 0;
            for (int t = 0; t < taxa; t++)
                differ += fabs((double)abundance[(size_t)r * taxa + t] - abundance[(size_t)c * taxa + t]);
            size_t at = (size_t)r * samples + c;
            pair_near(&p, "dissimilarity", at, differ / ((double)totals[r] + totals[c]), result[at], 1e-4);
        }
    return pair_end(&p);
}
