// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: gf_multiply() is inlined.
// Why: it is short and called for every byte: jumps and moves add up, and nothing is scheduled across a call.
#include "../common.h"

#include <cstdint>

#ifdef AFTER
#define GF_CALL __forceinline__
#else
#define GF_CALL __noinline__
#endif

namespace {

constexpr int PACKET = 204, SYNDROMES = 16, PACKETS_PER_BLOCK = 12;

// In the field of 256 elements of the DVB standard: x^8 + x^4 + x^3 + x^2 + 1.
__device__ GF_CALL uint32_t gf_multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    while (b) {
        product ^= a & -(b & 1);
        a = (a << 1) ^ (0x11d & -(a >> 7));
        b >>= 1;
    }
    return product;
}

// Reed-Solomon (204, 188): the syndromes of received packets, all 0 if the packet came through. A thread does one
// syndrome of one packet, as the packet's value at that root by Horner's rule.
__global__ void syndromes(const uint8_t *stream, const uint8_t *roots, uint8_t *out, int packets) {
    int packet = blockIdx.x * PACKETS_PER_BLOCK + threadIdx.y;
    if (packet >= packets)
        return;
    const uint8_t *byte = stream + (size_t)packet * PACKET, *end = byte + PACKET;
    uint32_t root = roots[threadIdx.x], value = 0;
    for (; byte != end; ++byte)
        value = gf_multiply(value, root) ^ *byte;
    out[packet * SYNDROMES + threadIdx.x] = (uint8_t)value;
}

}  // namespace

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "broadcasts");
    int packets = p.small ? 90 : 150000;

    uint8_t power[255 + SYNDROMES * PACKET];
    int logarithm[256] = {0};
    for (int i = 0, a = 1; i < (int)sizeof power; i++) {
        power[i] = (uint8_t)a;
        if (i < 255)
            logarithm[a] = i;
        a = a << 1 ^ (a & 0x80 ? 0x11d : 0);
    }

    std::vector<uint8_t> stream((size_t)packets * PACKET);
    lcg_fill(stream.data(), stream.size(), 188, 256);
    uint8_t *d_stream = device_copy_of(stream.data(), stream.size()), *d_roots = device_copy_of(power, SYNDROMES);
    uint8_t *d_out = device_array<uint8_t>((size_t)packets * SYNDROMES);
    dim3 block(SYNDROMES, PACKETS_PER_BLOCK);
    int blocks = (packets + PACKETS_PER_BLOCK - 1) / PACKETS_PER_BLOCK;
    pair_time(&p, [&] { syndromes<<<blocks, block>>>(d_stream, d_roots, d_out, packets); });

    std::vector<uint8_t> out = host_copy_of(d_out, (size_t)packets * SYNDROMES);
    for (int k = 0; k < packets; k += p.small ? 1 : 211)
        for (int j = 0; j < SYNDROMES; j++) {
            int expected = 0;
            for (int n = 0; n < PACKET; n++) {
                int value = stream[(size_t)k * PACKET + n];
                expected ^= value ? power[(logarithm[value] + j * (PACKET - 1 - n)) % 255] : 0;
            }
            pair_near(&p, "syndrome", (size_t)k * SYNDROMES + j, expected, out[k * SYNDROMES + j], 0);
        }
    return pair_end(&p);
}
