// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: a tapestry is divided into eight strips, each with a block of its own, instead of one block for all of it.
// Why: there are fewer tapestries than SMs; most of the device has nothing to do.
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
enum { STRIPS = 8 };
#else
enum { STRIPS = 1 };
#endif

__device__ static float3 lab_of(uchar4 colour) {
    float r = colour.x / 255.0f, g = colour.y / 255.0f, b = colour.z / 255.0f;
    r *= r;
    g *= g;
    b *= b;
    float x = cbrtf((0.4125f * r + 0.3576f * g + 0.1804f * b) * 1.0521f);
    float y = cbrtf(0.2127f * r + 0.7152f * g + 0.0722f * b);
    float z = cbrtf((0.0193f * r + 0.1192f * g + 0.9503f * b) * 0.9184f);
    return make_float3(116.0f * y - 16.0f, 500.0f * (x - y), 200.0f * (y - z));
}

// How much the colours have faded: the photograph of the front against that of the back, which saw no light.
__global__ void fading(const uchar4 *front, const uchar4 *back, float *sums, int *worst, int pixels) {
    __shared__ float warp_sums[BLOCK / 32], warp_worst[BLOCK / 32];
    int per_strip = pixels / STRIPS;
    size_t first = (size_t)blockIdx.x * pixels + (size_t)blockIdx.y * per_strip;
    float sum = 0, most = 0;
    for (int i = threadIdx.x; i < per_strip; i += BLOCK) {
        float3 now = lab_of(front[first + i]), then = lab_of(back[first + i]);
        float dl = now.x - then.x, da = now.y - then.y, db = now.z - then.z;
        float difference = sqrtf(dl * dl + da * da + db * db);
        sum += difference;
        most = fmaxf(most, difference);
    }
    for (int gap = 16; gap; gap >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, gap);
        most = fmaxf(most, __shfl_xor_sync(~0u, most, gap));
    }
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = sum;
        warp_worst[threadIdx.x / 32] = most;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++) {
            sum += warp_sums[w];
            most = fmaxf(most, warp_worst[w]);
        }
        atomicAdd(&sums[blockIdx.x], sum);
        atomicMax(&worst[blockIdx.x], __float_as_int(most));  // never negative
    }
}

static void host_lab(uchar4 colour, double out[3]) {
    double r = colour.x / 255.0, g = colour.y / 255.0, b = colour.z / 255.0;
    r *= r;
    g *= g;
    b *= b;
    double x = cbrt((0.4125 * r + 0.3576 * g + 0.1804 * b) * 1.0521), y = cbrt(0.2127 * r + 0.7152 * g + 0.0722 * b),
           z = cbrt((0.0193 * r + 0.1192 * g + 0.9503 * b) * 0.9184);
    out[0] = 116 * y - 16;
    out[1] = 500 * (x - y);
    out[2] = 200 * (y - z);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tapestries");
    int tapestries = p.small ? 2 : 44, pixels = p.small ? 512 : 512 * 512;
    size_t n = (size_t)tapestries * pixels;
    std::vector<uchar4> front(n), back(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned a = lcg_next(&seed, 1 << 24), b = lcg_next(&seed, 1 << 15);
        back[i] = make_uchar4(10 + (a & 127), 10 + (a >> 8 & 127), 10 + (a >> 16 & 127), 255);
        front[i] = make_uchar4(back[i].x + (b & 31), back[i].y + (b >> 5 & 31), back[i].z + (b >> 10), 255);
    }
    uchar4 *d_front = device_copy_of(front.data(), n), *d_back = device_copy_of(back.data(), n);
    float *d_sums = device_array<float>(tapestries);
    int *d_worst = device_array<int>(tapestries);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_sums, 0, tapestries * sizeof(float)));
        CUDA_CHECK(cudaMemsetAsync(d_worst, 0, tapestries * sizeof(int)));
        fading<<<dim3(tapestries, STRIPS), BLOCK>>>(d_front, d_back, d_sums, d_worst, pixels);
    });
    std::vector<float> sums = host_copy_of(d_sums, tapestries);
    std::vector<int> worst = host_copy_of(d_worst, tapestries);
    for (int t = 0; t < tapestries; t += p.small ? 1 : 7) {
        double sum = 0, most = 0;
        for (int i = 0; i < pixels; i++) {
            double now[3], then[3], d2 = 0;
            host_lab(front[(size_t)t * pixels + i], now);
            host_lab(back[(size_t)t * pixels + i], then);
            for (int c = 0; c < 3; c++)
                d2 += (now[c] - then[c]) * (now[c] - then[c]);
            sum += sqrt(d2);
            most = std::max(most, sqrt(d2));
        }
        float got;
        memcpy(&got, &worst[t], sizeof got);
        pair_near(&p, "sum", t, sum, sums[t], 1e-3);
        pair_near(&p, "worst", t, most, got, 1e-3);
    }
    return pair_end(&p);
}
