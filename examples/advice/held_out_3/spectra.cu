// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Also: block-increase
// Change: eight blocks of 128 threads share the frequencies of a channel instead of one block of 1024 having them all.
// Why: 300 blocks of 1024 threads are one wave of 264 and a second one of 36.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif
enum { LENGTH = 512, FREQUENCIES = 1024 };

__global__ void spectra(const float *signal, float *power) {
    __shared__ float samples[LENGTH];
    int channel = blockIdx.x / (FREQUENCIES / BLOCK), f = blockIdx.x % (FREQUENCIES / BLOCK) * BLOCK + threadIdx.x;
    for (int t = threadIdx.x; t < LENGTH; t += BLOCK)
        samples[t] = signal[channel * LENGTH + t];
    __syncthreads();
    float angle = 3.14159265f * f / FREQUENCIES, c = cosf(angle), s = sinf(angle);
    float turn_re = 1, turn_im = 0, re = 0, im = 0;
    for (int t = 0; t < LENGTH; t++) {
        re += samples[t] * turn_re;
        im += samples[t] * turn_im;
        float next = turn_re * c - turn_im * s;
        turn_im = turn_re * s + turn_im * c;
        turn_re = next;
    }
    power[channel * FREQUENCIES + f] = re * re + im * im;
}

// Power spectra of 300 channels.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "spectra");
    int channels = p.small ? 20 : 300;
    std::vector<float> signal = random_floats((size_t)channels * LENGTH, -1, 1, 1);
    float *d_signal = device_copy_of(signal.data(), signal.size()),
          *d_power = device_array<float>((size_t)channels * FREQUENCIES);
    pair_time(&p, [&] { spectra<<<channels *(FREQUENCIES / BLOCK), BLOCK>>>(d_signal, d_power); });
    std::vector<float> power = host_copy_of(d_power, (size_t)channels * FREQUENCIES);
    for (int channel = 0; channel < channels; channel += 7)
        for (int f = 0; f < FREQUENCIES; f += 97) {
            double re = 0, im = 0;
            for (int t = 0; t < LENGTH; t++) {
                re += signal[channel * LENGTH + t] * cos(M_PI * f * t / FREQUENCIES);
                im += signal[channel * LENGTH + t] * sin(M_PI * f * t / FREQUENCIES);
            }
            pair_near(&p, "power", (size_t)channel * FREQUENCIES + f, re * re + im * im,
                      power[(size_t)channel * FREQUENCIES + f], 5e-2);
        }
    return pair_end(&p);
}
