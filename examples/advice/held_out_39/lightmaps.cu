// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the powers, exponentials and cosines of the bake are the hardware's approximations.
// Why: powf() and the like are dozens of instructions each to be right to the last bit; the light map is stored with
//      8 bits a channel.
#include "../common.h"

enum { BLOCK = 128, LAMPS = 24 };

// A spot lamp: place and brightness, where it points and how sharply, the flicker of its glass and the haze around.
struct Lamp {
    float x, y, z, brightness;
    float aim_x, aim_y, aim_z, sharpness;
    float facets, twist, haze, gloss;
};

#ifdef AFTER
__device__ inline float power(float x, float y) { return __powf(x, y); }
__device__ inline float exponential(float x) { return __expf(x); }
__device__ inline float cosine(float x) { return __cosf(x); }
#else
__device__ inline float power(float x, float y) { return powf(x, y); }
__device__ inline float exponential(float x) { return expf(x); }
__device__ inline float cosine(float x) { return cosf(x); }
#endif

// What one lamp gives to a point of the surface: cone, glass, haze, and the diffuse and glossy parts of the paint.
__device__ inline float lit(const Lamp &lamp, float4 place, float4 normal) {
    float dx = lamp.x - place.x, dy = lamp.y - place.y, dz = lamp.z - place.z;
    float d2 = dx * dx + dy * dy + dz * dz, per_d = rsqrtf(d2);
    float facing = (dx * normal.x + dy * normal.y + dz * normal.z) * per_d;
    float aimed = -(dx * lamp.aim_x + dy * lamp.aim_y + dz * lamp.aim_z) * per_d;
    float cone = power(fmaxf(aimed, 0.001f), lamp.sharpness);
    float glass = 0.8f + 0.2f * cosine(lamp.facets * aimed + lamp.twist);
    float clear = exponential(-lamp.haze * d2 * per_d);
    float front = fmaxf(facing, 0.001f);
    float paint = (1 - normal.w) * front + normal.w * power(front, lamp.gloss);
    return lamp.brightness * cone * glass * clear * paint * per_d * per_d;
}

// One texel of the light map: all lamps, exposure, and the curve of the display.
__global__ void __launch_bounds__(BLOCK) bake(const float4 *__restrict__ place, const float4 *__restrict__ normal,
                                              const Lamp *__restrict__ lamp, int texels, float exposure,
                                              unsigned char *map) {
    __shared__ Lamp lamps[LAMPS];
    for (int i = threadIdx.x; i < LAMPS; i += BLOCK)
        lamps[i] = lamp[i];
    __syncthreads();
    int t = blockIdx.x * BLOCK + threadIdx.x;
    if (t >= texels)
        return;
    float4 here = place[t], up = normal[t];
    float light = here.w;  // ambient
    for (int i = 0; i < LAMPS; i++)
        light += lit(lamps[i], here, up);
    float shown = power(1 - exponential(-exposure * light) + 1e-6f, 1 / 2.2f);
    map[t] = (unsigned char)(255 * fminf(shown, 1.0f) + 0.5f);
}

static double reference(const std::vector<Lamp> &lamps, float4 place, float4 normal, double exposure) {
    double light = place.w;
    for (const Lamp &l : lamps) {
        double dx = l.x - place.x, dy = l.y - place.y, dz = l.z - place.z, d = sqrt(dx * dx + dy * dy + dz * dz);
        double facing = (dx * normal.x + dy * normal.y + dz * normal.z) / d;
        double aimed = -(dx * l.aim_x + dy * l.aim_y + dz * l.aim_z) / d, front = std::max(facing, 0.001);
        double paint = (1 - normal.w) * front + normal.w * pow(front, l.gloss);
        double cone = pow(std::max(aimed, 0.001), l.sharpness), glass = 0.8 + 0.2 * cos(l.facets * aimed + l.twist);
        light += l.brightness * cone * glass * exp(-l.haze * d) * paint / (d * d);
    }
    return 255 * std::min(pow(1 - exp(-exposure * light) + 1e-6, 1 / 2.2), 1.0);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lightmaps");
    int texels = p.small ? 3000 : 2048 * 1024;
    float exposure = 0.8f;
    std::vector<float> at = random_floats((size_t)texels * 4, 0, 1, 1),
                       tilt = random_floats((size_t)texels * 3, -1, 1, 2), r = random_floats(LAMPS * 9, 0, 1, 3);
    std::vector<float4> place, normal;
    for (int t = 0; t < texels; t++) {
        float x = 0.3f * tilt[t * 3], y = 0.3f * tilt[t * 3 + 1], z = sqrtf(1 - x * x - y * y);
        place.push_back(make_float4(20 * at[t * 4], 20 * at[t * 4 + 1], at[t * 4 + 2], 0.02f * at[t * 4 + 3]));
        normal.push_back(make_float4(x, y, z, 0.3f + 0.2f * tilt[t * 3 + 2]));
    }
    std::vector<Lamp> lamps;
    for (int i = 0; i < LAMPS; i++) {
        const float *q = &r[i * 9];
        float x = q[0] - 0.5f, y = q[1] - 0.5f, z = -1, length = sqrtf(x * x + y * y + 1);
        lamps.push_back({20 * q[2], 20 * q[3], 3 + 3 * q[4], 5 + 10 * q[5], x / length, y / length, z / length,
                         4 + 12 * q[6], 3 + 4 * q[7], 6 * q[8], 0.02f + 0.05f * q[6], 8 + 20 * q[7]});
    }
    float4 *d_place = device_copy_of(place.data(), texels), *d_normal = device_copy_of(normal.data(), texels);
    Lamp *d_lamps = device_copy_of(lamps.data(), LAMPS);
    unsigned char *d_map = device_array<unsigned char>(texels);
    pair_time(&p, [&] {
        bake<<<(texels + BLOCK - 1) / BLOCK, BLOCK>>>(d_place, d_normal, d_lamps, texels, exposure, d_map);
    });
    std::vector<unsigned char> map = host_copy_of(d_map, texels);
    for (int t = 0; t < texels; t += p.small ? 1 : 211) {
        double exact = reference(lamps, place[t], normal[t], exposure);
        pair_near(&p, "map", t, 0, std::max(fabs(map[t] - exact) - 0.55, 0.0), 0);
    }
    return pair_end(&p);
}
