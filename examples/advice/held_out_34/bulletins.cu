// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the recordings lie interleaved, word by word and sample by sample, instead of one after the other.
// Why: a thread decodes one recording from its start to its end, so the lanes of a warp read and write addresses that
// are a whole recording apart, each its own sector; interleaved, a warp's access is one run of bytes.
#include "../common.h"

enum { THREADS = 128, LEVELS = 89, CODES_PER_WORD = 8, PROGRAMMES = 61 };

// What an IMA ADPCM block begins with.
struct Header {
    short sample;
    unsigned char level, reserved;
};

struct Decoder {
    int sample, level;

    // One four-bit code: the sign, and how many eighths of the step the signal moves.
    __host__ __device__ short next(unsigned code, const short *steps) {
        const int step = steps[level], size = code & 7;
        int change = step >> 3;
        if (code & 4)
            change += step;
        if (code & 2)
            change += step >> 1;
        if (code & 1)
            change += step >> 2;
        sample += code & 8 ? -change : change;
        sample = sample < -32768 ? -32768 : sample > 32767 ? 32767 : sample;
        level += size < 4 ? -1 : 2 * (size - 3);
        level = level < 0 ? 0 : level > LEVELS - 1 ? LEVELS - 1 : level;
        return (short)sample;
    }
};

#ifdef AFTER
__host__ __device__ inline size_t place(int recording, int item, int recordings, int) {
    return (size_t)item * recordings + recording;
}
#else
__host__ __device__ inline size_t place(int recording, int item, int, int items) {
    return (size_t)recording * items + item;
}
#endif

// Decodes a radio archive of short news bulletins, one thread for each.
__global__ void bulletins(const Header *__restrict__ headers, const unsigned *__restrict__ codes,
                          const short *__restrict__ steps, short2 *__restrict__ pcm, int recordings, int words) {
    __shared__ short step_table[LEVELS];
    for (int i = threadIdx.x; i < LEVELS; i += THREADS)
        step_table[i] = steps[i];
    __syncthreads();
    const int recording = blockIdx.x * THREADS + threadIdx.x;
    if (recording >= recordings)
        return;
    const Header header = headers[recording];
    Decoder decoder = {header.sample, header.level};
    for (int w = 0; w < words; w++) {
        unsigned word = codes[place(recording, w, recordings, words)];
        for (int pair = 0; pair < CODES_PER_WORD / 2; pair++) {
            short2 samples;
            samples.x = decoder.next(word & 15, step_table);
            samples.y = decoder.next(word >> 4 & 15, step_table);
            word >>= 8;
            pcm[place(recording, w * (CODES_PER_WORD / 2) + pair, recordings, words * (CODES_PER_WORD / 2))] = samples;
        }
    }
}

// The code that brings the decoder nearest to the wanted sample.
static unsigned encode(const Decoder &decoder, int wanted, const short *steps) {
    unsigned best = 0;
    int smallest = 1 << 20;
    for (unsigned code = 0; code < 16; code++) {
        Decoder attempt = decoder;
        int distance = abs(attempt.next(code, steps) - wanted);
        if (distance < smallest) {
            smallest = distance;
            best = code;
        }
    }
    return best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bulletins");
    const int recordings = p.small ? 500 : 130000, words = p.small ? 5 : 128, samples = words * CODES_PER_WORD;
    std::vector<short> steps(LEVELS);
    double exact_step = 7;
    for (short &step : steps) {
        step = (short)exact_step;
        exact_step *= 1.1;
    }

    // A few voices, used in turn; `heard` is what a decoder must give.
    std::vector<std::vector<unsigned>> voice(PROGRAMMES, std::vector<unsigned>(words, 0u));
    std::vector<std::vector<short>> heard(PROGRAMMES, std::vector<short>(samples));
    std::vector<Header> start(PROGRAMMES);
    unsigned seed = 1922;
    for (int v = 0; v < PROGRAMMES; v++) {
        start[v] = {(short)lcg_next(&seed, 400), (unsigned char)(20 + lcg_next(&seed, 20)), 0};
        Decoder decoder = {start[v].sample, start[v].level};
        const double pitch = 0.08 + 0.001 * v;
        for (int s = 0; s < samples; s++) {
            double syllable = 0.55 + 0.45 * sin(0.004 * s + v);
            int wanted =
                (int)(syllable * (9000 * sin(pitch * s) + 4000 * sin(5.1 * pitch * s))) + (int)lcg_next(&seed, 600);
            unsigned code = encode(decoder, wanted, steps.data());
            voice[v][s / CODES_PER_WORD] |= code << 4 * (s % CODES_PER_WORD);
            heard[v][s] = decoder.next(code, steps.data());
        }
    }
    std::vector<unsigned> codes((size_t)recordings * words);
    std::vector<Header> headers(recordings);
    for (int r = 0; r < recordings; r++)
        headers[r] = start[r % PROGRAMMES];
    for (int w = 0; w < words; w++)
        for (int r = 0; r < recordings; r++)
            codes[place(r, w, recordings, words)] = voice[r % PROGRAMMES][w];

    Header *d_headers = device_copy_of(headers.data(), headers.size());
    unsigned *d_codes = device_copy_of(codes.data(), codes.size());
    short *d_steps = device_copy_of(steps.data(), steps.size());
    const size_t pairs = (size_t)recordings * samples / 2;
    short2 *d_pcm = device_array<short2>(pairs);
    const int blocks = (recordings + THREADS - 1) / THREADS;
    pair_time(&p, [&] { bulletins<<<blocks, THREADS>>>(d_headers, d_codes, d_steps, d_pcm, recordings, words); });

    std::vector<short2> pcm = host_copy_of(d_pcm, pairs);
    for (int r = 0; r < recordings; r += p.small ? 7 : 1013)
        for (int s = 0; s < samples; s++) {
            short2 got = pcm[place(r, s / 2, recordings, samples / 2)];
            pair_near(&p, "pcm", (size_t)r * samples + s, heard[r % PROGRAMMES][s], s & 1 ? got.y : got.x, 0);
        }
    return pair_end(&p);
}
