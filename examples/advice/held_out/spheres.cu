// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: of a ray's hits the root becomes x * __frsqrt_rn(x), divisions become fast ones (__fdividef).
// Why: correctly rounded roots and divisions take ten and more instructions each, and zeros, which most rays have, the
// slow way besides. (The reciprocal root is itself rounded correctly: sqrt.approx would be shorter still.)
#include "../common.h"

enum { BLOCK = 128, SPHERES = 48 };

#ifdef AFTER
static __device__ float root(float x) { return x * __frsqrt_rn(x + 1e-30f); }
static __device__ float over(float a, float b) { return __fdividef(a, b); }
#else
static __device__ float root(float x) { return sqrtf(x); }
static __device__ float over(float a, float b) { return a / b; }
#endif

// Brightness of the nearest sphere that each pixel's ray hits.
__global__ void spheres(const float4 *balls, float *image, int width, int height) {
    __shared__ float4 ball[SPHERES];
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    if (threadIdx.x < SPHERES)
        ball[threadIdx.x] = balls[threadIdx.x];
    __syncthreads();
    float dx = (x - 0.5f * width) / width, dy = (y - 0.5f * height) / width, a = dx * dx + dy * dy + 1;
    float nearest = 1e9f, light = 0;
    for (int k = 0; k < SPHERES; k++) {
        float4 s = ball[k];
        float b = dx * s.x + dy * s.y + s.z, c = s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w;
        float inside = fmaxf(b * b - a * c, 0);
        float t = over(b - root(inside), a), shade = over(inside, b * b + 1);
        bool hit = inside > 0 && t < nearest;
        nearest = hit ? t : nearest;
        light = hit ? shade : light;
    }
    image[(size_t)y * width + x] = light;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "spheres");
    int width = p.small ? 512 : 4096, height = p.small ? 132 : 2048;
    std::vector<float> balls = random_floats(4 * SPHERES, -2, 2, 1);
    for (int k = 0; k < SPHERES; k++)
        balls[4 * k + 2] += 6, balls[4 * k + 3] = 0.3f + 0.1f * fabsf(balls[4 * k + 3]);
    float4 *d_balls = (float4 *)device_copy_of(balls.data(), balls.size());
    float *d_image = device_array<float>((size_t)width * height);
    pair_time(&p, [&] { spheres<<<dim3(width / BLOCK, height), BLOCK>>>(d_balls, d_image, width, height); });
    std::vector<float> image = host_copy_of(d_image, (size_t)width * height);
    int wrong = 0, looked_at = 0;
    for (int y = 0; y < height; y += 7)
        for (int x = 0; x < width; x += 5, looked_at++) {
            double dx = (x - 0.5 * width) / width, dy = (y - 0.5 * height) / width, a = dx * dx + dy * dy + 1;
            double nearest = 1e9, light = 0;
            for (int k = 0; k < SPHERES; k++) {
                const float *s = &balls[4 * k];
                double b = dx * s[0] + dy * s[1] + s[2];
                double inside = b * b - a * ((double)s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - s[3] * s[3]);
                double t = inside > 0 ? (b - sqrt(inside)) / a : 1e9;
                if (inside > 0 && t < nearest)
                    nearest = t, light = inside / (b * b + 1);
            }
            wrong += fabs(light - image[(size_t)y * width + x]) > 1e-3;
        }
    pair_near(&p, "part of wrong pixels", 0, 0, (double)wrong / looked_at, 0.002);  // at the edges of spheres
    return pair_end(&p);
}
