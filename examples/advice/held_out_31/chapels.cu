// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: which axis a ray steps along is chosen by comparing and selecting instead of by nested branches.
// Why: the rays of a warp step along different axes all the time, so the warp goes through all three ways.
#include "../common.h"

struct Grid {
    int nx, ny, nz;
    const unsigned char *density;  // tenths of a gram per cubic centimetre, one voxel a decimetre
};

struct Walk {
    int voxel, step, end;  // where along this axis, which way, and the first voxel outside
    float next, width;     // the ray's length at the next boundary, and from one boundary to the next
};

__host__ __device__ inline Walk start_walk(float origin, float direction, int voxels) {
    Walk w;
    w.voxel = (int)origin;
    w.step = direction < 0 ? -1 : 1;
    w.end = direction < 0 ? -1 : voxels;
    w.width = 1.0f / fmaxf(fabsf(direction), 1e-6f);
    w.next = (direction < 0 ? origin - w.voxel : w.voxel + 1 - origin) * w.width;
    return w;
}

// Masonry that a muon passes on its way to the detector, after Amanatides and Woo.
__device__ float opacity(const Grid &g, Walk x, Walk y, Walk z) {
    float sum = 0, at = 0;
    for (;;) {
        float density = g.density[(z.voxel * g.ny + y.voxel) * g.nx + x.voxel];
#ifdef AFTER
        float next = fminf(x.next, fminf(y.next, z.next));
        bool along_x = x.next == next;
        bool along_y = !along_x && y.next == next;
        bool along_z = !along_x && !along_y;
        sum += density * (next - at);
        at = next;
        x.voxel += along_x ? x.step : 0;
        y.voxel += along_y ? y.step : 0;
        z.voxel += along_z ? z.step : 0;
        x.next += along_x ? x.width : 0;
        y.next += along_y ? y.width : 0;
        z.next += along_z ? z.width : 0;
        if ((x.voxel == x.end) | (y.voxel == y.end) | (z.voxel == z.end))
            return sum;
#else
        if (x.next < y.next && x.next < z.next) {
            sum += density * (x.next - at);
            at = x.next;
            x.voxel += x.step;
            if (x.voxel == x.end)
                return sum;
            x.next += x.width;
        } else if (y.next < z.next) {
            sum += density * (y.next - at);
            at = y.next;
            y.voxel += y.step;
            if (y.voxel == y.end)
                return sum;
            y.next += y.width;
        } else {
            sum += density * (z.next - at);
            at = z.next;
            z.voxel += z.step;
            if (z.voxel == z.end)
                return sum;
            z.next += z.width;
        }
#endif
    }
}

__host__ __device__ inline float3 ray_of(int column, int row, int size) {
    float u = (column + 0.37f) / size * 2.6f - 1.3f, v = (row + 0.61f) / size * 2.6f - 1.3f;
    float scale = 1.0f / sqrtf(u * u + v * v + 1);
    return make_float3(u * scale, v * scale, scale);
}

// A radiograph of the chapel from a detector in its crypt.
__global__ void radiograph(Grid g, float3 detector, float *image, int size) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= size || row >= size)
        return;
    float3 way = ray_of(column, row, size);
    image[row * size + column] = opacity(g, start_walk(detector.x, way.x, g.nx), start_walk(detector.y, way.y, g.ny),
                                         start_walk(detector.z, way.z, g.nz));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "chapels");
    int size = p.small ? 80 : 1200;
    Grid g = {p.small ? 40 : 180, p.small ? 50 : 240, p.small ? 36 : 160, NULL};
    std::vector<unsigned char> density((size_t)g.nx * g.ny * g.nz);
    unsigned seed = 12;
    for (unsigned char &d : density)
        d = (unsigned char)(lcg_next(&seed, 3) ? 0 : 17 + lcg_next(&seed, 10));
    g.density = device_copy_of(density.data(), density.size());
    float3 detector = make_float3(0.43f * g.nx + 0.3f, 0.52f * g.ny + 0.2f, 0.5f);
    float *d_image = device_array<float>((size_t)size * size);
    dim3 block(16, 8), grid((size + 15) / 16, (size + 7) / 8);
    pair_time(&p, [&] { radiograph<<<grid, block>>>(g, detector, d_image, size); });
    std::vector<float> image = host_copy_of(d_image, (size_t)size * size);
    for (int i = 0; i < size * size; i += p.small ? 41 : 2003) {
        float3 way = ray_of(i % size, i / size, size);
        Walk walk[3] = {start_walk(detector.x, way.x, g.nx), start_walk(detector.y, way.y, g.ny),
                        start_walk(detector.z, way.z, g.nz)};
        double sum = 0, at = 0;
        for (Walk *w = walk; w->voxel != w->end;) {
            double here = density[((size_t)walk[2].voxel * g.ny + walk[1].voxel) * g.nx + walk[0].voxel];
            w = std::min_element(walk, walk + 3, [](const Walk &a, const Walk &b) { return a.next < b.next; });
            sum += here * (w->next - at);
            at = w->next;
            w->voxel += w->step;
            w->next += w->width;
        }
        pair_near(&p, "opacity", i, sum, image[i], 2e-3);
    }
    return pair_end(&p);
}
