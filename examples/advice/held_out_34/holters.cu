// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the strips are measured straight from the recorder's counts; no kernel turns the counts to millivolts first.
// Why: the millivolts are twice as many bytes as the counts, written by one kernel only to be read once by the next;
// a subtraction and a multiplication make them anew.
#include "../common.h"

enum { STRIP = 2500, THREADS = 256, WARPS = THREADS / 32 };  // ten seconds at 250 samples a second

// How a recorder's counts become millivolts.
struct Lead {
    int zero;
    float gain;
};

// What a strip is sorted by before a cardiologist sees it.
struct Findings {
    int beats;             // upward crossings of the threshold
    float height, unrest;  // highest deflection; root mean square of the change from sample to sample
};

__host__ __device__ inline float millivolts(short count, const Lead &lead) { return lead.gain * (count - lead.zero); }

#ifdef AFTER
using Sample = short;
#define MILLIVOLTS(sample) millivolts(sample, lead)
#else
using Sample = float;
#define MILLIVOLTS(sample) (sample)

__global__ void calibrate(const short *__restrict__ counts, const Lead *__restrict__ leads, float *__restrict__ out,
                          int strips_per_lead) {
    const size_t first = (size_t)blockIdx.x * STRIP;
    const Lead lead = leads[blockIdx.x / strips_per_lead];
    for (int i = threadIdx.x; i < STRIP; i += THREADS)
        out[first + i] = millivolts(counts[first + i], lead);
}
#endif

// Measures the strips of 24-hour electrocardiograms, a CTA for each.
__global__ void holters(const Sample *__restrict__ signal, const Lead *__restrict__ leads,
                        Findings *__restrict__ findings, int strips_per_lead, float threshold) {
    const Sample *strip = signal + (size_t)blockIdx.x * STRIP;
#ifdef AFTER
    const Lead lead = leads[blockIdx.x / strips_per_lead];
#endif
    int beats = 0;
    float height = -1e30f, squares = 0;
    for (int i = 1 + threadIdx.x; i < STRIP; i += THREADS) {
        const float before = MILLIVOLTS(strip[i - 1]), now = MILLIVOLTS(strip[i]);
        beats += before <= threshold && now > threshold;
        height = fmaxf(height, now);
        squares += (now - before) * (now - before);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        beats += __shfl_down_sync(~0u, beats, offset);
        height = fmaxf(height, __shfl_down_sync(~0u, height, offset));
        squares += __shfl_down_sync(~0u, squares, offset);
    }
    __shared__ Findings of_warp[WARPS];
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = {beats, height, squares};
    __syncthreads();
    if (threadIdx.x == 0) {
        Findings all = of_warp[0];
        for (int w = 1; w < WARPS; w++) {
            all.beats += of_warp[w].beats;
            all.height = fmaxf(all.height, of_warp[w].height);
            all.unrest += of_warp[w].unrest;
        }
        all.unrest = sqrtf(all.unrest / (STRIP - 1));
        findings[blockIdx.x] = all;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "holters");
    const int lead_count = p.small ? 2 : 12, strips_per_lead = p.small ? 2 : 3300;
    const int strips = lead_count * strips_per_lead;
    const size_t n = (size_t)strips * STRIP;
    const float threshold = 0.6f;

    std::vector<Lead> leads(lead_count);
    std::vector<short> counts(n);
    unsigned seed = 1949;
    for (int l = 0; l < lead_count; l++) {
        leads[l] = {1000 + (int)lcg_next(&seed, 100), 0.0048f + 0.0001f * l};
        // A beat: P, QRS and T waves; the pause after it is longer or shorter.
        short beat[150];
        for (int i = 0; i < 150; i++) {
            const auto wave = [i](double at, double width) { return exp(-(i - at) * (i - at) / (2 * width * width)); };
            beat[i] = (short)((0.15 * wave(30, 6) - 0.1 * wave(54, 2) + 1.1 * wave(60, 2.5) - 0.2 * wave(66, 2.5) +
                               0.3 * wave(115, 12)) /
                              leads[l].gain);
        }
        const size_t end = (l + 1) * (n / lead_count);
        int phase = 0, length = 200;
        for (size_t i = end - n / lead_count; i < end; i++) {
            counts[i] = leads[l].zero + (phase < 150 ? beat[phase] : 0) + (short)lcg_next(&seed, 8);
            if (++phase == length) {
                phase = 0;
                length = 150 + lcg_next(&seed, 100);
            }
        }
    }

    short *d_counts = device_copy_of(counts.data(), n);
    Lead *d_leads = device_copy_of(leads.data(), lead_count);
    Findings *d_findings = device_array<Findings>(strips);
#ifdef AFTER
    pair_time(&p, [&] { holters<<<strips, THREADS>>>(d_counts, d_leads, d_findings, strips_per_lead, threshold); });
#else
    float *d_signal = device_array<float>(n);
    pair_time(&p, [&] {
        calibrate<<<strips, THREADS>>>(d_counts, d_leads, d_signal, strips_per_lead);
        holters<<<strips, THREADS>>>(d_signal, d_leads, d_findings, strips_per_lead, threshold);
    });
#endif

    std::vector<Findings> findings = host_copy_of(d_findings, strips);
    for (int s = 0; s < strips; s += p.small ? 1 : 37) {
        const Lead lead = leads[s / strips_per_lead];
        int beats = 0;
        double height = -1e30, squares = 0;
        for (size_t i = (size_t)s * STRIP + 1; i < (size_t)(s + 1) * STRIP; i++) {
            const float before = millivolts(counts[i - 1], lead), now = millivolts(counts[i], lead);
            beats += before <= threshold && now > threshold;
            height = fmax(height, now);
            squares += ((double)now - before) * ((double)now - before);
        }
        pair_near(&p, "beats", s, beats, findings[s].beats, 0);
        pair_near(&p, "height", s, height, findings[s].height, 1e-5);
        pair_near(&p, "unrest", s, sqrt(squares / (STRIP - 1)), findings[s].unrest, 1e-4);
    }
    return pair_end(&p);
}
