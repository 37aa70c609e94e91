// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next ping is copied to shared memory asynchronously, into a second buffer, while this one is correlated.
// Why: one block owns a beam and goes through its pings in order, so nothing else on the SM hides the time that a ping
// takes to arrive.
#include "../common.h"

#include <cuda_pipeline.h>

enum { RANGES = 1024, TAPS = 24, SAMPLES = RANGES + TAPS, BLOCK = 256, EACH = RANGES / BLOCK };

// The chirp that was sent, conjugated; complex, as the samples are.
__constant__ float2 replica[TAPS];

// An echo sounder over shoals of mackerel. Every ping is compressed by correlating it with the chirp; the running mean
// of each range then limits spikes (other ships' sounders, dolphins), and what is left is integrated over the voyage.
// Running means need the pings in order.
__global__ void __launch_bounds__(BLOCK)
    mackerels(const float2 *__restrict__ pings, float *__restrict__ integral, int count) {
    const int beam = blockIdx.x, thread = threadIdx.x;
    const float2 *mine = pings + (size_t)beam * count * SAMPLES;
    float mean[EACH], sum[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        mean[e] = 4;
        sum[e] = 0;
    }
#ifdef AFTER
    __shared__ float2 buffer[2][SAMPLES];
    for (int i = thread; i < SAMPLES; i += BLOCK)
        __pipeline_memcpy_async(&buffer[0][i], &mine[i], sizeof(float2));
    __pipeline_commit();
#else
    __shared__ float2 buffer[SAMPLES];
#endif
    for (int n = 0; n < count; n++) {
#ifdef AFTER
        if (n + 1 < count)
            for (int i = thread; i < SAMPLES; i += BLOCK)
                __pipeline_memcpy_async(&buffer[(n + 1) % 2][i], &mine[(size_t)(n + 1) * SAMPLES + i], sizeof(float2));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        const float2 *ping = buffer[n % 2];
#else
        for (int i = thread; i < SAMPLES; i += BLOCK)
            buffer[i] = mine[(size_t)n * SAMPLES + i];
        const float2 *ping = buffer;
#endif
        __syncthreads();
        float2 echo[EACH] = {};
#pragma unroll
        for (int t = 0; t < TAPS; t++)
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                float2 s = ping[thread + e * BLOCK + t];
                echo[e].x += s.x * replica[t].x - s.y * replica[t].y;
                echo[e].y += s.x * replica[t].y + s.y * replica[t].x;
            }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            float strength = fminf(echo[e].x * echo[e].x + echo[e].y * echo[e].y, 8 * mean[e]);
            mean[e] += 0.05f * (strength - mean[e]);
            sum[e] += strength;
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        integral[beam * RANGES + thread + e * BLOCK] = sum[e] / count;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mackerels");
    const int beams = p.small ? 3 : 128, count = p.small ? 4 : 200;
    const size_t n = (size_t)beams * count * SAMPLES;

    float2 chirp[TAPS], conjugate[TAPS];
    for (int t = 0; t < TAPS; t++) {
        float phase = 0.9f * t + 0.035f * t * t, shape = sinf(3.14159f * (t + 0.5f) / TAPS);
        chirp[t] = make_float2(shape * cosf(phase), shape * sinf(phase));
        conjugate[t] = make_float2(chirp[t].x, -chirp[t].y);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(replica, conjugate, sizeof conjugate));

    // Noise; the bottom, which rises slowly; fish of a shoal that the ship passes over.
    std::vector<float> noise = random_floats(2 * n, -1, 1, 11);
    std::vector<float2> pings(n);
    memcpy(pings.data(), noise.data(), n * sizeof(float2));
    unsigned seed = 12;
    auto add = [&](size_t ping, int range, float strength) {
        for (int t = 0; t < TAPS; t++) {
            pings[ping * SAMPLES + range + t].x += strength * chirp[t].x;
            pings[ping * SAMPLES + range + t].y += strength * chirp[t].y;
        }
    };
    for (size_t i = 0; i < (size_t)beams * count; i++) {
        int along = (int)(i % count);
        add(i, 900 - along / 4 - (int)(i / count) % 5, 6);
        for (int fish = 0; fish < 6 && along * 3 > count; fish++)
            add(i, 300 + lcg_next(&seed, 120), 1.5f);
        if (lcg_next(&seed, 30) == 0)
            add(i, lcg_next(&seed, RANGES), 40);
    }

    float2 *d_pings = device_copy_of(pings.data(), n);
    float *d_integral = device_array<float>(beams * RANGES);
    pair_time(&p, [&] { mackerels<<<beams, BLOCK>>>(d_pings, d_integral, count); });

    std::vector<float> integral = host_copy_of(d_integral, beams * RANGES);
    for (int i = 0; i < beams * RANGES; i += p.small ? 17 : 331) {
        double mean = 4, sum = 0;
        for (int k = 0; k < count; k++) {
            const float2 *ping = &pings[((size_t)(i / RANGES) * count + k) * SAMPLES + i % RANGES];
            double x = 0, y = 0;
            for (int t = 0; t < TAPS; t++) {
                x += (double)ping[t].x * chirp[t].x + (double)ping[t].y * chirp[t].y;
                y += (double)ping[t].y * chirp[t].x - (double)ping[t].x * chirp[t].y;
            }
            double strength = std::min(x * x + y * y, 8 * mean);
            mean += 0.05 * (strength - mean);
            sum += strength;
        }
        pair_near(&p, "integral", i, sum / count, integral[i], 2e-4);
    }
    return pair_end(&p);
}
