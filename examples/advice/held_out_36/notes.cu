// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 22 CTAs, each with a slice of the time, render a note instead of one CTA.
// Why: 48 notes make only 48 CTAs, which leave most of the SMs without work and the others with few warps.
#include "../common.h"

// Additive synthesis: every note of a chord-heavy score is rendered as a sum of decaying partials into a voice buffer
// of its own (panning and mixing come later).
constexpr int kThreads = 256;
constexpr int kPartials = 20;
#ifdef AFTER
constexpr int kSlices = 22;
#else
constexpr int kSlices = 1;
#endif

struct Note {
    unsigned advance;  // of the fundamental's phase for a sample; 2^32 is a turn
    float loudness;
    float decay;       // per sample, of the fundamental
    int attack;        // samples until full loudness
};

__device__ static float envelope(const Note &note, int i) {
    float rise = i < note.attack ? (float)i / note.attack : 1.0f;
    return note.loudness * rise;
}

__global__ void __launch_bounds__(kThreads)
    render(const Note *__restrict__ notes, const float *__restrict__ spectrum, float *__restrict__ voices,
           int samples) {
    __shared__ float strength[kPartials];
    const Note note = notes[blockIdx.x];
    float *voice = voices + (size_t)blockIdx.x * samples;
    if (threadIdx.x < kPartials)
        strength[threadIdx.x] = spectrum[blockIdx.x * kPartials + threadIdx.x];
    __syncthreads();

    for (int i = blockIdx.y * kThreads + threadIdx.x; i < samples; i += kSlices * kThreads) {
        unsigned base = note.advance * (unsigned)i;
        float fall = __expf(-note.decay * i);  // partial k decays as fall to the power k + 1
        float faded = 1.0f;
        float sum = 0.0f;
        for (int k = 0; k < kPartials; k++) {
            unsigned phase = base * (k + 1);
            faded *= fall;
            sum += strength[k] * faded * sinpif((int)phase * (1.0f / 2147483648.0f));
        }
        voice[i] = envelope(note, i) * sum;
    }
}

static double sample_of(const Note &note, const float *strength, int i) {
    double sum = 0;
    for (int k = 0; k < kPartials; k++) {
        unsigned phase = note.advance * (unsigned)i * (unsigned)(k + 1);
        double turn = (int)phase / 2147483648.0;
        sum += strength[k] * exp(-(double)note.decay * i * (k + 1)) * sin(M_PI * turn);
    }
    return note.loudness * std::min(1.0, (double)i / note.attack) * sum;
}

static std::vector<Note> make_notes(int count) {
    std::vector<Note> notes(count);
    unsigned seed = 440;
    for (Note &n : notes) {
        int key = (int)lcg_next(&seed, 49);  // from the A of 110 Hz on
        double hertz = 110.0 * pow(2.0, key / 12.0);
        n.advance = (unsigned)(hertz / 48000.0 * 4294967296.0);
        n.loudness = 0.2f + lcg_next(&seed, 100) * 0.006f;
        n.decay = (0.2f + lcg_next(&seed, 100) * 0.004f) / 48000.0f;
        n.attack = 200 + (int)lcg_next(&seed, 600);
    }
    return notes;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "notes");
    const int count = p.small ? 2 : 48;
    const int samples = p.small ? 1000 : 96000;  // two seconds

    std::vector<Note> notes = make_notes(count);
    std::vector<float> spectrum = random_floats((size_t)count * kPartials, 0.1f, 1.0f, 8);
    for (size_t i = 0; i < spectrum.size(); i++)
        spectrum[i] /= 1.0f + i % kPartials;
    Note *d_notes = device_copy_of(notes.data(), notes.size());
    float *d_spectrum = device_copy_of(spectrum.data(), spectrum.size());
    float *d_voices = device_array<float>((size_t)count * samples);

    const dim3 grid(count, kSlices);
    pair_time(&p, [&] { render<<<grid, kThreads>>>(d_notes, d_spectrum, d_voices, samples); });

    std::vector<float> voices = host_copy_of(d_voices, (size_t)count * samples);
    const size_t every = p.small ? 1 : 487;
    for (size_t at = 0; at < voices.size(); at += every) {
        size_t n = at / samples;
        double expected = sample_of(notes[n], &spectrum[n * kPartials], (int)(at % samples));
        pair_near(&p, "voice", at, expected, voices[at], 2e-4);
    }

    CUDA_CHECK(cudaFree(d_notes));
    CUDA_CHECK(cudaFree(d_spectrum));
    CUDA_CHECK(cudaFree(d_voices));
    return pair_end(&p);
}
