// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the delay lines are 41 words apart instead of 40.
// Why: all lanes are at the same place of their lines, and 40 words apart, eight of them use the same bank.
#include "../common.h"

enum { BLOCK = 128, LINE = 40 };
#ifdef AFTER
enum { APART = LINE + 1 };
#else
enum { APART = LINE };
#endif

// Plucked strings (Karplus and Strong), one per thread, each with its own damping and fine tuning: the loudness of each
// of the four quarters of the note.
__global__ void pluck(const float *noise, const float2 *strings, float4 *loudness, int count, int quarter) {
    __shared__ float lines[BLOCK * APART];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float *line = lines + threadIdx.x * APART;
    float2 string = strings[i];
    for (int k = 0; k < LINE; k++)
        line[k] = noise[(size_t)k * count + i];
    float parts[4], last_low = 0, last_out = 0;
    int at = 0;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        float sum = 0;
        for (int s = 0; s < quarter; s++) {
            int next = at + 1 == LINE ? 0 : at + 1;
            float low = string.x * 0.5f * (line[at] + line[next]);
            float out = string.y * (low - last_out) + last_low;  // an all-pass filter tunes it
            last_low = low;
            last_out = out;
            line[at] = out;
            sum += out * out;
            at = next;
        }
        parts[q] = sum;
    }
    loudness[i] = make_float4(parts[0], parts[1], parts[2], parts[3]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "harp");
    int blocks = p.small ? 1 : 1320, count = blocks * BLOCK, quarter = p.small ? 20 : 96;
    std::vector<float> noise = random_floats((size_t)count * LINE, -1, 1, 1),
                       damping = random_floats(count, 0.95f, 1, 2),
                       tuning = random_floats(count, 0.1f, 0.6f, 3);
    std::vector<float2> strings(count);
    for (int i = 0; i < count; i++)
        strings[i] = make_float2(damping[i], tuning[i]);
    float *d_noise = device_copy_of(noise.data(), noise.size());
    float2 *d_strings = device_copy_of(strings.data(), count);
    float4 *d_loudness = device_array<float4>(count);
    pair_time(&p, [&] { pluck<<<blocks, BLOCK>>>(d_noise, d_strings, d_loudness, count, quarter); });
    std::vector<float4> loudness = host_copy_of(d_loudness, count);
    for (int i = 0; i < count; i += p.small ? 1 : 37) {
        double line[LINE], parts[4], last_low = 0, last_out = 0;
        for (int k = 0; k < LINE; k++)
            line[k] = noise[(size_t)k * count + i];
        for (int q = 0; q < 4; q++) {
            parts[q] = 0;
            for (int s = q * quarter; s < (q + 1) * quarter; s++) {
                double low = strings[i].x * 0.5 * (line[s % LINE] + line[(s + 1) % LINE]);
                double out = strings[i].y * (low - last_out) + last_low;
                last_low = low;
                last_out = out;
                line[s % LINE] = out;
                parts[q] += out * out;
            }
        }
        pair_near(&p, "first", i, parts[0], loudness[i].x, 1e-3);
        pair_near(&p, "second", i, parts[1], loudness[i].y, 1e-3);
        pair_near(&p, "third", i, parts[2], loudness[i].z, 1e-3);
        pair_near(&p, "fourth", i, parts[3], loudness[i].w, 1e-3);
    }
    return pair_end(&p);
}
