// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Also: sm-balance
// Change: a field is watched by eight blocks, each with some of its strips, instead of one.
// Why: there are fewer fields than the GPU has SMs, and most of these have nothing to do.
#include "../common.h"

#ifdef AFTER
enum { SHARE = 8 };
#else
enum { SHARE = 1 };
#endif
enum { BLOCK = 256 };

// Pictures of fields, strip by strip: how many pixels are of crows (dark, and moved since the picture before), and how
// near they are to the scarecrow in the middle of the strip.
__global__ void watch(const unsigned char *earlier, const unsigned char *later, int *crows, float *near, int strips,
                      int length, int dark) {
    __shared__ int counts[BLOCK / 32];
    __shared__ float sums[BLOCK / 32];
    for (int s = blockIdx.y; s < strips; s += gridDim.y) {
        size_t strip = (size_t)blockIdx.x * strips + s;
        int count = 0;
        float sum = 0;
        for (int k = threadIdx.x; k < length; k += BLOCK) {
            int was = earlier[strip * length + k], is = later[strip * length + k];
            bool crow = is < dark && abs(is - was) > 40;
            float away = fabsf((float)(k - length / 2));
            count += crow;
            sum += crow ? __fdividef(1.0f, 1.0f + away) : 0.0f;
        }
        for (int step = 16; step; step /= 2) {
            count += __shfl_down_sync(~0u, count, step);
            sum += __shfl_down_sync(~0u, sum, step);
        }
        if (threadIdx.x % 32 == 0) {
            counts[threadIdx.x / 32] = count;
            sums[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < BLOCK / 32; w++) {
                count += counts[w];
                sum += sums[w];
            }
            crows[strip] = count;
            near[strip] = sum;
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "scarecrows");
    int fields = p.small ? 2 : 96, strips = p.small ? 8 : 64, length = p.small ? 600 : 3000, dark = 80;
    size_t m = (size_t)fields * strips, n = m * length;
    std::vector<unsigned char> earlier(n), later(n);
    lcg_fill(earlier.data(), n, 1, 256);
    lcg_fill(later.data(), n, 2, 256);
    unsigned char *d_earlier = device_copy_of(earlier.data(), n), *d_later = device_copy_of(later.data(), n);
    int *d_crows = device_array<int>(m);
    float *d_near = device_array<float>(m);
    dim3 grid(fields, SHARE);
    pair_time(&p, [&] { watch<<<grid, BLOCK>>>(d_earlier, d_later, d_crows, d_near, strips, length, dark); });
    std::vector<int> crows = host_copy_of(d_crows, m);
    std::vector<float> near = host_copy_of(d_near, m);
    for (size_t strip = 0; strip < m; strip += p.small ? 1 : 7) {
        int count = 0;
        double sum = 0;
        for (int k = 0; k < length; k++) {
            int was = earlier[strip * length + k], is = later[strip * length + k];
            if (is < dark && abs(is - was) > 40) {
                count++;
                sum += 1 / (1.0 + abs(k - length / 2));
            }
        }
        pair_near(&p, "crows", strip, count, crows[strip], 0);
        pair_near(&p, "near", strip, sum, near[strip], 1e-4);
    }
    return pair_end(&p);
}
