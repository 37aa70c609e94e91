// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a CTA asks for the shared memory of the frames that there are, not of the longest frame that is supported.
// Why: 72 KiB a CTA let only three CTAs of four warps be resident on an SM, too few to hide the barriers and the serial
// recursion at a frame's end; with 4 KiB shared memory no longer limits, and a dozen CTAs fit.
#include "../common.h"

// Linear prediction of speech: the filter of the vocal tract in every frame, by which voices are coded.
constexpr int THREADS = 128;
constexpr int ORDER = 12;
[[maybe_unused]] constexpr int MAX_FRAME = 18432;  // 96 ms at 192 kHz
constexpr float EMPHASIS = 0.97f;

// One CTA a frame: window, autocorrelation, Levinson-Durbin. filters: [frame][ORDER + 1], the last is the residual.
__global__ void __launch_bounds__(THREADS)
    predict_frames(float *__restrict__ filters, const float *__restrict__ speech, const float *__restrict__ window,
                   int length, int hop) {
    extern __shared__ float frame[];
    __shared__ float correlation[ORDER + 1];
    const float *samples = speech + (size_t)blockIdx.x * hop;
    for (int i = threadIdx.x; i < length; i += THREADS)
        frame[i] = window[i] * (samples[i + 1] - EMPHASIS * samples[i]);
    __syncthreads();

    int lane = threadIdx.x % 32;
    for (int lag = threadIdx.x / 32; lag <= ORDER; lag += THREADS / 32) {
        float sum = 0;
        for (int i = lane; i < length - lag; i += 32)
            sum += frame[i] * frame[i + lag];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
        if (lane == 0)
            correlation[lag] = sum;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        float filter[ORDER], residual = correlation[0] + 1e-3f;
#pragma unroll
        for (int m = 0; m < ORDER; m++) {
            float reflection = correlation[m + 1];
#pragma unroll
            for (int j = 0; j < m; j++)
                reflection -= filter[j] * correlation[m - j];
            reflection /= residual;
            filter[m] = reflection;
#pragma unroll
            for (int j = 0; j < m / 2; j++) {
                float low = filter[j], high = filter[m - 1 - j];
                filter[j] = low - reflection * high;
                filter[m - 1 - j] = high - reflection * low;
            }
            if (m % 2)
                filter[m / 2] -= reflection * filter[m / 2];
            residual *= 1 - reflection * reflection;
        }
        float *result = filters + (size_t)blockIdx.x * (ORDER + 1);
#pragma unroll
        for (int m = 0; m < ORDER; m++)
            result[m] = filter[m];
        result[ORDER] = residual;
    }
}

static void predict_on_cpu(double *result, const float *samples, const float *window, int length) {
    std::vector<double> frame(length);
    for (int i = 0; i < length; i++)
        frame[i] = window[i] * (samples[i + 1] - EMPHASIS * samples[i]);
    double correlation[ORDER + 1] = {0}, residual;
    for (int lag = 0; lag <= ORDER; lag++)
        for (int i = 0; i + lag < length; i++)
            correlation[lag] += frame[i] * frame[i + lag];
    residual = correlation[0] + 1e-3;
    for (int m = 0; m < ORDER; m++) {
        double reflection = correlation[m + 1], old[ORDER];
        for (int j = 0; j < m; j++)
            reflection -= result[j] * correlation[m - j];
        reflection /= residual;
        std::copy(result, result + m, old);
        for (int j = 0; j < m; j++)
            result[j] = old[j] - reflection * old[m - 1 - j];
        result[m] = reflection;
        residual *= 1 - reflection * reflection;
    }
    result[ORDER] = residual;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "voices");
    int length = p.small ? 400 : 1024, hop = p.small ? 160 : 400, frames = p.small ? 6 : 20000;
    std::vector<float> speech = random_floats((size_t)(frames - 1) * hop + length + 1, -1.0f, 1.0f, 51);
    for (size_t i = 2; i < speech.size(); i++)  // two resonances' worth of colour
        speech[i] = 0.3f * speech[i] + 1.1f * speech[i - 1] - 0.6f * speech[i - 2];
    std::vector<float> window(length);
    for (int i = 0; i < length; i++)
        window[i] = 0.54f - 0.46f * cosf(6.2831853f * i / (length - 1));

    float *d_speech = device_copy_of(speech.data(), speech.size());
    float *d_window = device_copy_of(window.data(), length);
    float *d_filters = device_array<float>((size_t)frames * (ORDER + 1));

#ifdef AFTER
    int shared = length * sizeof(float);
#else
    int shared = MAX_FRAME * sizeof(float);
#endif
    CUDA_CHECK(cudaFuncSetAttribute(predict_frames, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    pair_time(&p,
              [&] { predict_frames<<<frames, THREADS, shared>>>(d_filters, d_speech, d_window, length, hop); });

    std::vector<float> filters = host_copy_of(d_filters, (size_t)frames * (ORDER + 1));
    for (int f = 0; f < frames; f += p.small ? 1 : 61) {
        double expected[ORDER + 1];
        predict_on_cpu(expected, &speech[(size_t)f * hop], window.data(), length);
        for (int m = 0; m <= ORDER; m++)
            pair_near(&p, "filter", f * (ORDER + 1) + m, expected[m], filters[f * (ORDER + 1) + m], 2e-3);
    }
    CUDA_CHECK(cudaFree(d_speech));
    CUDA_CHECK(cudaFree(d_window));
    CUDA_CHECK(cudaFree(d_filters));
    return pair_end(&p);
}
