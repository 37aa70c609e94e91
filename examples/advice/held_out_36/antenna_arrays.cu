// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: consecutive threads take consecutive frequency channels of one antenna instead of the same channel of
// consecutive antennas.
// Why: the samples are stored with the channel running fastest, so a warp's loads fall into two sectors instead of 32;
// only the results, which are far fewer than the samples, are now written with a stride.
#include "../common.h"

// The statistics stage of a radio telescope's correlator. Every antenna delivers 8-bit complex voltages, one for each
// time step and channel; for each window of time steps the stage computes the mean power and the spectral kurtosis,
// by which channels with man-made interference are recognised.

constexpr int WINDOW = 128;   // time steps of one window
constexpr int THREADS = 256;
constexpr float SK_LOW = 0.77f, SK_HIGH = 1.30f;  // what noise alone gives

struct Shape {
    int antennas, channels, windows;
};

// voltages: [antenna][time][channel]; power and kurtosis: [window][channel][antenna], as the calibration wants them.
__global__ void channel_statistics(const char2 *voltages, const float *gain, Shape shape, float *power,
                                   float *kurtosis, unsigned char *flag) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= shape.antennas * shape.channels)
        return;
#ifdef AFTER
    int channel = index % shape.channels, antenna = index / shape.channels;
#else
    int antenna = index % shape.antennas, channel = index / shape.antennas;
#endif
    int window = blockIdx.y;
    size_t steps = (size_t)shape.windows * WINDOW;
    const char2 *v = voltages + (antenna * steps + (size_t)window * WINDOW) * shape.channels + channel;

    float sum = 0, squares = 0;
#pragma unroll 4
    for (int t = 0; t < WINDOW; t++) {
        char2 sample = v[(size_t)t * shape.channels];
        float p = (float)(sample.x * sample.x + sample.y * sample.y);
        sum += p;
        squares += p * p;
    }

    const float m = WINDOW;
    float sk = sum > 0 ? (m + 1) / (m - 1) * (m * squares / (sum * sum) - 1) : 0.0f;
    size_t out = ((size_t)window * shape.channels + channel) * shape.antennas + antenna;
    power[out] = gain[antenna] * sum / m;
    kurtosis[out] = sk;
    flag[out] = sk < SK_LOW || sk > SK_HIGH;
}

// Roughly Gaussian noise; one channel in 37 has a carrier that is switched on and off.
static std::vector<char2> make_voltages(Shape s) {
    unsigned seed = 4711;
    int steps = s.windows * WINDOW;
    std::vector<char2> v((size_t)s.antennas * steps * s.channels);
    size_t at = 0;
    for (int a = 0; a < s.antennas; a++)
        for (int t = 0; t < steps; t++)
            for (int c = 0; c < s.channels; c++) {
                unsigned bits = lcg_next(&seed, 1u << 24);
                int re = (int)(bits & 31) + (int)(bits >> 5 & 31) - 31;
                int im = (int)(bits >> 10 & 31) + (int)(bits >> 15 & 31) - 31;
                if (c % 37 == 5 && (t / 8) % 4 == 0)
                    re += 60;
                v[at++] = make_char2((signed char)re, (signed char)im);
            }
    return v;
}

static void check(Pair *p, Shape s, const std::vector<char2> &v, const std::vector<float> &gain, const float *power,
                  const float *kurtosis, const unsigned char *flag) {
    size_t count = (size_t)s.windows * s.channels * s.antennas;
    std::vector<float> got_power = host_copy_of(power, count), got_sk = host_copy_of(kurtosis, count);
    std::vector<unsigned char> got_flag = host_copy_of(flag, count);
    size_t steps = (size_t)s.windows * WINDOW;
    for (size_t i = 0; i < count; i += p->small ? 3 : 97) {
        int antenna = i % s.antennas, channel = i / s.antennas % s.channels;
        size_t window = i / s.antennas / s.channels;
        double sum = 0, squares = 0;
        for (int t = 0; t < WINDOW; t++) {
            char2 x = v[(antenna * steps + window * WINDOW + t) * s.channels + channel];
            double q = x.x * x.x + x.y * x.y;
            sum += q;
            squares += q * q;
        }
        double sk = (WINDOW + 1.0) / (WINDOW - 1.0) * (WINDOW * squares / (sum * sum) - 1);
        pair_near(p, "power", i, gain[antenna] * sum / WINDOW, got_power[i], 1e-4);
        pair_near(p, "kurtosis", i, sk, got_sk[i], 1e-4);
        if (fabs(sk - SK_LOW) > 1e-3 && fabs(sk - SK_HIGH) > 1e-3)
            pair_near(p, "flag", i, sk < SK_LOW || sk > SK_HIGH, got_flag[i], 0);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "antenna_arrays");
    Shape s = p.small ? Shape{16, 32, 1} : Shape{64, 1024, 4};
    std::vector<char2> voltages = make_voltages(s);
    std::vector<float> gain = random_floats(s.antennas, 0.8f, 1.2f, 99);
    size_t count = (size_t)s.windows * s.channels * s.antennas;

    char2 *d_voltages = device_copy_of(voltages.data(), voltages.size());
    float *d_gain = device_copy_of(gain.data(), gain.size());
    float *d_power = device_array<float>(count), *d_kurtosis = device_array<float>(count);
    unsigned char *d_flag = device_array<unsigned char>(count);

    dim3 grid((s.antennas * s.channels + THREADS - 1) / THREADS, s.windows);
    pair_time(&p, [&] {
        channel_statistics<<<grid, THREADS>>>(d_voltages, d_gain, s, d_power, d_kurtosis, d_flag);
    });
    check(&p, s, voltages, gain, d_power, d_kurtosis, d_flag);

    CUDA_CHECK(cudaFree(d_voltages));
    CUDA_CHECK(cudaFree(d_gain));
    CUDA_CHECK(cudaFree(d_power));
    CUDA_CHECK(cudaFree(d_kurtosis));
    CUDA_CHECK(cudaFree(d_flag));
    return pair_end(&p);
}
