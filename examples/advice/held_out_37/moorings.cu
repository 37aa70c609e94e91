// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the record of each mooring is split over 24 CTAs along time; before, one CTA worked through all of it.
// Why: there are only 36 moorings, so most of the 132 SMs had nothing to do, and those that had held a single CTA.
#include "../common.h"

// Takes the tides out of the currents that moored meters record: low-pass filters both components (a windowed sinc,
// 73 samples), and rotates what is left into along-shore and cross-shore parts by the bearing of the coast.

constexpr int HALF = 36;
constexpr int TAPS = 2 * HALF + 1;
constexpr int THREADS = 256;
#ifdef AFTER
constexpr int SEGMENTS = 24;
#else
constexpr int SEGMENTS = 1;
#endif

struct Current {
    float east, north;
};

__constant__ float c_filter[TAPS];

__global__ void __launch_bounds__(THREADS)
remove_tides(const Current *__restrict__ records, const float *__restrict__ bearing, int samples,
             float *__restrict__ along, float *__restrict__ across) {
    __shared__ Current window[THREADS + 2 * HALF];
    int mooring = blockIdx.x;
    const Current *record = records + (size_t)mooring * samples;
    float cosine = cosf(bearing[mooring]), sine = sinf(bearing[mooring]);

    int tiles = (samples + THREADS - 1) / THREADS;
    int per_segment = (tiles + gridDim.y - 1) / gridDim.y;
    int first_tile = blockIdx.y * per_segment;
    int last_tile = min(first_tile + per_segment, tiles);
    for (int tile = first_tile; tile < last_tile; tile++) {
        int base = tile * THREADS;
        // the record's ends are continued with its first and last sample
        for (int i = threadIdx.x; i < THREADS + 2 * HALF; i += THREADS)
            window[i] = record[min(max(base + i - HALF, 0), samples - 1)];
        __syncthreads();
        float east = 0.0f, north = 0.0f;
#pragma unroll
        for (int k = 0; k < TAPS; k++) {
            Current c = window[threadIdx.x + k];
            east += c_filter[k] * c.east;
            north += c_filter[k] * c.north;
        }
        int t = base + threadIdx.x;
        if (t < samples) {
            along[(size_t)mooring * samples + t] = sine * east + cosine * north;
            across[(size_t)mooring * samples + t] = cosine * east - sine * north;
        }
        __syncthreads();
    }
}

static std::vector<float> low_pass(double cutoff_samples) {
    std::vector<float> filter(TAPS);
    double sum = 0;
    for (int k = -HALF; k <= HALF; k++) {
        double x = 2 * M_PI * k / cutoff_samples;
        double sinc = k ? sin(x) / x : 1.0;
        double window = 0.54 + 0.46 * cos(M_PI * k / HALF);
        filter[k + HALF] = (float)(sinc * window);
        sum += sinc * window;
    }
    for (float &f : filter)
        f = (float)(f / sum);
    return filter;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "moorings");
    const int moorings = p.small ? 2 : 36;
    const int samples = p.small ? 24 * THREADS - 50 : 262800;  // two minutes apart: one year
    std::vector<Current> records((size_t)moorings * samples);
    unsigned seed = 19;
    for (int m = 0; m < moorings; m++)
        for (int t = 0; t < samples; t++) {
            int day = t % 720, half_day = (t + 40 * m) % 373;
            float tide = fabsf(half_day - 186.5f) / 186.5f - 0.5f, breeze = fabsf(day - 360.0f) / 720.0f;
            records[(size_t)m * samples + t] = {0.3f * tide + 0.05f * breeze + 0.0001f * lcg_next(&seed, 400),
                                                0.1f * tide - 0.08f * breeze + 0.0001f * lcg_next(&seed, 400)};
        }
    std::vector<float> bearing = random_floats(moorings, 0.0f, 6.28f, 20);
    std::vector<float> filter = low_pass(40.0);

    CUDA_CHECK(cudaMemcpyToSymbol(c_filter, filter.data(), TAPS * sizeof(float)));
    Current *d_records = device_copy_of(records.data(), records.size());
    float *d_bearing = device_copy_of(bearing.data(), moorings);
    float *d_along = device_array<float>(records.size());
    float *d_across = device_array<float>(records.size());
    pair_time(&p, [&] {
        remove_tides<<<dim3(moorings, SEGMENTS), THREADS>>>(d_records, d_bearing, samples, d_along, d_across);
    });

    std::vector<float> along = host_copy_of(d_along, records.size());
    std::vector<float> across = host_copy_of(d_across, records.size());
    for (size_t i = 0; i < records.size(); i += p.small ? 3 : 1009) {
        int m = (int)(i / samples), t = (int)(i % samples);
        double east = 0, north = 0;
        for (int k = 0; k < TAPS; k++) {
            int from = std::min(std::max(t + k - HALF, 0), samples - 1);
            east += (double)filter[k] * records[(size_t)m * samples + from].east;
            north += (double)filter[k] * records[(size_t)m * samples + from].north;
        }
        double cosine = cos(bearing[m]), sine = sin(bearing[m]);
        pair_near(&p, "along", i, sine * east + cosine * north, along[i], 1e-4);
        pair_near(&p, "across", i, cosine * east - sine * north, across[i], 1e-4);
    }
    CUDA_CHECK(cudaFree(d_records));
    CUDA_CHECK(cudaFree(d_bearing));
    CUDA_CHECK(cudaFree(d_along));
    CUDA_CHECK(cudaFree(d_across));
    return pair_end(&p);
}
