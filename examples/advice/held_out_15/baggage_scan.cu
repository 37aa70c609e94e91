// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a pixel's row in shared memory is padded by one word.
// Why: a lane walks along the channels of its pixel, and rows of 32 words put all the lanes on one bank.
#include "../common.h"

enum { BLOCK = 128, CHANNELS = 32 };

#ifdef AFTER
enum { PITCH = CHANNELS + 1 };
#else
enum { PITCH = CHANNELS };
#endif

// What each channel counts without a suitcase, and how much it says about density and about the kind of atoms.
__constant__ float open_beam[CHANNELS], density_share[CHANNELS], atoms_share[CHANNELS];

// From the X-ray spectrum of each pixel of a suitcase: how dense it is, how heavy its atoms, and where its edge lies.
__global__ void materials(const float *counts, float *density, float *atoms, int *edges) {
    __shared__ float rows[BLOCK * PITCH];
    const float *own = counts + (size_t)blockIdx.x * BLOCK * CHANNELS;
    for (int i = threadIdx.x; i < BLOCK * CHANNELS; i += BLOCK)
        rows[i / CHANNELS * PITCH + i % CHANNELS] = own[i];
    __syncthreads();
    float dense = 0, heavy = 0, drop = -1, previous = 0;
    int edge = 0;
    for (int c = 0; c < CHANNELS; c++) {
        float count = rows[threadIdx.x * PITCH + c];
        if (count < 1.0f)  // nothing came through
            count = 1.0f;
        float lost = __log2f(open_beam[c] / count);
        dense += density_share[c] * lost;
        heavy += atoms_share[c] * lost;
        if (previous - count > drop) {
            drop = previous - count;
            edge = c;
        }
        previous = count;
    }
    int pixel = blockIdx.x * BLOCK + threadIdx.x;
    density[pixel] = dense;
    atoms[pixel] = heavy;
    edges[pixel] = edge;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "baggage_scan");
    int n = p.small ? 1024 : 1 << 19;
    std::vector<float> counts((size_t)n * CHANNELS), open(CHANNELS), dense(CHANNELS), heavy(CHANNELS);
    lcg_fill(counts.data(), counts.size(), 1, 3000);
    for (int c = 0; c < CHANNELS; c++) {
        open[c] = 3000.0f + 40.0f * c;
        dense[c] = 0.02f + 0.001f * c;
        heavy[c] = 0.03f - 0.001f * c;
    }
    CUDA_CHECK(cudaMemcpyToSymbol(open_beam, open.data(), sizeof open_beam));
    CUDA_CHECK(cudaMemcpyToSymbol(density_share, dense.data(), sizeof density_share));
    CUDA_CHECK(cudaMemcpyToSymbol(atoms_share, heavy.data(), sizeof atoms_share));
    float *d_counts = device_copy_of(counts.data(), counts.size()), *d_density = device_array<float>(n),
          *d_atoms = device_array<float>(n);
    int *d_edges = device_array<int>(n);
    pair_time(&p, [&] { materials<<<n / BLOCK, BLOCK>>>(d_counts, d_density, d_atoms, d_edges); });
    std::vector<float> density = host_copy_of(d_density, n), atoms = host_copy_of(d_atoms, n);
    std::vector<int> edges = host_copy_of(d_edges, n);
    for (int i = 0; i < n; i += 37) {
        double sum = 0, weighted = 0;
        float drop = -1, previous = 0;
        int edge = 0;
        for (int c = 0; c < CHANNELS; c++) {
            float count = std::max(counts[(size_t)i * CHANNELS + c], 1.0f);
            double lost = log2((double)open[c] / count);
            sum += dense[c] * lost;
            weighted += heavy[c] * lost;
            if (previous - count > drop) {
                drop = previous - count;
                edge = c;
            }
            previous = count;
        }
        pair_near(&p, "density", i, sum, density[i], 1e-4);
        pair_near(&p, "atoms", i, weighted, atoms[i], 1e-4);
        pair_near(&p, "edge", i, edge, edges[i], 0);
    }
    return pair_end(&p);
}
