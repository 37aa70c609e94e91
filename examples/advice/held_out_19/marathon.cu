// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block keeps sixteen copies of its sums, each for two lanes of a warp, and adds them up at its end.
// Why: most runners run at much the same pace, so that the lanes of a warp add to the same few words in turn.
#include "../common.h"

enum { PACES = 48, BINS = 2 * PACES, BLOCK = 256 };
#ifdef AFTER
enum { COPIES = 16 };
#else
enum { COPIES = 1 };
#endif

// A passage over a mat: bit 24 is the class of the runner, bits 16 to 23 are the heart rate, bits 0 to 15 the time for
// the last kilometre in half seconds.
__host__ __device__ inline int bin_of(unsigned passage) {
    int band = ((int)(passage & 0xffff) - 360) / 12;
    band = band < 0 ? 0 : band > PACES - 1 ? PACES - 1 : band;
    return (int)(passage >> 24 & 1) * PACES + band;
}

// Heart beats (sum and highest) by class and pace; each block writes what it found.
__global__ void hearts(const unsigned *passages, int count, unsigned *sums, unsigned *highest) {
    __shared__ unsigned sum[BINS * COPIES], high[BINS * COPIES];
    for (int i = threadIdx.x; i < BINS * COPIES; i += BLOCK)
        sum[i] = high[i] = 0;
    __syncthreads();
    int copy = threadIdx.x % COPIES;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        unsigned passage = passages[i], rate = passage >> 16 & 255;
        int bin = bin_of(passage);
        atomicAdd(&sum[bin * COPIES + copy], rate);
        atomicMax(&high[bin * COPIES + copy], rate);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) {
        unsigned total = 0, top = 0;
        for (int c = 0; c < COPIES; c++) {
            total += sum[bin * COPIES + c];
            top = max(top, high[bin * COPIES + c]);
        }
        sums[blockIdx.x * BINS + bin] = total;
        highest[blockIdx.x * BINS + bin] = top;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "marathon");
    int n = p.small ? 5000 : 16 << 20, blocks = p.small ? 2 : 1056;
    std::vector<unsigned> passages(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        unsigned pace = 560 + (unsigned)((long long)i * 120 / n) + lcg_next(&seed, 50) + lcg_next(&seed, 50),
                 rate = 120 + lcg_next(&seed, 70), kind = lcg_next(&seed, 4) == 0;
        passages[i] = kind << 24 | rate << 16 | pace;
    }
    unsigned *d_passages = device_copy_of(passages.data(), n), *d_sums = device_array<unsigned>(blocks * BINS),
             *d_highest = device_array<unsigned>(blocks * BINS);
    pair_time(&p, [&] { hearts<<<blocks, BLOCK>>>(d_passages, n, d_sums, d_highest); });
    std::vector<unsigned> sums = host_copy_of(d_sums, blocks * BINS), highest = host_copy_of(d_highest, blocks * BINS);
    std::vector<double> total(BINS, 0.0), top(BINS, 0.0);
    for (unsigned passage : passages) {
        double rate = passage >> 16 & 255;
        total[bin_of(passage)] += rate;
        top[bin_of(passage)] = std::max(top[bin_of(passage)], rate);
    }
    for (int bin = 0; bin < BINS; bin++) {
        double got = 0, high = 0;
        for (int b = 0; b < blocks; b++) {
            got += sums[b * BINS + bin];
            high = std::max(high, (double)highest[b * BINS + bin]);
        }
        pair_near(&p, "sum", bin, total[bin], got, 0);
        pair_near(&p, "highest", bin, top[bin], high, 0);
    }
    return pair_end(&p);
}
