// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a CTA take residues in turn, not each a stretch of the chain.
// Why: a residue is paired with those after it, so that the warp with the first stretch has some thirty times the
// pairs of the one with the last, for which all wait at the barrier before the next decoy.
#include "../common.h"

// Ranks decoys (guesses of a protein's fold) by a statistical potential: an energy for every pair of residues by their
// types and distance, then smoothed along the chain to show where the fold is wrong. The potential stays in shared
// memory while a CTA goes through its decoys.
constexpr int WARPS = 16;
constexpr int THREADS = WARPS * 32;
constexpr int TYPES = 20;
constexpr int BINS = 48;
constexpr float BIN_WIDTH = 0.25f;  // Angstrom
constexpr int MAX_CHAIN = 1024;
constexpr int APART = 3;  // nearer residues of the chain are no pair
constexpr int WINDOW = 4;

struct Shared {
    float potential[TYPES * TYPES * BINS];
    float4 residues[MAX_CHAIN];
    float energies[MAX_CHAIN];
};

__host__ __device__ inline float pair_energy(const float4 &a, const float4 &b, int type_a, int type_b,
                                             const float *potential) {
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    float place = sqrtf(dx * dx + dy * dy + dz * dz) * (1.0f / BIN_WIDTH);
    if (place >= BINS - 1)
        return 0.0f;
    int bin = (int)place;
    const float *row = &potential[(type_a * TYPES + type_b) * BINS];
    return row[bin] + (place - bin) * (row[bin + 1] - row[bin]);
}

// Adds the pairs of residue i with all residues behind it; the result is right in all lanes.
__device__ inline float residue_energy(const Shared &s, int i, int length) {
    float4 mine = s.residues[i];
    int type = __float_as_int(mine.w);
    float sum = 0.0f;
    for (int j = i + APART + threadIdx.x % 32; j < length; j += 32) {
        float4 other = s.residues[j];
        sum += pair_energy(mine, other, type, __float_as_int(other.w), s.potential);
    }
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    return sum;
}

// decoys: [decoy][length], w is the residue's type as an int. profiles: [decoy][length].
__global__ void __launch_bounds__(THREADS) rank_decoys(float *__restrict__ profiles, const float4 *__restrict__ decoys,
                                                       const float *__restrict__ potential, int length, int count) {
    extern __shared__ char memory[];
    Shared &s = *(Shared *)memory;
    int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < TYPES * TYPES * BINS; i += THREADS)
        s.potential[i] = potential[i];
    for (int d = blockIdx.x; d < count; d += gridDim.x) {
        for (int i = threadIdx.x; i < length; i += THREADS)
            s.residues[i] = decoys[(size_t)d * length + i];
        __syncthreads();
#ifdef AFTER
        for (int i = warp; i < length; i += WARPS) {
#else
        int stretch = (length + WARPS - 1) / WARPS;
        for (int i = warp * stretch; i < min((warp + 1) * stretch, length); i++) {
#endif
            float energy = residue_energy(s, i, length);
            if (threadIdx.x % 32 == 0)
                s.energies[i] = energy;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < length; i += THREADS) {
            int first = max(i - WINDOW, 0), last = min(i + WINDOW, length - 1);
            float sum = 0.0f;
            for (int k = first; k <= last; k++)
                sum += s.energies[k];
            profiles[(size_t)d * length + i] = sum / (last - first + 1);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "residues");
    int length = p.small ? 90 : 620, count = p.small ? 3 : 1056, blocks = p.small ? 2 : 132;
    unsigned seed = 71;
    std::vector<float> potential(TYPES * TYPES * BINS);
    for (int a = 0; a < TYPES; a++)
        for (int b = 0; b <= a; b++) {
            float depth = 0.01f * lcg_next(&seed, 200) - 0.8f, best = 4.5f + 0.01f * lcg_next(&seed, 300);
            for (int k = 0; k < BINS; k++) {
                float r = k * BIN_WIDTH, off = r - best, fade = 1 - r / ((BINS - 1) * BIN_WIDTH);
                float energy = r < 3 ? 2.0f : fade * (0.2f - depth * expf(-off * off));
                potential[(a * TYPES + b) * BINS + k] = potential[(b * TYPES + a) * BINS + k] = energy;
            }
        }
    std::vector<int> types(length);
    for (int &t : types)
        t = lcg_next(&seed, TYPES);
    std::vector<float4> decoys((size_t)count * length);
    float size = 1.9f * cbrtf((float)length);
    for (int d = 0; d < count; d++) {  // a random walk of steps of 3.8 Angstrom that turns back at a sphere
        float at[3] = {0, 0, 0};
        for (int i = 0; i < length; i++) {
            float step[3], norm = 1e-6f;
            for (int k = 0; k < 3; k++) {
                step[k] = lcg_next(&seed, 2001) * 0.001f - 1 - at[k] / size;
                norm += step[k] * step[k];
            }
            for (int k = 0; k < 3; k++)
                at[k] += 3.8f / sqrtf(norm) * step[k];
            float4 &r = decoys[(size_t)d * length + i];
            r = make_float4(at[0], at[1], at[2], 0);
            memcpy(&r.w, &types[i], sizeof r.w);
        }
    }

    float *d_potential = device_copy_of(potential.data(), potential.size());
    float4 *d_decoys = device_copy_of(decoys.data(), decoys.size());
    float *d_profiles = device_array<float>(decoys.size());
    CUDA_CHECK(cudaFuncSetAttribute(rank_decoys, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
    pair_time(&p, [&] {
        rank_decoys<<<blocks, THREADS, sizeof(Shared)>>>(d_profiles, d_decoys, d_potential, length, count);
    });

    std::vector<float> profiles = host_copy_of(d_profiles, decoys.size());
    for (int d = 0; d < count; d += p.small ? 1 : 41) {
        const float4 *decoy = &decoys[(size_t)d * length];
        std::vector<double> energies(length, 0.0);
        for (int i = 0; i < length; i++)
            for (int j = i + APART; j < length; j++)
                energies[i] += pair_energy(decoy[i], decoy[j], types[i], types[j], potential.data());
        for (int i = 0; i < length; i++) {
            int first = std::max(i - WINDOW, 0), last = std::min(i + WINDOW, length - 1);
            double sum = 0;
            for (int k = first; k <= last; k++)
                sum += energies[k];
            pair_near(&p, "profile", (size_t)d * length + i, sum / (last - first + 1), profiles[(size_t)d * length + i],
                      2e-3);
        }
    }
    CUDA_CHECK(cudaFree(d_potential));
    CUDA_CHECK(cudaFree(d_decoys));
    CUDA_CHECK(cudaFree(d_profiles));
    return pair_end(&p);
}
