// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: rays are dealt to the blocks one by one, in turns, instead of each block having a run of the catalogue.
// Why: there is one block on each SM, the catalogue is sorted by distance, and a far station's ray has many more
// segments, so that the last SMs work long after the first ones have ended.
#include "../common.h"

enum { BLOCK = 512, WARPS = BLOCK / 32, BLOCKS = 132 };

struct Ray {
    float x, y;    // where the tremor was, in cells
    float dx, dy;  // one segment, in cells
    int segments;
};

struct Map {
    const float *slowness;  // seconds for one cell
    int side;
};

static __device__ float slowness_at(const Map &m, float x, float y) {
    x = fminf(fmaxf(x, 0.0f), m.side - 1.001f);
    y = fminf(fmaxf(y, 0.0f), m.side - 1.001f);
    int i = (int)x, j = (int)y;
    float fx = x - i, fy = y - j;
    const float *corner = m.slowness + j * m.side + i;
    float low = corner[0] + fx * (corner[1] - corner[0]);
    float high = corner[m.side] + fx * (corner[m.side + 1] - corner[m.side]);
    return low + fy * (high - low);
}

static __device__ float warp_sum(float value) {
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// Travel time of the surface wave from each tremor to its station, a ray a warp; the lanes share its segments.
__global__ void __launch_bounds__(BLOCK) tremors(Map m, const Ray *__restrict__ rays, float *__restrict__ seconds,
                                                 int count) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#ifdef AFTER
    int first = blockIdx.x + gridDim.x * warp, end = count, stride = gridDim.x * WARPS;
#else
    int run = (count + gridDim.x - 1) / gridDim.x;
    int first = blockIdx.x * run + warp, end = min(count, (int)(blockIdx.x + 1) * run), stride = WARPS;
#endif
    for (int r = first; r < end; r += stride) {
        Ray ray = rays[r];
        float length = sqrtf(ray.dx * ray.dx + ray.dy * ray.dy), sum = 0;
        for (int s = lane; s < ray.segments; s += 32) {
            float middle = s + 0.5f;
            sum += slowness_at(m, ray.x + middle * ray.dx, ray.y + middle * ray.dy);
        }
        sum = warp_sum(sum);
        if (lane == 0)
            seconds[r] = sum * length;
    }
}

// Rays around the middle of the map, the shortest first.
static std::vector<Ray> catalogue(int count, int side, int shortest, int longest) {
    std::vector<float> angle = random_floats(count, 0, 6.2831853f, 2), x = random_floats(count, 0.45f, 0.55f, 3),
                       y = random_floats(count, 0.45f, 0.55f, 4);
    std::vector<Ray> rays(count);
    for (int i = 0; i < count; i++) {
        Ray &r = rays[i];
        r.segments = shortest + (int)((double)(longest - shortest) * i / count);
        r.dx = 0.5f * cosf(angle[i]), r.dy = 0.5f * sinf(angle[i]);
        r.x = side * x[i] - 0.5f * r.segments * r.dx, r.y = side * y[i] - 0.5f * r.segments * r.dy;
    }
    return rays;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tremors");
    int side = p.small ? 256 : 1024, count = p.small ? BLOCKS * 40 : BLOCKS * 320 - 31;
    std::vector<float> slowness = random_floats((size_t)side * side, 0.2f, 0.5f, 1);
    std::vector<Ray> rays = catalogue(count, side, side / 16, side * 3 / 2);
    Map m = {device_copy_of(slowness.data(), slowness.size()), side};
    Ray *d_rays = device_copy_of(rays.data(), count);
    float *d_seconds = device_array<float>(count);
    pair_time(&p, [&] { tremors<<<BLOCKS, BLOCK>>>(m, d_rays, d_seconds, count); });
    std::vector<float> seconds = host_copy_of(d_seconds, count);
    for (int r = 0; r < count; r += count / 331) {
        const Ray &ray = rays[r];
        double sum = 0;
        for (int s = 0; s < ray.segments; s++) {
            double x = ray.x + (s + 0.5) * ray.dx, y = ray.y + (s + 0.5) * ray.dy;
            int i = (int)x, j = (int)y;
            const float *c = &slowness[(size_t)j * side + i];
            double low = c[0] + (x - i) * ((double)c[1] - c[0]);
            double high = c[side] + (x - i) * ((double)c[side + 1] - c[side]);
            sum += low + (y - j) * (high - low);
        }
        pair_near(&p, "seconds", r, sum * sqrt((double)ray.dx * ray.dx + (double)ray.dy * ray.dy), seconds[r], 1e-3);
    }
    return pair_end(&p);
}
