// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the remainder that wraps a loop is found by multiplying with a reciprocal that the host has prepared.
// Why: the length differs from pipe to pipe, so every turn has an integer division, which is some twenty instructions
// around one load.
#include "../common.h"

enum { PIPES = 192, BLOCK = 256 };

// A recorded pipe: the steady part of its tone is a loop of `length` samples at `first` in the sample memory.
struct Pipe {
    unsigned first, length, start;  // start: where in its loop the pipe is at frame 0
    unsigned reciprocal;            // floor(2^32 / length)
    float left, right;              // gain
};

__device__ inline unsigned wrapped(unsigned position, const Pipe &pipe) {
#ifdef AFTER
    unsigned rest = position - __umulhi(position, pipe.reciprocal) * pipe.length;
    return min(rest, rest - pipe.length);  // the quotient may be one too small
#else
    return position % pipe.length;
#endif
}

// A sampled organ with many stops drawn: every frame of the sound is the sum of all pipes that speak.
__global__ void organs(const Pipe *__restrict__ pipes, int count, const short *__restrict__ samples,
                       float2 *__restrict__ sound, unsigned frames) {
    __shared__ Pipe speaking[PIPES];
    for (int i = threadIdx.x; i < count; i += BLOCK)
        speaking[i] = pipes[i];
    __syncthreads();
    const unsigned frame = blockIdx.x * BLOCK + threadIdx.x;
    if (frame >= frames)
        return;
    float left = 0, right = 0;
#pragma unroll 4
    for (int i = 0; i < count; i++) {
        const Pipe &pipe = speaking[i];
        float sample = samples[pipe.first + wrapped(frame + pipe.start, pipe)];
        left += pipe.left * sample;
        right += pipe.right * sample;
    }
    sound[frame] = make_float2(left, right);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "organs");
    const unsigned frames = p.small ? 1000 : 480000;  // ten seconds
    const int count = p.small ? 40 : PIPES;
    const float rate = 48000;

    // A wide chord of the full organ: 12 keys, each with pipes of 16' to 1'. A loop has a whole number of periods and
    // lasts a tenth to a quarter of a second.
    std::vector<Pipe> pipes(count);
    std::vector<short> samples;
    unsigned seed = 1723;
    for (int i = 0; i < count; i++) {
        Pipe &pipe = pipes[i];
        int key = i % 12, stop = i / 12;
        float pitch = 65.4f * exp2f(key * 4 / 12.0f) * exp2f((float)(stop % 5) - 1) * (stop % 3 == 2 ? 1.5f : 1.0f);
        pitch = fminf(pitch, 7000) * (1 + 0.0002f * lcg_next(&seed, 10));
        float periods = floorf(pitch * (0.1f + 0.15f * lcg_next(&seed, 100) / 100.0f));
        pipe.length = (unsigned)(periods * rate / pitch + 0.5f);
        pipe.first = samples.size();
        pipe.start = lcg_next(&seed, pipe.length);
        pipe.reciprocal = (unsigned)((1ull << 32) / pipe.length);
        float gain = 1.0f / (32768 * sqrtf((float)count)), side = lcg_next(&seed, 100) / 100.0f;
        pipe.left = gain * (1 - side);
        pipe.right = gain * side;
        for (unsigned s = 0; s < pipe.length; s++) {
            float phase = 6.2831853f * fmodf(periods * s / pipe.length, 1.0f);
            float wave = sinf(phase) + 0.4f * sinf(2 * phase) + 0.2f * sinf(3 * phase) + 0.1f * sinf(5 * phase);
            samples.push_back((short)(14000 * wave + lcg_next(&seed, 200)));
        }
    }

    Pipe *d_pipes = device_copy_of(pipes.data(), count);
    short *d_samples = device_copy_of(samples.data(), samples.size());
    float2 *d_sound = device_array<float2>(frames);
    pair_time(&p, [&] { organs<<<(frames + BLOCK - 1) / BLOCK, BLOCK>>>(d_pipes, count, d_samples, d_sound, frames); });

    std::vector<float2> sound = host_copy_of(d_sound, frames);
    for (unsigned frame = 0; frame < frames; frame += p.small ? 7 : 401) {
        double left = 0, right = 0;
        for (const Pipe &pipe : pipes) {
            double sample = samples[pipe.first + (frame + pipe.start) % pipe.length];
            left += pipe.left * sample;
            right += pipe.right * sample;
        }
        pair_near(&p, "left", frame, left, sound[frame].x, 1e-5);
        pair_near(&p, "right", frame, right, sound[frame].y, 1e-5);
    }
    return pair_end(&p);
}
