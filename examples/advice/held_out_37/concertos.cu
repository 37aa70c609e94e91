// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread mixes 8 neighbouring samples, which it loads and stores as one 16-byte access, instead of one.
// Why: a load of 2 bytes a lane moves 64 bytes a warp; with 16 bytes a lane an eighth of the instructions keep eight
// times the bytes in flight.
#include "../common.h"

// The mixing desk of a concert recording: the tracks of all microphones, 16-bit PCM with left and right interleaved,
// are mixed into one stereo bus. Every track has a gain for each side; the sum is limited by a soft knee and quantised
// to 16 bits again, with a triangular dither that depends on the sample's number.
constexpr int TRACKS = 12;
constexpr int THREADS = 256;
#ifdef AFTER
constexpr int WIDTH = 8;  // samples of a thread
#else
constexpr int WIDTH = 1;  // samples of a thread
#endif

struct Desk {
    float gain[2][TRACKS];  // left, right
    float knee;             // full scale is 32768
};

__constant__ Desk desk;

struct alignas(WIDTH * sizeof(short)) Samples {
    short s[WIDTH];
};

// Linear below the knee, then bent towards full scale.
__host__ __device__ inline float soft_limit(float x, float knee) {
    float level = fabsf(x);
    if (level <= knee)
        return x;
    float room = 32767.0f - knee;
    float over = (level - knee) / room;
    return copysignf(knee + room * over / (1.0f + over), x);
}

__host__ __device__ inline float dither(unsigned sample) {
    unsigned h = sample * 2654435761u;
    h ^= h >> 15;
    return ((int)(h & 255u) - (int)(h >> 24)) * (0.5f / 256.0f);
}

__global__ void __launch_bounds__(THREADS) mix_tracks(const short *__restrict__ tracks, short *__restrict__ bus,
                                                      int samples) {
    int i = (blockIdx.x * THREADS + threadIdx.x) * WIDTH;
    if (i >= samples)
        return;
    float sum[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; k++)
        sum[k] = 0;

#pragma unroll 4
    for (int t = 0; t < TRACKS; t++) {
        Samples in = *reinterpret_cast<const Samples *>(&tracks[(size_t)t * samples + i]);
        float left = desk.gain[0][t], right = desk.gain[1][t];
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            sum[k] += ((i + k) & 1 ? right : left) * in.s[k];
    }

    Samples out;
#pragma unroll
    for (int k = 0; k < WIDTH; k++) {
        float limited = soft_limit(sum[k], desk.knee) + dither(i + k);
        out.s[k] = (short)fminf(fmaxf(rintf(limited), -32768.0f), 32767.0f);
    }
    *reinterpret_cast<Samples *>(&bus[i]) = out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "concertos");
    int samples = p.small ? 8192 : 2 * 48000 * 64;  // 64 s of stereo at 48 kHz
    size_t count = (size_t)TRACKS * samples;

    // Instruments: a slow triangle wave a track plus bow noise.
    std::vector<short> tracks(count);
    unsigned seed = 31;
    for (int t = 0; t < TRACKS; t++) {
        int period = 180 + 17 * t, phase = 0;
        for (int i = 0; i < samples; i++) {
            int wave = 60 * abs(2 * phase - period) - 12000;
            if (i & 1)
                phase = phase + 1 == period ? 0 : phase + 1;
            seed = seed * 1664525u + 1013904223u;
            tracks[(size_t)t * samples + i] = (short)(wave + (int)(seed >> 20) - 2048);
        }
    }
    Desk host;
    for (int t = 0; t < TRACKS; t++) {
        float pan = (t + 0.5f) / TRACKS;
        host.gain[0][t] = 0.7f * sqrtf(1.0f - pan);
        host.gain[1][t] = 0.7f * sqrtf(pan);
    }
    host.knee = 24000.0f;

    CUDA_CHECK(cudaMemcpyToSymbol(desk, &host, sizeof host));
    short *d_tracks = device_copy_of(tracks.data(), count);
    short *d_bus = device_array<short>(samples);
    int per_block = THREADS * WIDTH;
    int blocks = (samples + per_block - 1) / per_block;
    pair_time(&p, [&] { mix_tracks<<<blocks, THREADS>>>(d_tracks, d_bus, samples); });

    std::vector<short> bus = host_copy_of(d_bus, samples);
    int step = p.small ? 1 : 61;
    for (int i = 0; i < samples; i += step) {
        float sum = 0;
        for (int t = 0; t < TRACKS; t++)
            sum += host.gain[i & 1][t] * tracks[(size_t)t * samples + i];
        double expected = soft_limit(sum, host.knee) + dither(i);
        // Rounding to 16 bits may go either way: at most one step away.
        double difference = fabs(expected - bus[i]);
        pair_near(&p, "bus", i, expected, difference <= 1.0 ? expected : bus[i], 1e-6);
    }
    CUDA_CHECK(cudaFree(d_tracks));
    CUDA_CHECK(cudaFree(d_bus));
    return pair_end(&p);
}
