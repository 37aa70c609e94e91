// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: what a stitch needs is looked up in a table of factors; the switch over the kinds of stitches is gone.
// Why: every stitch goes through a switch, and the threads of a warp are at different kinds.
#include "../common.h"

enum { KINDS = 8, FACTORS = 7, BLOCK = 256 };

// Per kind: yarn = F0 + F1 * gauge + F2 * gauge * tension; tension = F3 * tension + F4; width += F5 * gauge;
// height = max(height, F6 * gauge * tension).
static const float host_factors[FACTORS][KINDS] = {
    {0.4f, 0.6f, 0.9f, 1.3f, 1.8f, 0.2f, 1.1f, 0.0f},
    {0.8f, 1.2f, 1.7f, 2.1f, 2.6f, 0.3f, 0.0f, 3.0f},
    {0.0f, 0.3f, 0.4f, 0.5f, 0.7f, 0.1f, 0.9f, 1.1f},
    {0.97f, 0.98f, 0.96f, 0.95f, 0.94f, 0.99f, 0.9f, 0.93f},
    {0.03f, 0.03f, 0.04f, 0.06f, 0.05f, 0.01f, 0.12f, 0.08f},
    {1.0f, 0.0f, 0.9f, 0.85f, 0.8f, 0.0f, -0.5f, 1.6f},
    {0.5f, 0.6f, 1.0f, 1.5f, 2.0f, 0.1f, 1.2f, 0.0f},
};

#ifdef AFTER
__constant__ float factors[FACTORS][KINDS];
#endif

// How much yarn a pattern takes and how large it gets; one thread per pattern, `stitches` bytes each.
__global__ void yarn(const unsigned char *patterns, const float *gauges, float *lengths, float2 *extents, int n,
                     int stitches) {
#ifdef AFTER
    __shared__ float table[FACTORS][KINDS];
    if (threadIdx.x < FACTORS * KINDS)
        table[threadIdx.x / KINDS][threadIdx.x % KINDS] = factors[threadIdx.x / KINDS][threadIdx.x % KINDS];
    __syncthreads();
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float gauge = gauges[i], tension = 1.0f, length = 0, width = 0, height = 0;
    for (int s = 0; s < stitches; s++) {
        int kind = patterns[(size_t)s * n + i];
        float tight = gauge * tension;
#ifdef AFTER
        length += table[0][kind] + table[1][kind] * gauge + table[2][kind] * tight;
        tension = table[3][kind] * tension + table[4][kind];
        width += table[5][kind] * gauge;
        height = fmaxf(height, table[6][kind] * tight);
#else
        switch (kind) {
        case 0:  // chain
            length += 0.4f + 0.8f * gauge;
            tension = 0.97f * tension + 0.03f;
            width += gauge;
            height = fmaxf(height, 0.5f * tight);
            break;
        case 1:  // single
            length += 0.6f + 1.2f * gauge + 0.3f * tight;
            tension = 0.98f * tension + 0.03f;
            height = fmaxf(height, 0.6f * tight);
            break;
        case 2:  // half double
            length += 0.9f + 1.7f * gauge + 0.4f * tight;
            tension = 0.96f * tension + 0.04f;
            width += 0.9f * gauge;
            height = fmaxf(height, tight);
            break;
        case 3:  // double
            length += 1.3f + 2.1f * gauge + 0.5f * tight;
            tension = 0.95f * tension + 0.06f;
            width += 0.85f * gauge;
            height = fmaxf(height, 1.5f * tight);
            break;
        case 4:  // treble
            length += 1.8f + 2.6f * gauge + 0.7f * tight;
            tension = 0.94f * tension + 0.05f;
            width += 0.8f * gauge;
            height = fmaxf(height, 2.0f * tight);
            break;
        case 5:  // slip
            length += 0.2f + 0.3f * gauge + 0.1f * tight;
            tension = 0.99f * tension + 0.01f;
            height = fmaxf(height, 0.1f * tight);
            break;
        case 6:  // two together
            length += 1.1f + 0.9f * tight;
            tension = 0.9f * tension + 0.12f;
            width -= 0.5f * gauge;
            height = fmaxf(height, 1.2f * tight);
            break;
        default:  // shell
            length += 3.0f * gauge + 1.1f * tight;
            tension = 0.93f * tension + 0.08f;
            width += 1.6f * gauge;
            break;
        }
#endif
    }
    lengths[i] = length;
    extents[i] = make_float2(width, height);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crochet");
    int n = p.small ? 256 : 132 * 2048, stitches = p.small ? 24 : 160;
    std::vector<unsigned char> patterns((size_t)n * stitches);
    lcg_fill(patterns.data(), patterns.size(), 1, KINDS);
    std::vector<float> gauges = random_floats(n, 0.3f, 0.9f, 2);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(factors, host_factors, sizeof host_factors));
#endif
    unsigned char *d_patterns = device_copy_of(patterns.data(), patterns.size());
    float *d_gauges = device_copy_of(gauges.data(), n), *d_lengths = device_array<float>(n);
    float2 *d_extents = device_array<float2>(n);
    pair_time(&p, [&] {
        yarn<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_patterns, d_gauges, d_lengths, d_extents, n, stitches);
    });
    std::vector<float> lengths = host_copy_of(d_lengths, n);
    std::vector<float2> extents = host_copy_of(d_extents, n);
    for (int i = 0; i < n; i += p.small ? 1 : 61) {
        double gauge = gauges[i], tension = 1, length = 0, width = 0, height = 0;
        for (int s = 0; s < stitches; s++) {
            int kind = patterns[(size_t)s * n + i];
            double tight = gauge * tension;
            length += host_factors[0][kind] + host_factors[1][kind] * gauge + host_factors[2][kind] * tight;
            tension = host_factors[3][kind] * tension + host_factors[4][kind];
            width += host_factors[5][kind] * gauge;
            height = std::max(height, host_factors[6][kind] * tight);
        }
        pair_near(&p, "length", i, length, lengths[i], 1e-3);
        pair_near(&p, "width", i, width, extents[i].x, 1e-3);
        pair_near(&p, "height", i, height, extents[i].y, 1e-3);
    }
    return pair_end(&p);
}
