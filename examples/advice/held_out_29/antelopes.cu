// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a herd's row in shared memory is 25 floats long instead of 24.
// Why: the lanes of a warp, 24 floats from each other, meet in four of the 32 banks; an odd distance uses them all.
#include "../common.h"

enum { BLOCK = 128, AGES = 24 };
#ifdef AFTER
enum { PITCH = AGES + 1 };
#else
enum { PITCH = AGES };
#endif

struct LifeTable {
    float survival[AGES], calves[AGES];
};

__constant__ LifeTable table;

// One step of a year in a herd by ages; the age that is strongest is hunted.
__host__ __device__ inline void one_year(float *herd, const LifeTable &life) {
    float born = 0, younger = herd[0], most = 0;
    int hunted = 0;
    for (int a = 1; a < AGES; a++) {
        float before = herd[a], now = younger * life.survival[a - 1];
        herd[a] = now;
        born = fmaf(now, life.calves[a], born);
        if (now > most) {
            most = now;
            hunted = a;
        }
        younger = before;
    }
    herd[0] = born / fmaf(born, 0.001f, 1.0f);
    herd[hunted] *= 0.85f;
}

// How the herds of a savanna's waterholes develop; one thread per herd.
__global__ void antelopes(const float *today, float *later, int years) {
    __shared__ float herds[BLOCK][PITCH];
    size_t first = (size_t)blockIdx.x * BLOCK * AGES;
    for (int k = threadIdx.x; k < BLOCK * AGES; k += BLOCK)
        herds[k / AGES][k % AGES] = today[first + k];
    __syncthreads();
    for (int y = 0; y < years; y++)
        one_year(herds[threadIdx.x], table);
    __syncthreads();
    for (int k = threadIdx.x; k < BLOCK * AGES; k += BLOCK)
        later[first + k] = herds[k / AGES][k % AGES];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "antelopes");
    int herds = p.small ? 3 * BLOCK : 1100 * BLOCK, years = p.small ? 5 : 30;
    std::vector<float> today = random_floats((size_t)herds * AGES, 0, 100, 1);
    LifeTable life;
    for (int a = 0; a < AGES; a++) {
        life.survival[a] = a ? 0.93f - 0.012f * a : 0.6f;
        life.calves[a] = a < 3 ? 0 : 0.45f - 0.015f * a;
    }
    CUDA_CHECK(cudaMemcpyToSymbol(table, &life, sizeof life));
    float *d_today = device_copy_of(today.data(), today.size()), *d_later = device_array<float>(today.size());
    pair_time(&p, [&] { antelopes<<<herds / BLOCK, BLOCK>>>(d_today, d_later, years); });
    std::vector<float> later = host_copy_of(d_later, today.size());
    for (int h = 0; h < herds; h += p.small ? 5 : 503) {
        float *herd = &today[(size_t)h * AGES];
        for (int y = 0; y < years; y++)
            one_year(herd, life);
        for (int a = 0; a < AGES; a++)
            pair_near(&p, "herd", (size_t)h * AGES + a, herd[a], later[(size_t)h * AGES + a], 1e-4);
    }
    return pair_end(&p);
}
