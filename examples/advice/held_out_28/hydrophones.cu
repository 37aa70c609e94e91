// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the samples of the next frame are loaded into a register before the current frame is filtered.
// Why: the wait for memory then passes while the CTA filters, instead of before it with nothing else to do.
#include "../common.h"

enum { FRAME = 256, TAPS = 48 };

__constant__ float g_taps[TAPS];

// Matched filter for one kind of ping. One CTA has one channel, whose frames follow each other; the last samples of a
// frame stay in shared memory for the next one.
__global__ void matched_filter(const float *signal, float *out, int frames) {
    __shared__ float window[TAPS + FRAME];
    int t = threadIdx.x;
    const float *in = signal + (size_t)blockIdx.x * frames * FRAME;
    float *to = out + (size_t)blockIdx.x * frames * FRAME;
    if (t < TAPS)
        window[t] = 0;
#ifdef AFTER
    float next = in[t];
#endif
    for (int f = 0; f < frames; f++) {
#ifdef AFTER
        window[TAPS + t] = next;
#else
        window[TAPS + t] = in[f * FRAME + t];
#endif
        __syncthreads();
#ifdef AFTER
        if (f + 1 < frames)
            next = in[(f + 1) * FRAME + t];
#endif
        float sum = 0;
#pragma unroll
        for (int k = 0; k < TAPS; k++)
            sum += g_taps[k] * window[TAPS + t - k];
        to[f * FRAME + t] = sum;
        float keep = t < TAPS ? window[FRAME + t] : 0;
        __syncthreads();
        if (t < TAPS)
            window[t] = keep;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hydrophones");
    int channels = p.small ? 5 : 260, frames = p.small ? 9 : 420;
    size_t length = (size_t)frames * FRAME, count = channels * length;
    std::vector<float> signal = random_floats(count, -1, 1, 1), taps(TAPS);
    for (int k = 0; k < TAPS; k++)
        taps[k] = cosf(0.02f * k * k) * (TAPS - k) / TAPS;
    float *d_signal = device_copy_of(signal.data(), count), *d_out = device_array<float>(count);
    CUDA_CHECK(cudaMemcpyToSymbol(g_taps, taps.data(), TAPS * sizeof(float)));
    pair_time(&p, [&] { matched_filter<<<channels, FRAME>>>(d_signal, d_out, frames); });
    std::vector<float> out = host_copy_of(d_out, count);
    for (size_t i = 0; i < count; i += 101) {
        double sum = 0;
        for (size_t k = 0; k < TAPS && k <= i % length; k++)
            sum += (double)taps[k] * signal[i - k];
        pair_near(&p, "out", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
