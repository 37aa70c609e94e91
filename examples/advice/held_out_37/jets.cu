// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the transverse momentum to the power 2p, p being -1 for the anti-kt algorithm, is 1 / (pt * pt), not powf().
// Why: powf() with an exponent known only at run time is a logarithm, an exponential and special cases, many times
// the instructions of a product and a reciprocal, and it is computed for every pair.
#include "../common.h"

// First step of sequential jet clustering in collider events (generalised kt algorithm): for every particle of every
// event the smallest distance d_ij = min(pt_i^2p, pt_j^2p) * dR_ij^2 / R^2 to another one or d_iB = pt_i^2p to the
// beam, and which partner it is (itself stands for the beam).

constexpr int MOST = 256;  // particles in an event; a CTA has one thread for each

struct Algorithm {
    float p;       // 1: kt, 0: Cambridge/Aachen, -1: anti-kt
    float radius;
};

struct Particle {
    float pt, rapidity, phi;
};

__device__ inline float momentum_scale(float pt, const Algorithm &algorithm) {
#ifdef AFTER
    return 1.0f / (pt * pt);
#else
    return powf(pt, 2.0f * algorithm.p);
#endif
}

__global__ void __launch_bounds__(MOST)
nearest_partners(const Particle *__restrict__ particles, const int *__restrict__ first, Algorithm algorithm,
                 float *__restrict__ distance, int *__restrict__ partner) {
    __shared__ float pt[MOST], rapidity[MOST], phi[MOST];
    int begin = first[blockIdx.x];
    int count = first[blockIdx.x + 1] - begin;
    int i = threadIdx.x;
    if (i < count) {
        Particle mine = particles[begin + i];
        pt[i] = mine.pt;
        rapidity[i] = mine.rapidity;
        phi[i] = mine.phi;
    }
    __syncthreads();
    if (i >= count)
        return;

    const float pi = 3.14159265f;
    float my_scale = momentum_scale(pt[i], algorithm);
    float my_rapidity = rapidity[i], my_phi = phi[i];
    float inverse_r2 = 1.0f / (algorithm.radius * algorithm.radius);
    float best = my_scale;
    int who = i;
    for (int j = 0; j < count; j++) {
        float dy = rapidity[j] - my_rapidity;
        float dphi = fabsf(phi[j] - my_phi);
        dphi = dphi > pi ? 2.0f * pi - dphi : dphi;
        float scale = fminf(my_scale, momentum_scale(pt[j], algorithm));
        float d = scale * (dy * dy + dphi * dphi) * inverse_r2;
        if (d < best && j != i) {
            best = d;
            who = j;
        }
    }
    distance[begin + i] = best;
    partner[begin + i] = who;
}

static double distance_on_cpu(const Particle *event, int i, int j, const Algorithm &algorithm) {
    double mine = pow(event[i].pt, 2.0 * algorithm.p);
    if (i == j)
        return mine;
    double dy = event[j].rapidity - event[i].rapidity;
    double dphi = fabs((double)event[j].phi - event[i].phi);
    dphi = std::min(dphi, 2 * M_PI - dphi);
    return std::min(mine, pow(event[j].pt, 2.0 * algorithm.p)) * (dy * dy + dphi * dphi) /
           ((double)algorithm.radius * algorithm.radius);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jets");
    const int events = p.small ? 3 : 6000;
    const Algorithm algorithm = {-1.0f, 0.4f};
    unsigned seed = 31;
    std::vector<int> first(events + 1, 0);
    for (int e = 0; e < events; e++)
        first[e + 1] = first[e] + (p.small ? 40 + lcg_next(&seed, 30) : 200 + lcg_next(&seed, 57));
    const int total = first[events];
    std::vector<Particle> particles(total);
    for (Particle &q : particles) {
        float u = (1 + lcg_next(&seed, 10000)) / 10001.0f;
        q.pt = 0.5f - 3.0f * logf(u);
        q.rapidity = -2.5f + 5.0f * lcg_next(&seed, 1 << 20) / (1 << 20);
        q.phi = 6.283185f * lcg_next(&seed, 1 << 20) / (1 << 20);
    }

    Particle *d_particles = device_copy_of(particles.data(), total);
    int *d_first = device_copy_of(first.data(), events + 1);
    float *d_distance = device_array<float>(total);
    int *d_partner = device_array<int>(total);
    pair_time(&p, [&] {
        nearest_partners<<<events, MOST>>>(d_particles, d_first, algorithm, d_distance, d_partner);
    });

    std::vector<float> distance = host_copy_of(d_distance, total);
    std::vector<int> partner = host_copy_of(d_partner, total);
    for (int e = 0; e < events; e += p.small ? 1 : 500) {
        const Particle *event = particles.data() + first[e];
        int count = first[e + 1] - first[e];
        for (int i = 0; i < count; i++) {
            double best = distance_on_cpu(event, i, i, algorithm);
            for (int j = 0; j < count; j++)
                best = std::min(best, distance_on_cpu(event, i, j, algorithm));
            size_t at = first[e] + i;
            pair_near(&p, "distance", at, best, distance[at], 1e-4);
            pair_near(&p, "partner's distance", at, distance_on_cpu(event, i, partner[at], algorithm), distance[at],
                      1e-4);
        }
    }
    CUDA_CHECK(cudaFree(d_particles));
    CUDA_CHECK(cudaFree(d_first));
    CUDA_CHECK(cudaFree(d_distance));
    CUDA_CHECK(cudaFree(d_partner));
    return pair_end(&p);
}
