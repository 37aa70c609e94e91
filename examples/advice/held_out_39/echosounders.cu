// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a row of the tile of samples in shared memory has one sample more than there are hydrophones.
// Why: the lanes of a warp read the same hydrophone at 32 ranges; rows of 48 samples of 8 bytes begin in the same bank
//      each, so these reads are done one after the other.
#include "../common.h"

enum { PHONES = 48, BEAMS = 32, RANGES = 64, GROUPS = 4, BLOCK = RANGES * GROUPS, TOGETHER = 4 };
#ifdef AFTER
enum { PITCH = PHONES + 1 };
#else
enum { PITCH = PHONES };
#endif

__host__ __device__ inline float2 add_product(float2 sum, float2 a, float2 b) {
    return make_float2(sum.x + a.x * b.x - a.y * b.y, sum.y + a.x * b.y + a.y * b.x);
}

// Spreading and absorption: echoes from afar are made as strong as near ones.
__device__ inline float gain(int range, float metres, float absorption) {
    float r = 1 + range * metres;
    return r * r * __expf(absorption * r);
}

// The picture of a multibeam echo sounder: for each range and beam the strength of the echo. A block has the samples of
// 64 ranges and the steering of all beams in shared memory; a thread takes one range, and eight of the beams.
__global__ void __launch_bounds__(BLOCK) beams(const float2 *__restrict__ sample, const float2 *__restrict__ steering,
                                               int ranges, float metres, float absorption, float *picture) {
    __shared__ float2 tile[RANGES][PITCH];
    __shared__ float2 steer[BEAMS * PHONES];
    int first = blockIdx.x * RANGES;
    for (int i = threadIdx.x; i < RANGES * PHONES; i += BLOCK)
        tile[i / PHONES][i % PHONES] = sample[(size_t)first * PHONES + i];
    for (int i = threadIdx.x; i < BEAMS * PHONES; i += BLOCK)
        steer[i] = steering[i];
    __syncthreads();
    int r = threadIdx.x % RANGES, group = threadIdx.x / RANGES;
    float strength = gain(first + r, metres, absorption);
    for (int b = group * TOGETHER; b < BEAMS; b += GROUPS * TOGETHER) {
        float2 sum[TOGETHER] = {};
        for (int h = 0; h < PHONES; h++) {
            float2 heard = tile[r][h];
#pragma unroll
            for (int k = 0; k < TOGETHER; k++)
                sum[k] = add_product(sum[k], heard, steer[(b + k) * PHONES + h]);
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            picture[(size_t)(b + k) * ranges + first + r] =
                strength * (sum[k].x * sum[k].x + sum[k].y * sum[k].y);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "echosounders");
    int ranges = RANGES * (p.small ? 10 : 132 * 24);
    float metres = 0.001f, absorption = 0.01f;
    std::vector<float> noise = random_floats((size_t)ranges * PHONES * 2, -1, 1, 1);
    std::vector<float2> sample, steering;
    for (int i = 0; i < ranges * PHONES; i++)
        sample.push_back(make_float2(noise[i * 2], noise[i * 2 + 1]));
    for (int b = 0; b < BEAMS; b++)
        for (int h = 0; h < PHONES; h++) {
            // Beams from -60 to 60 degrees, phones half a wave apart, those at the ends weigh less.
            double sine = sin((b - 0.5 * (BEAMS - 1)) * (2.0944 / BEAMS)), phase = M_PI * h * sine;
            double taper = 0.54 - 0.46 * cos(2 * M_PI * h / (PHONES - 1));
            steering.push_back(make_float2((float)(taper * cos(phase)), (float)(-taper * sin(phase))));
        }
    float2 *d_sample = device_copy_of(sample.data(), sample.size()),
           *d_steering = device_copy_of(steering.data(), steering.size());
    float *d_picture = device_array<float>((size_t)ranges * BEAMS);
    pair_time(&p, [&] {
        beams<<<ranges / RANGES, BLOCK>>>(d_sample, d_steering, ranges, metres, absorption, d_picture);
    });
    std::vector<float> picture = host_copy_of(d_picture, (size_t)ranges * BEAMS);
    for (int r = 0; r < ranges; r += p.small ? 7 : 911)
        for (int b = 0; b < BEAMS; b += 5) {
            double x = 0, y = 0, distance = 1 + r * (double)metres;
            for (int h = 0; h < PHONES; h++) {
                float2 s = sample[(size_t)r * PHONES + h], w = steering[b * PHONES + h];
                x += (double)s.x * w.x - (double)s.y * w.y;
                y += (double)s.x * w.y + (double)s.y * w.x;
            }
            pair_near(&p, "picture", (size_t)b * ranges + r,
                      distance * distance * exp(absorption * distance) * (x * x + y * y),
                      picture[(size_t)b * ranges + r], 2e-3);
        }
    return pair_end(&p);
}
