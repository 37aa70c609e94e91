// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powf, sinf and cosf become __powf, __sinf and __cosf.
// Why: the exact functions are most of what a thread executes: it loads and stores but two numbers.
#include "../common.h"

enum { BLOCK = 256, PAIRS = 64 };

// Rotary position embedding: each pair of a head's numbers is turned by an angle that grows with the position.
__global__ void rope(const float2 *in, float2 *out, const int *position, int heads) {
    int i = blockIdx.x * BLOCK + threadIdx.x, pair = i % PAIRS, token = i / PAIRS / heads;
#ifdef AFTER
    float angle = position[token] * __powf(10000.0f, -pair / (float)PAIRS);
    float s = __sinf(angle), c = __cosf(angle);
#else
    float angle = position[token] * powf(10000.0f, -pair / (float)PAIRS);
    float s = sinf(angle), c = cosf(angle);
#endif
    float2 x = in[i];
    out[i] = make_float2(x.x * c - x.y * s, x.x * s + x.y * c);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rope");
    int tokens = p.small ? 64 : 1 << 13, heads = p.small ? 8 : 32, n = tokens * heads * PAIRS;
    std::vector<float> in = random_floats(2 * (size_t)n, -1, 1, 1);
    std::vector<int> position(tokens);
    lcg_fill(position.data(), tokens, 2, 512);
    float2 *d_in = device_copy_of((const float2 *)in.data(), n), *d_out = device_array<float2>(n);
    int *d_position = device_copy_of(position.data(), tokens);
    pair_time(&p, [&] { rope<<<n / BLOCK, BLOCK>>>(d_in, d_out, d_position, heads); });
    std::vector<float2> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        double angle = position[i / PAIRS / heads] * pow(10000, -(i % PAIRS) / (double)PAIRS);
        pair_near(&p, "x", i, in[2 * (size_t)i] * cos(angle) - in[2 * (size_t)i + 1] * sin(angle), out[i].x, 2e-3);
        pair_near(&p, "y", i, in[2 * (size_t)i] * sin(angle) + in[2 * (size_t)i + 1] * cos(angle), out[i].y, 2e-3);
    }
    return pair_end(&p);
}
