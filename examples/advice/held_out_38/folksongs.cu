// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the archive is cut into shares of about as many notes for each CTA, not of as many songs.
// Why: one collection in the archive is of epic songs, four times as long as the others; the CTAs that had it went on
// for long after the other SMs had nothing left to do.
#include "../common.h"

// A tune is hummed and looked for in an archive of folk songs: where in each song does it fit best? Songs are intervals
// and durations, so that the key does not matter; the tempo is tried in a few ratios.

constexpr int THREADS = 512;
constexpr int TUNE = 20;
constexpr int TEMPOS = 3;

struct Note {
    signed char interval;    // semitones from the note before
    unsigned char duration;  // in sixteenths of a beat
};

struct Tune {
    int interval[TUNE];
    int duration[TEMPOS][TUNE];
    int weight[TUNE];  // notes on the beat matter more
};

// Smallest cost over the tempos
__host__ __device__ inline unsigned mismatch(const Note *song, const Tune &tune) {
    int pitch = 0, rhythm[TEMPOS] = {};
#pragma unroll
    for (int k = 0; k < TUNE; k++) {
        Note note = song[k];
        int off = abs(note.interval - tune.interval[k]);
        pitch += tune.weight[k] * (off > 7 ? 7 : off);
#pragma unroll
        for (int t = 0; t < TEMPOS; t++)
            rhythm[t] += abs(note.duration - tune.duration[t][k]);
    }
    int best = rhythm[0];
#pragma unroll
    for (int t = 1; t < TEMPOS; t++)
        best = rhythm[t] < best ? rhythm[t] : best;
    return (unsigned)(4 * pitch + best);
}

// CTA c looks through the songs first_song[c] to first_song[c + 1]; fit gets cost * 65536 + place.
__global__ void __launch_bounds__(THREADS)
find_tune(const Note *__restrict__ notes, const int *__restrict__ first_note, const int *__restrict__ first_song,
          Tune tune, unsigned *__restrict__ fit) {
    __shared__ unsigned best_of_warp[2][THREADS / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int begin = first_song[blockIdx.x], end = first_song[blockIdx.x + 1];
    for (int s = begin; s < end; s++) {
        const Note *song = notes + first_note[s];
        int places = first_note[s + 1] - first_note[s] - TUNE + 1;
        unsigned best = 0xffffffffu;
        for (int at = threadIdx.x; at < places; at += THREADS)
            best = min(best, mismatch(song + at, tune) << 16 | (unsigned)at);
        for (int distance = 16; distance > 0; distance /= 2)
            best = min(best, __shfl_xor_sync(0xffffffff, best, distance));
        unsigned *shared = best_of_warp[s % 2];  // of two, so that one barrier a song is enough
        if (lane == 0)
            shared[warp] = best;
        __syncthreads();
        if (warp == 0) {
            best = lane < THREADS / 32 ? shared[lane] : 0xffffffffu;
            for (int distance = THREADS / 64; distance > 0; distance /= 2)
                best = min(best, __shfl_xor_sync(0xffffffff, best, distance));
            if (lane == 0)
                fit[s] = best;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "folksongs");
    const int ctas = p.small ? 4 : 2 * 132, songs = p.small ? 24 : 24000;

    // collections one behind the other; the songs of the fifth of eleven are epics
    unsigned seed = 1871;
    std::vector<int> first_note(1, 0);
    for (int s = 0; s < songs; s++) {
        bool epic = s * 11LL / songs == 5;
        int length = p.small ? 30 + lcg_next(&seed, 60) : 300 + lcg_next(&seed, 900);
        first_note.push_back(first_note.back() + (epic ? 4 * length : length));
    }
    const int notes = first_note.back();
    std::vector<Note> archive(notes);
    for (Note &note : archive) {
        unsigned r = lcg_next(&seed, 1 << 16);
        note.interval = (signed char)((int)(r & 7) + (int)(r >> 3 & 7) - 7);
        note.duration = (unsigned char)(4 << (r >> 6 & 3));
    }
    Tune tune;
    for (int k = 0; k < TUNE; k++) {
        Note note = archive[notes / 3 + k];
        tune.interval[k] = note.interval;
        for (int t = 0; t < TEMPOS; t++)
            tune.duration[t][k] = note.duration * (t + 3) / 4;
        tune.weight[k] = k % 4 == 0 ? 3 : 2;
    }

    std::vector<int> first_song(ctas + 1);
    for (int c = 0; c <= ctas; c++)
#ifdef AFTER
        first_song[c] = (int)(std::lower_bound(first_note.begin(), first_note.end(), (long long)notes * c / ctas) -
                              first_note.begin());
#else
        first_song[c] = (int)((long long)songs * c / ctas);
#endif

    Note *d_archive = device_copy_of(archive.data(), notes);
    int *d_first_note = device_copy_of(first_note.data(), songs + 1);
    int *d_first_song = device_copy_of(first_song.data(), ctas + 1);
    unsigned *d_fit = device_array<unsigned>(songs);
    pair_time(&p, [&] { find_tune<<<ctas, THREADS>>>(d_archive, d_first_note, d_first_song, tune, d_fit); });

    std::vector<unsigned> fit = host_copy_of(d_fit, songs);
    for (int s = 0; s < songs; s += p.small ? 1 : 37) {
        unsigned expected = 0xffffffffu;
        for (int at = 0; at + TUNE <= first_note[s + 1] - first_note[s]; at++)
            expected = std::min(expected, mismatch(&archive[first_note[s] + at], tune) << 16 | (unsigned)at);
        pair_near(&p, "fit", s, expected, fit[s], 0);
    }
    CUDA_CHECK(cudaFree(d_archive));
    CUDA_CHECK(cudaFree(d_first_note));
    CUDA_CHECK(cudaFree(d_first_song));
    CUDA_CHECK(cudaFree(d_fit));
    return pair_end(&p);
}
