// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: all threads of a block add up the weights together (a scan) instead of the first one alone.
// Why: 255 threads wait at the barrier while one adds 256 weights.
#include "../common.h"

enum { PARTICLES = 256 };

static __host__ __device__ inline unsigned noise(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// The particle moved as the robot thinks it did, give or take 128 millimetres.
static __host__ __device__ inline int2 moved(int2 at, int2 move, unsigned random) {
    return {at.x + move.x + (int)(random & 255) - 128, at.y + move.y + (int)(random >> 8 & 255) - 128};
}

// How well the particle explains the measured distance to the beacon.
static __host__ __device__ inline unsigned weight_of(int2 at, int distance) {
    float error = fabsf(sqrtf((float)(at.x * at.x + at.y * at.y)) - (float)distance);
    return 1 + 4096 / (1 + (unsigned)error / 8);
}

static __host__ __device__ inline int drawn(const unsigned *sums, unsigned random) {
    unsigned wanted = random % sums[PARTICLES - 1];
    int low = 0;
    for (int half = PARTICLES / 2; half > 0; half /= 2)
        if (sums[low + half - 1] <= wanted)
            low += half;
    return low;
}

// Tracks one robot per block: particles move, are weighed by a measurement and drawn again by weight.
__global__ void particle_filter(const int2 *moves, const int *distances, int2 *means, int steps) {
    __shared__ unsigned sums[PARTICLES];
    __shared__ int2 particles[PARTICLES];
    int t = threadIdx.x, robot = blockIdx.x;
    unsigned seed = noise(robot * PARTICLES + t);
    int2 at = {(int)(seed & 4095), (int)(seed >> 12 & 4095)};
    for (int step = 0; step < steps; step++) {
        at = moved(at, moves[robot * steps + step], seed = noise(seed + step));
        particles[t] = at;
        sums[t] = weight_of(at, distances[robot * steps + step]);
        __syncthreads();
#ifdef AFTER
        for (int away = 1; away < PARTICLES; away *= 2) {
            unsigned before = t >= away ? sums[t - away] : 0;
            __syncthreads();
            sums[t] += before;
            __syncthreads();
        }
#else
        if (t == 0)
            for (int k = 1; k < PARTICLES; k++)
                sums[k] += sums[k - 1];
        __syncthreads();
#endif
        at = particles[drawn(sums, seed = noise(seed))];
        __syncthreads();
    }
    particles[t] = at;
    __syncthreads();
    for (int half = PARTICLES / 2; half > 0; half /= 2) {
        if (t < half) {
            particles[t].x += particles[t + half].x;
            particles[t].y += particles[t + half].y;
        }
        __syncthreads();
    }
    if (t == 0)
        means[robot] = {particles[0].x / PARTICLES, particles[0].y / PARTICLES};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "particle_filter");
    int robots = p.small ? 4 : 256, steps = p.small ? 3 : 32;
    std::vector<int2> moves(robots * steps);
    std::vector<int> distances(robots * steps);
    unsigned random = 1;
    for (int robot = 0; robot < robots; robot++) {
        int x = 1000 + (int)lcg_next(&random, 2000), y = 1000 + (int)lcg_next(&random, 2000);
        for (int at = robot * steps; at < (robot + 1) * steps; at++) {
            moves[at] = {(int)lcg_next(&random, 400) - 100, (int)lcg_next(&random, 400) - 100};
            x += moves[at].x;
            y += moves[at].y;
            distances[at] = (int)sqrtf((float)(x * x + y * y));
        }
    }
    int2 *d_moves = device_copy_of(moves.data(), moves.size()), *d_means = device_array<int2>(robots);
    int *d_distances = device_copy_of(distances.data(), distances.size());
    pair_time(&p, [&] { particle_filter<<<robots, PARTICLES>>>(d_moves, d_distances, d_means, steps); });
    std::vector<int2> means = host_copy_of(d_means, robots);
    for (int robot = 0; robot < robots; robot += 3) {
        std::vector<int2> now(PARTICLES), next(PARTICLES);
        std::vector<unsigned> seeds(PARTICLES), sums(PARTICLES);
        for (int t = 0; t < PARTICLES; t++) {
            seeds[t] = noise(robot * PARTICLES + t);
            now[t] = {(int)(seeds[t] & 4095), (int)(seeds[t] >> 12 & 4095)};
        }
        for (int step = 0; step < steps; step++) {
            for (int t = 0; t < PARTICLES; t++) {
                seeds[t] = noise(seeds[t] + step);
                now[t] = moved(now[t], moves[robot * steps + step], seeds[t]);
                sums[t] = weight_of(now[t], distances[robot * steps + step]) + (t ? sums[t - 1] : 0);
            }
            for (int t = 0; t < PARTICLES; t++) {
                seeds[t] = noise(seeds[t]);
                next[t] = now[drawn(sums.data(), seeds[t])];
            }
            now.swap(next);
        }
        int2 mean = {0, 0};
        for (const int2 &at : now)
            mean = {mean.x + at.x, mean.y + at.y};
        pair_near(&p, "x", robot, mean.x / PARTICLES, means[robot].x, 0);
        pair_near(&p, "y", robot, mean.y / PARTICLES, means[robot].y, 0);
    }
    return pair_end(&p);
}
