// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of the tile of prices are one float longer.
// Why: every thread walks along the row of its own share; with rows of 64 floats all 32 lanes read and write the same
// bank at each day, and the warp goes through them one by one.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128, DAYS = 64, PITCH = DAYS + 1 };
#else
enum { BLOCK = 128, DAYS = 64, PITCH = DAYS };
#endif

// The histogram of the MACD indicator of many shares: prices are stored share by share, a thread follows one share. A
// tile of days goes through shared memory, so that what is read and written in global memory is in one piece.
__global__ void macd(const float *price, float *histogram, int days) {
    __shared__ float tile[BLOCK][PITCH];
    size_t base = (size_t)blockIdx.x * BLOCK * days;
    float fast = price[base + (size_t)threadIdx.x * days], slow = fast, signal = 0;
    for (int first = 0; first < days; first += DAYS) {
        for (int k = threadIdx.x; k < BLOCK * DAYS; k += BLOCK)
            tile[k / DAYS][k % DAYS] = price[base + (size_t)(k / DAYS) * days + first + k % DAYS];
        __syncthreads();
        for (int d = 0; d < DAYS; d++) {
            float now = tile[threadIdx.x][d];
            fast += (now - fast) * (2.0f / 13);
            slow += (now - slow) * (2.0f / 27);
            float line = fast - slow;
            signal += (line - signal) * (2.0f / 10);
            tile[threadIdx.x][d] = line - signal;
        }
        __syncthreads();
        // A thread stores the same places that it fills with the next days.
        for (int k = threadIdx.x; k < BLOCK * DAYS; k += BLOCK)
            histogram[base + (size_t)(k / DAYS) * days + first + k % DAYS] = tile[k / DAYS][k % DAYS];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tickers");
    int shares = BLOCK * (p.small ? 8 : 132 * 6), days = p.small ? 128 : 512;
    size_t n = (size_t)shares * days;
    std::vector<float> price = random_floats(n, 50, 150, 1);
    float *d_price = device_copy_of(price.data(), n), *d_histogram = device_array<float>(n);
    pair_time(&p, [&] { macd<<<shares / BLOCK, BLOCK>>>(d_price, d_histogram, days); });
    std::vector<float> histogram = host_copy_of(d_histogram, n);
    for (int s = 0; s < shares; s += p.small ? 1 : 41) {
        size_t base = (size_t)s * days;
        double fast = price[base], slow = fast, signal = 0;
        for (int d = 0; d < days; d++) {
            fast += (price[base + d] - fast) * 2 / 13;
            slow += (price[base + d] - slow) * 2 / 27;
            double line = fast - slow;
            signal += (line - signal) * 2 / 10;
            pair_near(&p, "histogram", base + d, line - signal, histogram[base + d], 1e-3);
        }
    }
    return pair_end(&p);
}
