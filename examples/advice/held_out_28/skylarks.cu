// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a CTA asks for shared memory for the frame's actual length instead of for the longest one allowed.
// Why: 40 KB each let only five CTAs of four warps on an SM; 4.7 KB let sixteen.
#include "../common.h"

enum { BLOCK = 128, LONGEST = 10240 };

__device__ float sum_of_block(float value, float *partial) {
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < BLOCK / 32; w++)
        sum += partial[w];
    __syncthreads();
    return sum;
}

// One CTA for each frame of a recording of bird song: pre-emphasis, then mean 0 and variance 1.
__global__ void __launch_bounds__(BLOCK) skylarks(const short *sound, float *frames, int length, float emphasis) {
    extern __shared__ float frame[];
    __shared__ float partial[BLOCK / 32];
    const short *in = sound + (size_t)blockIdx.x * length;
    float sum = 0;
    for (int i = threadIdx.x; i < length; i += BLOCK) {
        float sample = in[i] - emphasis * (i ? in[i - 1] : 0);
        frame[i] = sample;
        sum += sample;
    }
    float mean = sum_of_block(sum, partial) / length;
    float squares = 0;
    for (int i = threadIdx.x; i < length; i += BLOCK) {
        float d = frame[i] - mean;
        squares += d * d;
    }
    float scale = rsqrtf(sum_of_block(squares, partial) / length + 1e-3f);
    float *out = frames + (size_t)blockIdx.x * length;
    for (int i = threadIdx.x; i < length; i += BLOCK)
        out[i] = (frame[i] - mean) * scale;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "skylarks");
    int frames = p.small ? 40 : 42000, length = p.small ? 600 : 1200;
    const float emphasis = 0.95f;
#ifdef AFTER
    size_t bytes = length * sizeof(float);
#else
    size_t bytes = LONGEST * sizeof(float);
#endif
    size_t n = (size_t)frames * length;
    std::vector<short> sound(n);
    unsigned seed = 77;
    for (short &s : sound)
        s = (short)((int)lcg_next(&seed, 20000) - 9000);
    short *d_sound = device_copy_of(sound.data(), n);
    float *d_frames = device_array<float>(n);
    pair_time(&p, [&] { skylarks<<<frames, BLOCK, bytes>>>(d_sound, d_frames, length, emphasis); });
    std::vector<float> got = host_copy_of(d_frames, n);
    for (int f = 0; f < frames; f += 1 + frames / 40) {
        const short *in = &sound[(size_t)f * length];
        std::vector<double> frame(length);
        double mean = 0, squares = 0;
        for (int i = 0; i < length; i++) {
            frame[i] = in[i] - (double)emphasis * (i ? in[i - 1] : 0);
            mean += frame[i] / length;
        }
        for (double x : frame)
            squares += (x - mean) * (x - mean);
        double scale = 1 / sqrt(squares / length + 1e-3);
        for (int i = 0; i < length; i += 7)
            pair_near(&p, "frame", (size_t)f * length + i, (frame[i] - mean) * scale, got[(size_t)f * length + i],
                      1e-4);
    }
    return pair_end(&p);
}
