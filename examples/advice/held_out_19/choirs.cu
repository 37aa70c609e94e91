// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a block take the singers in turn instead of a run of neighbours each.
// Why: each singer is heard against those that come later in the list, so that the first warp has most of the pairs
// and the last hardly any, and all of them wait at the barrier.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, MOST = 64 };

// How rough a choir sounds from moment to moment: the beats of the partials of all pairs of singers; a block per choir.
__global__ void roughness(const float *pitches, const float *voices, float *rough, int singers, int moments) {
    __shared__ float pitch[MOST], voice[MOST], of_singer[MOST];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, each = singers / WARPS;
    float lower = 1 + lane % 8, upper = fmaxf(lower + lane / 8 - 1, 1.0f), weight = 1.0f / (lower * upper);
    for (int m = 0; m < moments; m++) {
        size_t row = (size_t)blockIdx.x * moments + m;
        if (threadIdx.x < singers) {
            pitch[threadIdx.x] = pitches[row * singers + threadIdx.x];
            voice[threadIdx.x] = voices[row * singers + threadIdx.x];
        }
        __syncthreads();
        for (int k = 0; k < each; k++) {
#ifdef AFTER
            int i = k * WARPS + warp;
#else
            int i = warp * each + k;
#endif
            float ours = lower * pitch[i], sum = 0;
            for (int j = i + 1; j < singers; j++) {
                float theirs = upper * pitch[j];
                float apart = __fdividef(fabsf(ours - theirs), 19.0f + 0.021f * fminf(ours, theirs));
                sum += voice[j] * (__expf(-0.84f * apart) - __expf(-1.38f * apart));
            }
            sum *= weight * voice[i];
            for (int gap = 16; gap; gap >>= 1)
                sum += __shfl_xor_sync(~0u, sum, gap);
            if (lane == 0)
                of_singer[i] = sum;
        }
        __syncthreads();
        if (warp == 0) {
            float all = 0;
            for (int i = lane; i < singers; i += 32)
                all += of_singer[i];
            for (int gap = 16; gap; gap >>= 1)
                all += __shfl_xor_sync(~0u, all, gap);
            if (lane == 0)
                rough[row] = all;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "choirs");
    int choirs = p.small ? 1 : 264, singers = p.small ? 16 : MOST, moments = p.small ? 1 : 10;
    size_t n = (size_t)choirs * moments * singers;
    std::vector<float> pitches = random_floats(n, 100, 600, 1), voices = random_floats(n, 0.2f, 1, 2);
    float *d_pitches = device_copy_of(pitches.data(), n), *d_voices = device_copy_of(voices.data(), n),
          *d_rough = device_array<float>((size_t)choirs * moments);
    pair_time(&p, [&] { roughness<<<choirs, BLOCK>>>(d_pitches, d_voices, d_rough, singers, moments); });
    std::vector<float> rough = host_copy_of(d_rough, (size_t)choirs * moments);
    for (size_t row = 0; row < rough.size(); row += p.small ? 1 : 37) {
        double all = 0;
        for (int i = 0; i < singers; i++)
            for (int j = i + 1; j < singers; j++)
                for (int lane = 0; lane < 32; lane++) {
                    double lower = 1 + lane % 8, upper = std::max(lower + lane / 8 - 1, 1.0),
                           ours = lower * pitches[row * singers + i], theirs = upper * pitches[row * singers + j],
                           apart = fabs(ours - theirs) / (19 + 0.021 * std::min(ours, theirs));
                    all += voices[row * singers + i] * voices[row * singers + j] *
                           (exp(-0.84 * apart) - exp(-1.38 * apart)) / (lower * upper);
                }
        pair_near(&p, "rough", row, all, rough[row], 1e-3);
    }
    return pair_end(&p);
}
