// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the shared buffer is as long as the longest record there is, not as long as a record might ever be.
// Why: with 32 KiB for 64 threads an SM holds six CTAs, 12 warps of 64, which wait for memory and for each other most
// of the time.
#include "../common.h"

enum { BLOCK = 64, LONGEST = 1400 };

#ifdef AFTER
enum { ROOM = LONGEST };
#else
enum { ROOM = 8192 };
#endif

struct Record {
    int first, length;
};

struct Strokes {
    float mean, effort;
    int count, hard;  // how many there are; samples of pulling on
};

// Over all threads of the CTA.
__device__ float total(float value) {
    __shared__ float part[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(0xffffffff, value, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0] + part[1];
    __syncthreads();
    return value;
}

// The strokes of a kayak, from the acceleration along its keel: one CTA for each record. A stroke begins where the
// acceleration climbs over its mean, and goes on as long as it stays there.
__global__ void paddle(const short *samples, const Record *records, Strokes *strokes) {
    __shared__ float boat[ROOM];
    Record record = records[blockIdx.x];
    float sum = 0;
    for (int i = threadIdx.x; i < record.length; i += BLOCK) {
        float push = samples[record.first + i] * (1.0f / 256);
        boat[i] = push;
        sum += push;
    }
    float mean = total(sum) / record.length;
    float square = 0, count = 0, hard = 0;
    for (int i = threadIdx.x; i < record.length; i += BLOCK) {
        float push = boat[i], before = i > 0 ? boat[i - 1] : push;
        square += (push - mean) * (push - mean);
        if (push > mean && before <= mean)
            count++;
        if (push > mean && before > mean)
            hard++;
    }
    square = total(square);
    count = total(count);
    hard = total(hard);
    if (threadIdx.x == 0)
        strokes[blockIdx.x] = {mean, sqrtf(square / record.length), (int)count, (int)hard};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kayaks");
    int boats = p.small ? 40 : 48000;
    std::vector<Record> records(boats);
    unsigned seed = 1;
    int n = 0;
    for (Record &record : records) {
        record.first = n;
        record.length = LONGEST - (int)lcg_next(&seed, p.small ? 1000 : 400);
        n += record.length;
    }
    std::vector<short> samples(n);
    for (short &sample : samples)
        sample = (short)((int)lcg_next(&seed, 2000) - 900);
    short *d_samples = device_copy_of(samples.data(), n);
    Record *d_records = device_copy_of(records.data(), boats);
    Strokes *d_strokes = device_array<Strokes>(boats);
    pair_time(&p, [&] { paddle<<<boats, BLOCK>>>(d_samples, d_records, d_strokes); });
    std::vector<Strokes> strokes = host_copy_of(d_strokes, boats);
    for (int b = 0; b < boats; b += p.small ? 1 : 7) {
        const short *own = &samples[records[b].first];
        int length = records[b].length, sum = 0, count = 0, hard = 0;
        for (int i = 0; i < length; i++)
            sum += own[i];
        float mean = sum / 256.0f / length;  // sums of such numbers are exact in float
        double square = 0;
        for (int i = 0; i < length; i++) {
            float push = own[i] / 256.0f, before = i > 0 ? own[i - 1] / 256.0f : push;
            square += ((double)push - mean) * ((double)push - mean);
            count += push > mean && before <= mean;
            hard += push > mean && before > mean;
        }
        pair_near(&p, "mean", b, mean, strokes[b].mean, 1e-6);
        pair_near(&p, "effort", b, sqrt(square / length), strokes[b].effort, 1e-4);
        pair_near(&p, "count", b, count, strokes[b].count, 0);
        pair_near(&p, "hard", b, hard, strokes[b].hard, 0);
    }
    return pair_end(&p);
}
