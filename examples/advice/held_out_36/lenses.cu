// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the lens plane that the kernel gets are of type float instead of double.
// Why: each expression with one of them is promoted to double, a division and conversions for every star included, in
// code whose data and results are float.
#include "../common.h"

// Gravitational microlensing by inverse ray shooting: each ray of a regular grid in the lens plane is deflected by the
// stars of the lensing galaxy; where it hits the source plane is wanted.
constexpr int kThreads = 128;
constexpr int kBatch = 128;  // stars in shared memory at a time

#ifdef AFTER
using Real = float;
#else
using Real = double;
#endif

struct Star {
    float x, y, mass, age;
};

struct Plane {
    Real pixel;        // distance of rays, in Einstein radii
    Real core2;        // square of a star's softening radius
    Real convergence;  // of smooth matter
    Real shear;
};

__global__ void __launch_bounds__(kThreads)
    shoot(const Star *__restrict__ stars, int star_count, Plane plane, int width, int height,
          float2 *__restrict__ hits) {
    __shared__ Star batch[kBatch];
    const int column = blockIdx.x * kThreads + threadIdx.x;
    const int row = blockIdx.y;
    const float x = (column - width / 2) * plane.pixel;
    const float y = (row - height / 2) * plane.pixel;

    float pull_x = 0.0f, pull_y = 0.0f;
    for (int first = 0; first < star_count; first += kBatch) {
        __syncthreads();
        for (int i = threadIdx.x; i < kBatch && first + i < star_count; i += kThreads)
            batch[i] = stars[first + i];
        __syncthreads();
        int count = min(kBatch, star_count - first);
        for (int i = 0; i < count; i++) {
            Star star = batch[i];
            float dx = x - star.x;
            float dy = y - star.y;
            float pull = star.mass / (dx * dx + dy * dy + plane.core2);
            pull_x += pull * dx;
            pull_y += pull * dy;
        }
    }

    if (column < width) {
        float2 hit;
        hit.x = x * (1 - plane.convergence - plane.shear) - pull_x;
        hit.y = y * (1 - plane.convergence + plane.shear) - pull_y;
        hits[(size_t)row * width + column] = hit;
    }
}

static std::vector<Star> make_stars(int count, float radius) {
    std::vector<Star> stars(count);
    unsigned seed = 21;
    for (Star &s : stars) {
        s.x = radius * (lcg_next(&seed, 20001) * 1e-4f - 1.0f);
        s.y = radius * (lcg_next(&seed, 20001) * 1e-4f - 1.0f);
        s.mass = 0.1f + lcg_next(&seed, 1000) * 0.001f;
        s.age = 1.0f + lcg_next(&seed, 100) * 0.1f;
    }
    return stars;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lenses");
    const int width = p.small ? 200 : 1024;
    const int height = p.small ? 2 : 768;
    const int star_count = p.small ? 150 : 700;

    Plane plane;
    plane.pixel = (Real)(12.0 / width);
    plane.core2 = (Real)0.0004;
    plane.convergence = (Real)0.31;
    plane.shear = (Real)0.12;

    std::vector<Star> stars = make_stars(star_count, 8.0f);
    Star *d_stars = device_copy_of(stars.data(), stars.size());
    float2 *d_hits = device_array<float2>((size_t)width * height);

    const dim3 grid((width + kThreads - 1) / kThreads, height);
    pair_time(&p, [&] { shoot<<<grid, kThreads>>>(d_stars, star_count, plane, width, height, d_hits); });

    std::vector<float2> hits = host_copy_of(d_hits, (size_t)width * height);
    const size_t every = p.small ? 1 : 331;
    for (size_t at = 0; at < hits.size(); at += every) {
        double x = ((int)(at % width) - width / 2) * (double)plane.pixel;
        double y = ((int)(at / width) - height / 2) * (double)plane.pixel;
        double hit_x = x * (1.0 - plane.convergence - plane.shear);
        double hit_y = y * (1.0 - plane.convergence + plane.shear);
        double scale = 0;  // of the largest deflections, which rounding of the positions changes most
        for (const Star &s : stars) {
            double dx = x - s.x, dy = y - s.y;
            double pull = s.mass / (dx * dx + dy * dy + plane.core2);
            hit_x -= pull * dx;
            hit_y -= pull * dy;
            scale += pull;
        }
        double tolerance = 1e-3 + 1e-6 * scale;
        pair_near(&p, "hit x", at, hit_x, hits[at].x, tolerance);
        pair_near(&p, "hit y", at, hit_y, hits[at].y, tolerance);
    }

    CUDA_CHECK(cudaFree(d_stars));
    CUDA_CHECK(cudaFree(d_hits));
    return pair_end(&p);
}
