// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a thread reads the scans that its RUN results need once, before the first result; each result read its own.
// Why: windows of scans next to each other overlap in all but one scan, but as a result is stored between them the
//      compiler has to read the whole window again: 264 loads a thread instead of 40.
#include "../common.h"

enum { BLOCK = 128, RADIUS = 16, TAPS = 2 * RADIUS + 1, RUN = 8, SPAN = RUN + 2 * RADIUS };

__constant__ float coefficients[TAPS];

// Savitzky-Golay smoothing of a chromatogram along the time. A row is a scan of the mass spectrometer, a column one of
// its channels; RADIUS scans before the first one and after the last one are there too. Thread: RUN scans of a channel.
__global__ void smooth(const float *raw, float *smoothed, int channels, int scans, float noise) {
    int channel = blockIdx.x * BLOCK + threadIdx.x, first = blockIdx.y * RUN;
    if (channel >= channels)
        return;
    const float *in = raw + (size_t)first * channels + channel;
    float *out = smoothed + (size_t)first * channels + channel;
#ifdef AFTER
    float near[SPAN];
#pragma unroll
    for (int s = 0; s < SPAN; s++)
        near[s] = in[(size_t)s * channels];
#endif
#pragma unroll
    for (int r = 0; r < RUN; r++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < TAPS; k++) {
#ifdef AFTER
            sum += coefficients[k] * near[r + k];
#else
            sum += coefficients[k] * in[(size_t)(r + k) * channels];
#endif
        }
        out[(size_t)r * channels] = sum < noise ? 0 : sum - noise;
    }
}

// The weights of a least squares parabola, for its value in the middle of the window.
static std::vector<float> parabola_weights() {
    double n = TAPS, m2 = 0, m4 = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        m2 += k * k;
        m4 += (double)k * k * k * k;
    }
    std::vector<float> weights;
    for (int k = -RADIUS; k <= RADIUS; k++)
        weights.push_back((float)((m4 - m2 * k * k) / (n * m4 - m2 * m2)));
    return weights;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "solvents");
    int channels = p.small ? 200 : 8000, scans = p.small ? 40 : 4096;
    float noise = 0.4f;
    std::vector<float> weights = parabola_weights();
    CUDA_CHECK(cudaMemcpyToSymbol(coefficients, weights.data(), TAPS * sizeof(float)));
    std::vector<float> raw = random_floats((size_t)(scans + 2 * RADIUS) * channels, 0, 1, 11);
    for (int peak = 0; peak < 50; peak++) {  // a substance leaves the column
        int channel = peak * 37 % channels, middle = RADIUS + peak * 101 % scans;
        for (int s = std::max(middle - 12, 0); s < std::min(middle + 12, scans); s++)
            raw[(size_t)s * channels + channel] += 20 * expf(-0.05f * (s - middle) * (s - middle));
    }
    float *d_raw = device_copy_of(raw.data(), raw.size()), *d_smoothed = device_array<float>((size_t)scans * channels);
    dim3 blocks((channels + BLOCK - 1) / BLOCK, scans / RUN);
    pair_time(&p, [&] { smooth<<<blocks, BLOCK>>>(d_raw, d_smoothed, channels, scans, noise); });
    std::vector<float> smoothed = host_copy_of(d_smoothed, (size_t)scans * channels);
    for (int s = 0; s < scans; s++)
        for (int c = s % 7; c < channels; c += p.small ? 3 : 61) {
            double sum = 0;
            for (int k = 0; k < TAPS; k++)
                sum += (double)weights[k] * raw[(size_t)(s + k) * channels + c];
            pair_near(&p, "smoothed", (size_t)s * channels + c, std::max(sum - noise, 0.0),
                      smoothed[(size_t)s * channels + c], 1e-4);
        }
    return pair_end(&p);
}
