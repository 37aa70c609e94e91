// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a row of the shared array is one word longer than the 32 weeks in it.
// Why: each thread walks along a row of its own; with rows of 32 words all lanes of a warp are at the same bank.
#include "../common.h"

enum { WEEKS = 32, CLINICS = 128 };

#ifdef AFTER
enum { PITCH = WEEKS + 1 };
#else
enum { PITCH = WEEKS };
#endif

// One step of a smoothing filter in fixed point with 8 bits after the point.
__host__ __device__ inline int smooth(int level, int value) { return (5 * level + 3 * value) >> 3; }

// Watches the weekly cases of each clinic for outbreaks: smooths them forwards and backwards, then adds up what is
// above the clinic's usual level (CUSUM). alarms[c] has the number of weeks in alarm and the highest sum.
__global__ void watch(const int *cases, const unsigned char *weeks_open, const short *usual, int2 *alarms, int limit) {
    __shared__ int history[CLINICS * PITCH];
    size_t start = (size_t)blockIdx.x * CLINICS * WEEKS;
    for (int k = threadIdx.x; k < CLINICS * WEEKS; k += CLINICS)
        history[k / WEEKS * PITCH + k % WEEKS] = cases[start + k] << 8;
    __syncthreads();
    int clinic = blockIdx.x * CLINICS + threadIdx.x;
    int *row = history + threadIdx.x * PITCH;
    int open = weeks_open[clinic], normal = usual[clinic] << 8;
    int level = normal;
    for (int w = 0; w < open; w++)
        row[w] = level = smooth(level, row[w]);
    for (int w = open - 1; w >= 0; w--)
        row[w] = level = smooth(level, row[w]);
    int sum = 0, highest = 0, count = 0;
    for (int w = 0; w < open; w++) {
        sum = max(0, sum + row[w] - normal);
        if (sum > limit) {
            count++;
            sum -= sum >> 2;
        }
        highest = max(highest, sum);
    }
    alarms[clinic] = make_int2(count, highest);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "clinics");
    int blocks = p.small ? 5 : 132 * 32, n = blocks * CLINICS, limit = 20 << 8;
    std::vector<int> cases((size_t)n * WEEKS);
    std::vector<unsigned char> weeks_open(n);
    std::vector<short> usual(n);
    lcg_fill(cases.data(), cases.size(), 1, 40);
    lcg_fill(weeks_open.data(), n, 2, 9);
    lcg_fill(usual.data(), n, 3, 12);
    for (int c = 0; c < n; c++) {
        weeks_open[c] += WEEKS - 8;
        usual[c] += 12;
    }
    int *d_cases = device_copy_of(cases.data(), cases.size());
    unsigned char *d_weeks_open = device_copy_of(weeks_open.data(), n);
    short *d_usual = device_copy_of(usual.data(), n);
    int2 *d_alarms = device_array<int2>(n);
    pair_time(&p, [&] { watch<<<blocks, CLINICS>>>(d_cases, d_weeks_open, d_usual, d_alarms, limit); });
    std::vector<int2> alarms = host_copy_of(d_alarms, n);
    for (int c = 0; c < n; c += p.small ? 1 : 7) {
        int row[WEEKS], open = weeks_open[c], normal = usual[c] << 8, level = normal, sum = 0, highest = 0, count = 0;
        for (int w = 0; w < open; w++)
            row[w] = level = smooth(level, cases[(size_t)c * WEEKS + w] << 8);
        for (int w = open - 1; w >= 0; w--)
            row[w] = level = smooth(level, row[w]);
        for (int w = 0; w < open; w++) {
            sum = std::max(0, sum + row[w] - normal);
            if (sum > limit) {
                count++;
                sum -= sum >> 2;
            }
            highest = std::max(highest, sum);
        }
        pair_near(&p, "weeks in alarm", c, count, alarms[c].x, 0);
        pair_near(&p, "highest", c, highest, alarms[c].y, 0);
    }
    return pair_end(&p);
}
