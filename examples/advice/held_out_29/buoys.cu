// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread reads the sixteen bytes of its packet by one load instead of sixteen.
// Why: sixteen loads of a byte each, 16 bytes from lane to lane, keep the load units busier than the memory.
#include "../common.h"

enum { BLOCK = 128, READINGS = 16 };

// Wave buoys radio packets of sixteen surface heights, in units of 5 cm: the significant wave height (four times the
// standard deviation) and the highest crest above the mean, both in metres.
__global__ void buoys(const unsigned char *packets, float *significant, float *crest, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    const unsigned char *packet = packets + (size_t)i * READINGS;
    unsigned sum = 0, squares = 0, top = 0;
#ifdef AFTER
    uint4 quad = *(const uint4 *)packet;
    const unsigned word[4] = {quad.x, quad.y, quad.z, quad.w};
#endif
#pragma unroll
    for (int k = 0; k < READINGS; k++) {
#ifdef AFTER
        unsigned h = word[k / 4] >> (k % 4 * 8) & 255;
#else
        unsigned h = packet[k];
#endif
        sum += h;
        squares += h * h;
        top = max(top, h);
    }
    float mean = sum * (1.0f / READINGS);
    significant[i] = 4 * 0.05f * sqrtf((squares * READINGS - sum * sum) * (1.0f / (READINGS * READINGS)));
    crest[i] = 0.05f * (top - mean);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "buoys");
    int count = p.small ? 9000 : 6000000;
    std::vector<unsigned char> packets((size_t)count * READINGS);
    unsigned seed = 5;
    for (unsigned char &h : packets)
        h = (unsigned char)(20 + lcg_next(&seed, 128) + lcg_next(&seed, 64));
    unsigned char *d_packets = device_copy_of(packets.data(), packets.size());
    float *d_significant = device_array<float>(count), *d_crest = device_array<float>(count);
    pair_time(&p, [&] { buoys<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_packets, d_significant, d_crest, count); });
    std::vector<float> significant = host_copy_of(d_significant, count), crest = host_copy_of(d_crest, count);
    for (int i = 0; i < count; i += p.small ? 11 : 1013) {
        double sum = 0, squares = 0, top = 0;
        for (int k = 0; k < READINGS; k++) {
            double h = packets[(size_t)i * READINGS + k];
            sum += h;
            squares += h * h;
            top = std::max(top, h);
        }
        double mean = sum / READINGS;
        pair_near(&p, "significant", i, 0.2 * sqrt(squares / READINGS - mean * mean), significant[i], 1e-4);
        pair_near(&p, "crest", i, 0.05 * (top - mean), crest[i], 1e-4);
    }
    return pair_end(&p);
}
