// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block adds up its own echogram in shared memory and adds that to the one in global memory at its end.
// Why: millions of echoes are added to 256 words, which lie in 32 sectors and so in a few slices of the L2 cache.
#include "../common.h"

enum { BLOCK = 256, BINS = BLOCK };

struct Hall {
    float size[3];       // m
    float stage[3];      // where the sound comes from
    float seat[3];       // where it is heard
    float absorbed[3];   // share of the energy that the walls across each axis take
    float bins_a_metre;  // of the way of the sound
};

struct Ray {
    float at[3], to[3];
    float way, energy;
};

static __host__ __device__ unsigned scramble(unsigned x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

static __host__ __device__ Ray emit(const Hall &hall, int number) {
    unsigned r = scramble(number + 1u);
    float z = ((r & 0xffff) + 0.5f) / 32768.0f - 1.0f, turn = (r >> 16) * (6.2831853f / 65536.0f) + 1e-4f;
    float flat = sqrtf(1.0f - z * z);
    Ray ray = {{hall.stage[0], hall.stage[1], hall.stage[2]}, {flat * cosf(turn), flat * sinf(turn), z}, 0, 1};
    return ray;
}

// To the next wall and off it.
static __host__ __device__ void reflect(const Hall &hall, Ray *ray) {
    float step = 1e30f;
    int wall = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float gap = ((ray->to[k] > 0 ? hall.size[k] : 0.0f) - ray->at[k]) / ray->to[k];
        if (gap < step) {
            step = gap;
            wall = k;
        }
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
        ray->at[k] += step * ray->to[k];
        if (k == wall) {
            ray->at[k] = ray->to[k] > 0 ? hall.size[k] : 0.0f;
            ray->to[k] = -ray->to[k];
            ray->energy *= 1.0f - hall.absorbed[k];
        }
    }
    ray->way += step;
}

// What of it the listener gets straight from that spot of the wall, in whole units, and in which bin.
static __host__ __device__ unsigned echo(const Hall &hall, const Ray &ray, int *bin) {
    float square = 1.0f;
#pragma unroll
    for (int k = 0; k < 3; k++)
        square += (hall.seat[k] - ray.at[k]) * (hall.seat[k] - ray.at[k]);
    *bin = (int)((ray.way + sqrtf(square)) * hall.bins_a_metre);
    return (unsigned)(ray.energy * 400000.0f / square);
}

// How a hall answers a clap: rays from the stage, and the echoes that every bounce sends to one seat, by time.
__global__ void __launch_bounds__(BLOCK)
    auditoriums(Hall hall, unsigned long long *__restrict__ heard, unsigned *__restrict__ echogram, int rays,
                int bounces) {
    int number = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    unsigned *sum = own;
#else
    unsigned *sum = echogram;
#endif
    if (number < rays) {
        Ray ray = emit(hall, number);
        unsigned long long all = 0;
        for (int b = 0; b < bounces; b++) {
            int bin;
            reflect(hall, &ray);
            unsigned units = echo(hall, ray, &bin);
            all += units;
            if (bin < BINS)
                atomicAdd(&sum[bin], units);
        }
        heard[number] = all;
    }
#ifdef AFTER
    __syncthreads();
    if (own[threadIdx.x])
        atomicAdd(&echogram[threadIdx.x], own[threadIdx.x]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "auditoriums");
    int rays = p.small ? 132 * BLOCK - 9 : 132 * 16 * BLOCK - 9, bounces = p.small ? 12 : 24;
    Hall hall = {{38, 24, 15}, {4, 11.3f, 1.6f}, {26, 8.7f, 2.2f}, {0.25f, 0.1f, 0.15f}, 0.65f};
    unsigned *d_echogram = device_array<unsigned>(BINS);
    unsigned long long *d_heard = device_array<unsigned long long>(rays);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_echogram, 0, BINS * sizeof(unsigned)));
        auditoriums<<<(rays + BLOCK - 1) / BLOCK, BLOCK>>>(hall, d_heard, d_echogram, rays, bounces);
    });
    std::vector<unsigned> echogram = host_copy_of(d_echogram, BINS);
    std::vector<unsigned long long> heard = host_copy_of(d_heard, rays);
    std::vector<double> expected(BINS);
    double mean = 0, strays = 0;
    for (int i = 0; i < rays; i++) {
        Ray ray = emit(hall, i);
        double all = 0;
        for (int b = 0; b < bounces; b++) {
            int bin;
            reflect(hall, &ray);
            unsigned units = echo(hall, ray, &bin);
            all += units;
            if (bin < BINS)
                expected[bin] += units;
        }
        mean += all / BINS;
        strays += fabs(all - (double)heard[i]) > 0.02 * all;
    }
    // Rounding may send a ray that hits an edge to the other wall first, and an echo to the next bin.
    pair_near(&p, "strays", 0, 0, strays / rays, 1e-3);
    for (int b = 0; b < BINS; b++)
        pair_near(&p, "echogram", b, expected[b] / mean, echogram[b] / mean, 5e-3);
    return pair_end(&p);
}
