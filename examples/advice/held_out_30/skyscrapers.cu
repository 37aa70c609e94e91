// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the towers are dealt to the CTAs in turn instead of in chunks of neighbours.
// Why: a tower is paired with the later ones only, so the first chunk has most of the work and the last one hardly any.
#include "../common.h"

enum { BLOCK = 512, CTAS = 132 };

// How much the towers of a city take each other's view, over all pairs: the taller the two, the more; the further
// apart, the less. One CTA an SM; each leaves the sum of its towers.
__global__ void __launch_bounds__(BLOCK) skyscrapers(const float4 *towers, double *hidden, int count) {
    __shared__ float parts[BLOCK / 32];
#ifdef AFTER
    int begin = blockIdx.x, end = count, step = CTAS;
#else
    int chunk = (count + CTAS - 1) / CTAS;
    int begin = blockIdx.x * chunk, end = min(begin + chunk, count), step = 1;
#endif
    float sum = 0;
    for (int i = begin; i < end; i += step) {
        float4 a = towers[i];
        for (int j = i + 1 + threadIdx.x; j < count; j += BLOCK) {
            float4 b = towers[j];
            float dx = a.x - b.x, dy = a.y - b.y;
            float size = fminf(a.z, b.z) * (a.w + b.w);
            sum += __fdividef(size, dx * dx + dy * dy + 100.0f);
        }
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            all += parts[w];
        hidden[blockIdx.x] = all;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "skyscrapers");
    int count = p.small ? 264 : 18500;
    std::vector<float> random = random_floats(4 * (size_t)count, 0, 1, 12);
    std::vector<float4> towers(count);
    for (int i = 0; i < count; i++)
        towers[i] = make_float4(9000 * random[4 * i], 7000 * random[4 * i + 1], 60 + 300 * random[4 * i + 2],
                                20 + 30 * random[4 * i + 3]);
    float4 *d_towers = device_copy_of(towers.data(), count);
    double *d_hidden = device_array<double>(CTAS);
    pair_time(&p, [&] { skyscrapers<<<CTAS, BLOCK>>>(d_towers, d_hidden, count); });
    double expected = 0, got = 0;
    for (double h : host_copy_of(d_hidden, CTAS))
        got += h;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            float dx = towers[i].x - towers[j].x, dy = towers[i].y - towers[j].y;
            float size = std::min(towers[i].z, towers[j].z) * (towers[i].w + towers[j].w);
            expected += size / (dx * dx + dy * dy + 100.0f);
        }
    pair_near(&p, "hidden", 0, expected, got, 1e-4);
    return pair_end(&p);
}
