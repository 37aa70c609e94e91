// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a CTA takes as many people as make the grid just fit on the GPU at once, not eight.
// Why: the panel fills the shared memory, so an SM has one CTA at a time; with eight people each the grid is a few CTAs
// more than there are SMs, and those few run alone in a second wave as long as the first.
#include "../common.h"

constexpr int MOST_MARKERS = 960, MOST_HAPLOTYPES = 1024;
constexpr size_t PANEL_BYTES = MOST_MARKERS * MOST_HAPLOTYPES / 8;
enum Allele : unsigned char { REFERENCE, ALTERNATIVE, NOT_TYPED };

// The sum over the CTA, for every thread. `part` alternates between two rows, so one barrier is enough.
__device__ float block_sum(float value, float *part) {
    const int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    if (lane == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = lane < warps ? part[lane] : 0;
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    return value;
}

// Li and Stephens: a chromosome is a mosaic of those of a reference panel. The forward pass of that hidden Markov model
// for one stretch of the genome: a thread is a haplotype of the panel, and the people come one after another.
// panel: a bit for each marker and haplotype. stays[m]: the chance of no crossing-over between m - 1 and m.
__global__ void forward(const unsigned *__restrict__ panel, const float *__restrict__ stays,
                        const unsigned char *__restrict__ alleles, int markers, int people, int people_per_cta,
                        float error, float *__restrict__ likelihood) {
    extern __shared__ unsigned bits[];
    __shared__ float part[2][32];
    const int haplotypes = blockDim.x, words = haplotypes / 32;
    for (int i = threadIdx.x; i < markers * words; i += haplotypes)
        bits[i] = panel[i];
    __syncthreads();

    const int first = blockIdx.x * people_per_cta, last = min(first + people_per_cta, people);
    const float fresh = 1.0f / haplotypes;
    for (int person = first; person < last; person++) {
        const unsigned char *typed = alleles + (size_t)person * markers;
        float chance = fresh, logarithm = 0;
        for (int m = 0; m < markers; m++) {
            const unsigned allele = typed[m], mine = bits[m * words + threadIdx.x / 32] >> threadIdx.x % 32 & 1;
            const float stay = stays[m];
            chance = stay * chance + (1 - stay) * fresh;
            if (allele != NOT_TYPED)
                chance *= allele == mine ? 1 - error : error;
            const float sum = block_sum(chance, part[m & 1]);
            chance = __fdividef(chance, sum);
            logarithm += __logf(sum);
        }
        // The next person starts in the other row or, after an odd number of markers, behind this barrier.
        __syncthreads();
        if (threadIdx.x == 0)
            likelihood[person] = logarithm;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "haplotypes");
    const int haplotypes = p.small ? 64 : MOST_HAPLOTYPES, markers = p.small ? 12 : MOST_MARKERS,
              words = haplotypes / 32;
    const int people = p.small ? 270 : 1085;
    const float error = 0.002f;

    std::vector<unsigned> panel((size_t)markers * words);
    std::vector<float> stays(markers);
    unsigned seed = 2003;
    for (int m = 0; m < markers; m++) {
        // Most variants are rare.
        const unsigned of_256 = 2 + lcg_next(&seed, 12) * lcg_next(&seed, 12);
        for (int h = 0; h < haplotypes; h++)
            if (lcg_next(&seed, 256) < of_256)
                panel[(size_t)m * words + h / 32] |= 1u << h % 32;
        stays[m] = expf(-0.0004f * (1 + lcg_next(&seed, 50)));
    }
    std::vector<unsigned char> alleles((size_t)people * markers);
    for (int person = 0; person < people; person++) {
        unsigned h = lcg_next(&seed, haplotypes);
        for (int m = 0; m < markers; m++) {
            if (lcg_next(&seed, 100) == 0)
                h = lcg_next(&seed, haplotypes);
            unsigned allele = panel[(size_t)m * words + h / 32] >> h % 32 & 1;
            if (lcg_next(&seed, 1000) < 2)
                allele ^= 1;
            alleles[(size_t)person * markers + m] = lcg_next(&seed, 10) < 3 ? (unsigned char)NOT_TYPED : allele;
        }
    }

    unsigned *d_panel = device_copy_of(panel.data(), panel.size());
    float *d_stays = device_copy_of(stays.data(), markers), *d_likelihood = device_array<float>(people);
    unsigned char *d_alleles = device_copy_of(alleles.data(), alleles.size());
    CUDA_CHECK(cudaFuncSetAttribute(forward, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)PANEL_BYTES));
#ifdef AFTER
    int sms = 0, resident = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, forward, haplotypes, PANEL_BYTES));
    const int people_per_cta = (people + sms * resident - 1) / (sms * resident);
#else
    const int people_per_cta = p.small ? 2 : 8;
#endif
    const int grid = (people + people_per_cta - 1) / people_per_cta;
    pair_time(&p, [&] {
        forward<<<grid, haplotypes, PANEL_BYTES>>>(d_panel, d_stays, d_alleles, markers, people, people_per_cta, error,
                                                   d_likelihood);
    });

    std::vector<float> likelihood = host_copy_of(d_likelihood, people);
    for (int person = 0; person < people; person += p.small ? 7 : 181) {
        std::vector<double> chance(haplotypes, 1.0 / haplotypes);
        double logarithm = 0;
        for (int m = 0; m < markers; m++) {
            const unsigned allele = alleles[(size_t)person * markers + m];
            double sum = 0;
            for (int h = 0; h < haplotypes; h++) {
                chance[h] = stays[m] * chance[h] + (1 - stays[m]) / haplotypes;
                if (allele != NOT_TYPED)
                    chance[h] *= allele == (panel[(size_t)m * words + h / 32] >> h % 32 & 1) ? 1 - error : error;
                sum += chance[h];
            }
            for (double &c : chance)
                c /= sum;
            logarithm += log(sum);
        }
        pair_near(&p, "likelihood", person, logarithm, likelihood[person], 1e-3);
    }
    return pair_end(&p);
}
