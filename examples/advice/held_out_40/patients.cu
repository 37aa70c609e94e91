// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: a voxel of the scan is found by its number in one array, not through tables of planes and of rows.
// Why: volume[z][y][x] has to wait for the pointer to the plane, then for the one to the row, and only then asks for
//      the voxel; a voxel of the turned scan needs two planes and four rows for its eight neighbours.
#include "../common.h"

enum { WIDE = 32, HIGH = 4, DEEP = 2 };

struct Size {
    int width, height, depth;
};

#ifdef AFTER
typedef const float *Volume;
#define VOXEL(volume, z, y, x) (volume)[((z)*size.height + (y)) * size.width + (x)]
#else
typedef const float *const *const *Volume;
#define VOXEL(volume, z, y, x) (volume)[z][y][x]
#endif

// Where a voxel of today's scan lies in the one of last month: a rotation and a shift, in voxels.
struct Motion {
    float m[3][4];
};

__host__ __device__ static inline float along(const float *row, int x, int y, int z) {
    return row[0] * x + row[1] * y + row[2] * z + row[3];
}

__device__ static inline int split(float at, int size, float *rest) {
    at = fminf(fmaxf(at, 0.0f), size - 1.0f);
    int whole = min((int)at, size - 2);
    *rest = at - whole;
    return whole;
}

__device__ static inline float between(float a, float b, float t) { return a + t * (b - a); }

__device__ static float sample(Volume volume, const Size &size, float x, float y, float z) {
    float fx, fy, fz;
    int ix = split(x, size.width, &fx), iy = split(y, size.height, &fy), iz = split(z, size.depth, &fz);
    float plane[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        float upper = between(VOXEL(volume, iz + k, iy, ix), VOXEL(volume, iz + k, iy, ix + 1), fx);
        float lower = between(VOXEL(volume, iz + k, iy + 1, ix), VOXEL(volume, iz + k, iy + 1, ix + 1), fx);
        plane[k] = between(upper, lower, fy);
    }
    return between(plane[0], plane[1], fz);
}

// How much did the tissue change since then? Both scans are of one patient who never lies quite the same.
__global__ void compare(Volume then, const float *__restrict__ today, Size size, Motion motion, float *change) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y, z = blockIdx.z * DEEP + threadIdx.z;
    if (x >= size.width || y >= size.height || z >= size.depth)
        return;
    float before =
        sample(then, size, along(motion.m[0], x, y, z), along(motion.m[1], x, y, z), along(motion.m[2], x, y, z));
    int here = (z * size.height + y) * size.width + x;
    change[here] = (today[here] - before) / (0.05f + fabsf(before));
}

static Volume upload(const std::vector<float> &voxels, const Size &size) {
    float *data = device_copy_of(voxels.data(), voxels.size());
#ifdef AFTER
    return data;
#else
    std::vector<const float *> rows;
    for (int r = 0; r < size.depth * size.height; r++)
        rows.push_back(data + (size_t)r * size.width);
    const float *const *d_rows = device_copy_of(rows.data(), rows.size());
    std::vector<const float *const *> planes;
    for (int z = 0; z < size.depth; z++)
        planes.push_back(d_rows + (size_t)z * size.height);
    return device_copy_of(planes.data(), planes.size());
#endif
}

static double reference(const std::vector<float> &v, const Size &size, const double *at) {
    int sizes[3] = {size.width, size.height, size.depth}, whole[3];
    double rest[3], sum = 0;
    for (int d = 0; d < 3; d++) {
        double inside = std::min(std::max(at[d], 0.0), sizes[d] - 1.0);
        whole[d] = std::min((int)inside, sizes[d] - 2);
        rest[d] = inside - whole[d];
    }
    for (int c = 0; c < 8; c++) {
        int dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
        double weight = (dx ? rest[0] : 1 - rest[0]) * (dy ? rest[1] : 1 - rest[1]) * (dz ? rest[2] : 1 - rest[2]);
        sum += weight * v[((size_t)(whole[2] + dz) * size.height + whole[1] + dy) * size.width + whole[0] + dx];
    }
    return sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "patients");
    Size size = p.small ? Size{40, 21, 10} : Size{320, 320, 240};
    size_t count = (size_t)size.width * size.height * size.depth;
    std::vector<float> then = random_floats(count, 0.3f, 1, 1), today = random_floats(count, 0.3f, 1, 2);
    const Motion motion = {
        {{0.9848f, -0.1710f, 0.0302f, 8.3f}, {0.1736f, 0.9698f, -0.1710f, -4.1f}, {0, 0.1736f, 0.9848f, -2.6f}}};
    Volume d_then = upload(then, size);
    float *d_today = device_copy_of(today.data(), count), *d_change = device_array<float>(count);
    dim3 threads(WIDE, HIGH, DEEP),
        blocks((size.width + WIDE - 1) / WIDE, (size.height + HIGH - 1) / HIGH, (size.depth + DEEP - 1) / DEEP);
    pair_time(&p, [&] { compare<<<blocks, threads>>>(d_then, d_today, size, motion, d_change); });
    std::vector<float> change = host_copy_of(d_change, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 41) {
        int x = i % size.width, y = i / size.width % size.height, z = i / size.width / size.height;
        double at[3];
        for (int d = 0; d < 3; d++)
            at[d] =
                (double)motion.m[d][0] * x + (double)motion.m[d][1] * y + (double)motion.m[d][2] * z + motion.m[d][3];
        double before = reference(then, size, at);
        pair_near(&p, "change", i, (today[i] - before) / (0.05 + before), change[i], 2e-3);
    }
    return pair_end(&p);
}
