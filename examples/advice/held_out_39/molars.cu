// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: threads next to each other take slices next to each other of one column of the picture, not columns.
// Why: the volume has its slices next to each other in memory; lanes in different columns of the dental arch read
//      2 bytes each from addresses a whole stack of slices apart.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, STEPS = 48 };

// A cone beam scan: Hounsfield units, volume[(y * width + x) * slices + z].
struct Scan {
    int width, depth, slices;
};

// Where the panoramic picture cuts the jaw: one point of the arch and its normal for each column.
struct Arch {
    float x, y, normal_x, normal_y;
};

__host__ __device__ inline float attenuation(float hounsfield) {
    float mu = 0.02f * (1 + 0.001f * hounsfield);
    return fminf(fmaxf(mu, 0.0f), 0.09f);  // air lets everything through, a filling nothing more
}

__host__ __device__ inline float density(const short *volume, Scan s, float x, float y, int slice) {
    int ix = min(max((int)x, 0), s.width - 2), iy = min(max((int)y, 0), s.depth - 2);
    float fx = x - ix, fy = y - iy;
    size_t line = (size_t)s.width * s.slices;
    const short *corner = volume + iy * line + (size_t)ix * s.slices + slice;
    float near = corner[0] + fx * (corner[s.slices] - corner[0]);
    float far = corner[line] + fx * (corner[line + s.slices] - corner[line]);
    return near + fy * (far - near);
}

// Mean and brightest attenuation through the focal layer around one point of the arch.
__host__ __device__ inline float film(const short *volume, Scan s, Arch a, int slice, float step, float contrast) {
    float sum = 0, weights = 0, brightest = 0;
    for (int i = 0; i < STEPS; i++) {
        float t = (i - 0.5f * (STEPS - 1)) * step;
        float u = (2 * i + 1 - STEPS) * (1.0f / STEPS), weight = 1 - u * u;
        float mu = attenuation(density(volume, s, a.x + t * a.normal_x, a.y + t * a.normal_y, slice));
        sum += weight * mu;
        weights += weight;
        brightest = fmaxf(brightest, weight * mu);
    }
    return contrast * brightest + (1 - contrast) * sum / weights;
}

__global__ void panorama(const short *__restrict__ volume, Scan s, const Arch *__restrict__ arch, int columns,
                         float step, float contrast, float *picture) {
#ifdef AFTER
    int slice = blockIdx.x * BLOCK_X + threadIdx.x, column = blockIdx.y * BLOCK_Y + threadIdx.y;
#else
    int column = blockIdx.x * BLOCK_X + threadIdx.x, slice = blockIdx.y * BLOCK_Y + threadIdx.y;
#endif
    if (column >= columns || slice >= s.slices)
        return;
    picture[slice * columns + column] = film(volume, s, arch[column], slice, step, contrast);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "molars");
    Scan s = {p.small ? 64 : 384, p.small ? 64 : 384, p.small ? 32 : 256};
    int columns = p.small ? 64 : 1024;
    float step = p.small ? 0.25f : 0.7f, contrast = 0.35f;
    std::vector<short> volume((size_t)s.width * s.depth * s.slices);
    unsigned seed = 1;
    for (short &v : volume)
        v = (short)((int)lcg_next(&seed, 3000) - 1000);
    std::vector<Arch> arch;
    for (int c = 0; c < columns; c++) {
        float u = 2.0f * c / (columns - 1) - 1, slope = 2 * 0.6f * u / 0.38f, length = sqrtf(1 + slope * slope);
        arch.push_back({s.width * (0.5f + 0.38f * u), s.depth * (0.15f + 0.6f * u * u), -slope / length, 1 / length});
    }
    short *d_volume = device_copy_of(volume.data(), volume.size());
    Arch *d_arch = device_copy_of(arch.data(), columns);
    float *d_picture = device_array<float>((size_t)columns * s.slices);
#ifdef AFTER
    dim3 grid((s.slices + BLOCK_X - 1) / BLOCK_X, (columns + BLOCK_Y - 1) / BLOCK_Y);
#else
    dim3 grid((columns + BLOCK_X - 1) / BLOCK_X, (s.slices + BLOCK_Y - 1) / BLOCK_Y);
#endif
    pair_time(&p, [&] {
        panorama<<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(d_volume, s, d_arch, columns, step, contrast, d_picture);
    });
    std::vector<float> picture = host_copy_of(d_picture, (size_t)columns * s.slices);
    for (int z = 0; z < s.slices; z += 5)
        for (int c = 0; c < columns; c += 7)
            pair_near(&p, "picture", (size_t)z * columns + c, film(volume.data(), s, arch[c], z, step, contrast),
                      picture[(size_t)z * columns + c], 1e-4);
    return pair_end(&p);
}
