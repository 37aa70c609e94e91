// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: constants are of type float.
// Why: constants without f have what they meet computed in double precision.
// Post: Accelerated Ray Tracing in One Weekend in CUDA
#include "../common.h"

#ifdef AFTER
#define REAL(x) x##f
#else
#define REAL(x) x
#endif

enum { SPHERES = 24 };

struct Vec3 {
    float x, y, z;
};
__host__ __device__ static inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ static inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ static inline Vec3 operator*(float s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
__host__ __device__ static inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ static inline Vec3 unit(Vec3 a) { return 1 / sqrtf(dot(a, a)) * a; }

__host__ __device__ static inline bool hit_sphere(Vec3 center, float radius, Vec3 from, Vec3 way, float &nearest) {
    Vec3 oc = from - center;
    float a = dot(way, way), b = REAL(2.0) * dot(oc, way), c = dot(oc, oc) - radius * radius;
    float discriminant = b * b - REAL(4.0) * a * c;
    if (!(discriminant > 0))
        return false;
    float t = (-b - sqrtf(discriminant)) / (REAL(2.0) * a);
    if (!(t > REAL(0.001) && t < nearest))
        return false;
    nearest = t;
    return true;
}

__host__ __device__ static inline Vec3 color_of(const float4 *spheres, Vec3 from, Vec3 way) {
    float nearest = 1e30f;
    int which = -1;
    for (int i = 0; i < SPHERES; i++)
        if (hit_sphere({spheres[i].x, spheres[i].y, spheres[i].z}, spheres[i].w, from, way, nearest))
            which = i;
    if (which >= 0) {
        Vec3 at = from + nearest * way, center = {spheres[which].x, spheres[which].y, spheres[which].z};
        Vec3 normal = unit(at - center);
        return REAL(0.5) * Vec3{normal.x + 1, normal.y + 1, normal.z + 1};
    }
    float t = REAL(0.5) * (unit(way).y + REAL(1.0));
    return (REAL(1.0) - t) * Vec3{1, 1, 1} + t * Vec3{REAL(0.5), REAL(0.7), REAL(1.0)};
}

__host__ __device__ static inline Vec3 way_of(int i, int j, int nx, int ny) {
    float u = float(i) / float(nx), v = float(j) / float(ny);
    return Vec3{-2, -1, -1} + u * Vec3{4, 0, 0} + v * Vec3{0, 2, 0};
}

__global__ void render(Vec3 *fb, int nx, int ny, const float4 *spheres) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    if (i >= nx || j >= ny)
        return;
    fb[j * nx + i] = color_of(spheres, {0, 0, 0}, way_of(i, j, nx, ny));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "one_weekend");
    int nx = p.small ? 128 : 2400, ny = p.small ? 64 : 1200;
    std::vector<float> r = random_floats(3 * SPHERES, -1.5f, 1.5f, 1);
    std::vector<float4> spheres(SPHERES);
    for (int i = 0; i < SPHERES; i++)
        spheres[i] = make_float4(r[3 * i], r[3 * i + 1], -2 + r[3 * i + 2] / 2, 0.2f);
    float4 *d_spheres = device_copy_of(spheres.data(), SPHERES);
    Vec3 *d_fb = device_array<Vec3>(nx * ny);
    pair_time(&p, [&] { render<<<dim3(nx / 8 + 1, ny / 8 + 1), dim3(8, 8)>>>(d_fb, nx, ny, d_spheres); });
    std::vector<Vec3> fb = host_copy_of(d_fb, nx * ny);
    int wrong = 0, checked = 0;
    for (int at = 0; at < nx * ny; at += 1009, checked++) {
        Vec3 c = color_of(spheres.data(), {0, 0, 0}, way_of(at % nx, at / nx, nx, ny)) - fb[at];
        wrong += !(dot(c, c) < 1e-4f);  // at an edge another sphere may be hit
    }
    pair_near(&p, "pixels", 0, 1, wrong <= checked / 100, 0);
    return pair_end(&p);
}
