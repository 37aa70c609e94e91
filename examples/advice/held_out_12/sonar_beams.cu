// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: eight blocks share the times of a beam.
// Why: one block for each of 60 beams leaves more than half of the SMs without work.
#include "../common.h"

enum { BLOCK = 256, HYDROPHONES = 32, BEAMS = 60 };

#ifdef AFTER
enum { SHARES = 8 };
#else
enum { SHARES = 1 };
#endif

// Delays the hydrophones of an array so that sound from one direction adds up, for each direction and time.
__global__ void sonar_beams(const float *heard, const float *delays, const float *shading, float *beams, int times) {
    __shared__ float delay[HYDROPHONES], weight[HYDROPHONES];
    int beam = blockIdx.x / SHARES, share = blockIdx.x % SHARES;
    if (threadIdx.x < HYDROPHONES) {
        delay[threadIdx.x] = delays[beam * HYDROPHONES + threadIdx.x];
        weight[threadIdx.x] = shading[threadIdx.x];
    }
    __syncthreads();
    for (int t = share * BLOCK + threadIdx.x; t < times; t += SHARES * BLOCK) {
        float sum = 0;
        for (int h = 0; h < HYDROPHONES; h++) {
            float at = (float)t + delay[h];
            int whole = min(max((int)at, 0), times - 2);
            float part = __saturatef(at - (float)whole), before = heard[h * times + whole];
            sum += weight[h] * (before + part * (heard[h * times + whole + 1] - before));
        }
        beams[beam * times + t] = sum * sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sonar_beams");
    int times = p.small ? BLOCK : 1 << 15, beam_count = p.small ? 6 : BEAMS;
    std::vector<float> heard = random_floats((size_t)HYDROPHONES * times, -1, 1, 1), delays(BEAMS * HYDROPHONES),
                       shading(HYDROPHONES);
    for (int beam = 0; beam < BEAMS; beam++)
        for (int h = 0; h < HYDROPHONES; h++)
            delays[beam * HYDROPHONES + h] = ((float)h - 15.5f) * 6.3f * sinf(0.025f * (float)(beam - BEAMS / 2));
    for (int h = 0; h < HYDROPHONES; h++)
        shading[h] = 0.54f - 0.46f * cosf(6.2832f * (float)h / (HYDROPHONES - 1));
    float *d_heard = device_copy_of(heard.data(), heard.size()),
          *d_delays = device_copy_of(delays.data(), delays.size()),
          *d_shading = device_copy_of(shading.data(), HYDROPHONES),
          *d_beams = device_array<float>((size_t)beam_count * times);
    pair_time(&p, [&] { sonar_beams<<<beam_count * SHARES, BLOCK>>>(d_heard, d_delays, d_shading, d_beams, times); });
    std::vector<float> beams = host_copy_of(d_beams, (size_t)beam_count * times);
    for (size_t i = 0; i < beams.size(); i += 97) {
        int t = (int)(i % times);
        double sum = 0;
        for (int h = 0; h < HYDROPHONES; h++) {
            double at = (float)t + delays[i / times * HYDROPHONES + h];
            int whole = std::min(std::max((int)at, 0), times - 2);
            double part = std::min(1.0, std::max(0.0, at - whole));
            const float *here = &heard[(size_t)h * times + whole];
            sum += shading[h] * (here[0] + part * (here[1] - here[0]));
        }
        pair_near(&p, "beam", i, sum * sum, beams[i], 2e-4);
    }
    return pair_end(&p);
}
