// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: episodes are cut into parts of 32768 frames, and a block takes one part instead of a whole episode.
// Why: some episodes are thirty times as long as others, and their SMs still work when all the others have nothing
// left.
#include "../common.h"

enum { BLOCK = 512, LONGEST_PART = 1 << 15 };

typedef unsigned long long Wide;

struct Part {
    int episode;
    unsigned first, count;  // in frames, from the beginning of all the sound
};

// Energy and peak of each episode of a podcast, so that all of them can be made equally loud. Both are 0 at first.
__global__ void __launch_bounds__(BLOCK) loudness(const short2 *frames, const Part *parts, Wide *energies, int *peaks) {
    Part part = parts[blockIdx.x];
    const short2 *own = frames + part.first;
    Wide energy = 0;
    int peak = 0;
    for (unsigned i = threadIdx.x; i < part.count; i += BLOCK) {
        short2 frame = own[i];
        int left = frame.x, right = frame.y;
        energy += (unsigned)(left * left) + (unsigned)(right * right);
        peak = max(peak, max(abs(left), abs(right)));
    }
    for (int step = 16; step; step /= 2) {
        energy += __shfl_down_sync(~0u, energy, step);
        peak = max(peak, __shfl_down_sync(~0u, peak, step));
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&energies[part.episode], energy);
        atomicMax(&peaks[part.episode], peak);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "podcasts");
    int episodes = p.small ? 24 : 800;
    unsigned unit = p.small ? 10 : 100, seed = 1, total = 0;
    std::vector<Part> parts;
    std::vector<unsigned> begins, lengths;
    for (int e = 0; e < episodes; e++) {
        unsigned length = unit * (300 + lcg_next(&seed, 600));
        if (e % 40 == 17)  // a whole conference
            length *= 12 + lcg_next(&seed, 12);
        begins.push_back(total);
        lengths.push_back(length);
#ifdef AFTER
        for (unsigned first = 0; first < length; first += LONGEST_PART)
            parts.push_back({e, total + first, std::min<unsigned>(LONGEST_PART, length - first)});
#else
        parts.push_back({e, total, length});
#endif
        total += length;
    }
    std::vector<short2> frames(total);
    for (int e = 0; e < episodes; e++) {
        int gain = 100 + lcg_next(&seed, 20000);
        for (unsigned i = 0; i < lengths[e]; i++) {
            short left = (short)((int)lcg_next(&seed, 2 * gain) - gain);
            frames[begins[e] + i] = make_short2(left, (short)(left * 3 / 4));
        }
    }
    short2 *d_frames = device_copy_of(frames.data(), total);
    Part *d_parts = device_copy_of(parts.data(), parts.size());
    Wide *d_energies = device_array<Wide>(episodes);
    int *d_peaks = device_array<int>(episodes);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_energies, 0, episodes * sizeof(Wide)));
        CUDA_CHECK(cudaMemsetAsync(d_peaks, 0, episodes * sizeof(int)));
        loudness<<<(unsigned)parts.size(), BLOCK>>>(d_frames, d_parts, d_energies, d_peaks);
    });
    std::vector<Wide> energies = host_copy_of(d_energies, episodes);
    std::vector<int> peaks = host_copy_of(d_peaks, episodes);
    for (int e = 0; e < episodes; e++) {
        Wide energy = 0;
        int peak = 0;
        for (unsigned i = begins[e]; i < begins[e] + lengths[e]; i++) {
            int left = frames[i].x, right = frames[i].y;
            energy += (Wide)(left * left) + (Wide)(right * right);
            peak = std::max(peak, std::max(abs(left), abs(right)));
        }
        pair_near(&p, "energy", e, energy, energies[e], 0);
        pair_near(&p, "peak", e, peak, peaks[e], 0);
    }
    return pair_end(&p);
}
