// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function that takes a ray through one glass surface is inlined.
// Why: as a call it needs the ray in memory, so every surface stores six numbers there and loads six.
#include "../common.h"

enum { BLOCK = 128, SURFACES = 10, COLOURS = 3 };

#ifdef AFTER
#define SURFACE_CALL __forceinline__
#else
#define SURFACE_CALL __noinline__
#endif

struct Ray {
    float x, y, z, dx, dy, dz;
};

struct Surface {
    float curvature, gap;    // gap: from the vertex of the surface before
    float bending[COLOURS];  // refractive index before it over that behind it
};

__constant__ Surface lens[SURFACES];

// Moves the ray to the surface and bends it. The origin becomes the surface's vertex; false: the ray misses it.
static __device__ SURFACE_CALL bool refract(Ray *ray, const Surface *surface, float bending) {
    float c = surface->curvature;
    ray->z -= surface->gap;
    float e = c * (ray->x * ray->x + ray->y * ray->y + ray->z * ray->z) - 2 * ray->z;
    float f = ray->dz - c * (ray->x * ray->dx + ray->y * ray->dy + ray->z * ray->dz);
    float under = f * f - c * e;
    if (under < 0)
        return false;
    float cosine = sqrtf(under), way = __fdividef(e, f + cosine);
    ray->x += way * ray->dx;
    ray->y += way * ray->dy;
    ray->z += way * ray->dz;
    under = 1 - bending * bending * (1 - cosine * cosine);
    if (under < 0)
        return false;
    float g = sqrtf(under) - bending * cosine;
    ray->dx = bending * ray->dx - g * c * ray->x;
    ray->dy = bending * ray->dy - g * c * ray->y;
    ray->dz = bending * ray->dz + g * (1 - c * ray->z);
    return true;
}

// Where the rays of a distant star meet the film, for each point of the pupil (x, y) and three colours.
__global__ void spot_diagram(float2 *spots, float field, float pupil, float back) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    float px = pupil * (2.0f * (i + 0.5f) / width - 1), py = pupil * (2.0f * (j + 0.5f) / height - 1);
    for (int colour = 0; colour < COLOURS; colour++) {
        Ray ray = {px, py, 0, 0, field, sqrtf(1 - field * field)};
        bool through = true;
        for (int s = 0; s < SURFACES && through; s++)
            through = refract(&ray, &lens[s], lens[s].bending[colour]);
        float way = __fdividef(back - ray.z, ray.dz);
        size_t at = ((size_t)colour * height + j) * width + i;
        spots[at] = through ? make_float2(ray.x + way * ray.dx, ray.y + way * ray.dy) : make_float2(-99, -99);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zoom_lens");
    int width = p.small ? 64 : 2048, height = p.small ? 32 : 1024;
    const float field = 0.12f, pupil = 9.0f, back = 60.0f;
    const float radii[SURFACES] = {58, 150, 33, 90, 22, -26, 120, -34, 110, -75},
                gaps[SURFACES] = {5, 6, 0.5f, 7, 3, 14, 2, 8, 0.5f, 5},
                glass[SURFACES] = {1.62f, 1, 1.65f, 1.6f, 1, 1.6f, 1.63f, 1, 1.66f, 1};
    Surface surfaces[SURFACES];
    for (int s = 0; s < SURFACES; s++) {
        surfaces[s].curvature = 1 / radii[s];
        surfaces[s].gap = gaps[s];
        for (int c = 0; c < COLOURS; c++) {
            float before = s ? glass[s - 1] : 1, behind = glass[s], more = 0.006f * (c - 1);
            surfaces[s].bending[c] = (before > 1 ? before + more : 1) / (behind > 1 ? behind + more : 1);
        }
    }
    CUDA_CHECK(cudaMemcpyToSymbol(lens, surfaces, sizeof surfaces));
    size_t n = (size_t)COLOURS * width * height;
    float2 *d_spots = device_array<float2>(n);
    dim3 block(32, BLOCK / 32), grid(width / 32, height / (BLOCK / 32));
    pair_time(&p, [&] { spot_diagram<<<grid, block>>>(d_spots, field, pupil, back); });
    std::vector<float2> spots = host_copy_of(d_spots, n);
    for (size_t at = 0; at < n; at += 29) {
        int i = at % width, j = at / width % height, colour = at / width / height;
        double x = pupil * (2 * (i + 0.5) / width - 1), y = pupil * (2 * (j + 0.5) / height - 1), z = 0;
        double dx = 0, dy = field, dz = sqrt(1 - (double)field * field);
        for (int s = 0; s < SURFACES; s++) {
            double c = surfaces[s].curvature, bending = surfaces[s].bending[colour];
            z -= surfaces[s].gap;
            double e = c * (x * x + y * y + z * z) - 2 * z, f = dz - c * (x * dx + y * dy + z * dz);
            double cosine = sqrt(f * f - c * e), way = e / (f + cosine);
            x += way * dx;
            y += way * dy;
            z += way * dz;
            double g = sqrt(1 - bending * bending * (1 - cosine * cosine)) - bending * cosine;
            dx = bending * dx - g * c * x;
            dy = bending * dy - g * c * y;
            dz = bending * dz + g * (1 - c * z);
        }
        double way = (back - z) / dz;
        pair_near(&p, "x", at, x + way * dx, spots[at].x, 1e-3);
        pair_near(&p, "y", at, y + way * dy, spots[at].y, 1e-3);
    }
    return pair_end(&p);
}
