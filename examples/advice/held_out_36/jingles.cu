// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread loads and stores eight 16-bit samples by one 16-byte access instead of one by a 2-byte access.
// Why: an eighth of the load and store instructions (and of the address arithmetic) moves the same bytes, and more of
// them are under way at a time.
#include "../common.h"

// Mix-down of the 16-bit tracks of a jukebox of advertising jingles into one master track, with a soft limiter.
constexpr int kThreads = 256;
constexpr int kTracks = 12;
#ifdef AFTER
constexpr int kWidth = 8;
#else
constexpr int kWidth = 1;
#endif

struct alignas(kWidth * sizeof(short)) Pack {
    short sample[kWidth];
};

struct Desk {
    float gain[kTracks];
    float drive;    // master gain
    float ceiling;  // no output sample gets beyond this
};

__host__ __device__ static inline float limited(float x, float ceiling) {
    // a rational soft knee: nearly x for small x, the ceiling for large ones
    float a = fabsf(x);
    return ceiling * x / (ceiling + a);
}

// tracks: kTracks rows of `pitch` samples; master: one row
__global__ void __launch_bounds__(kThreads)
    mix_down(const short *__restrict__ tracks, short *__restrict__ master, size_t pitch, int samples, Desk desk) {
    const int at = (blockIdx.x * kThreads + threadIdx.x) * kWidth;
    if (at >= samples)
        return;

    float sum[kWidth] = {};
#pragma unroll
    for (int t = 0; t < kTracks; t++) {
        Pack in = *(const Pack *)(tracks + t * pitch + at);
#pragma unroll
        for (int k = 0; k < kWidth; k++)
            sum[k] += desk.gain[t] * in.sample[k];
    }

    Pack out;
#pragma unroll
    for (int k = 0; k < kWidth; k++)
        out.sample[k] = (short)__float2int_rn(limited(desk.drive * sum[k], desk.ceiling));
    *(Pack *)(master + at) = out;
}

static Desk make_desk() {
    Desk desk;
    unsigned seed = 5;
    for (float &g : desk.gain)
        g = 0.1f + lcg_next(&seed, 1000) * 0.0008f;
    desk.drive = 0.6f;
    desk.ceiling = 32000.0f;
    return desk;
}

// The tracks repeat a loop of music, each from another place of it.
static std::vector<short> make_loop(int length) {
    std::vector<short> loop(length);
    unsigned seed = 77;
    for (short &s : loop)
        s = (short)((int)lcg_next(&seed, 40000) - 20000);
    return loop;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jingles");
    const int length = p.small ? 2048 : 1 << 20;
    const int repeats = p.small ? 2 : 16;
    const int samples = length * repeats;
    const size_t pitch = samples;

    const Desk desk = make_desk();
    std::vector<short> loop = make_loop(length);
    auto shift_of = [&](int t) { return t * (length / 16); };

    short *d_tracks = device_array<short>(pitch * kTracks);
    short *d_master = device_array<short>(samples);
    std::vector<short> turned(length);
    for (int t = 0; t < kTracks; t++) {
        for (int i = 0; i < length; i++)
            turned[i] = loop[(i + shift_of(t)) % length];
        for (int r = 0; r < repeats; r++)
            CUDA_CHECK(cudaMemcpy(d_tracks + t * pitch + (size_t)r * length, turned.data(), length * sizeof(short),
                                  cudaMemcpyHostToDevice));
    }

    const int per_block = kThreads * kWidth;
    const int blocks = (samples + per_block - 1) / per_block;
    pair_time(&p, [&] { mix_down<<<blocks, kThreads>>>(d_tracks, d_master, pitch, samples, desk); });

    std::vector<short> master = host_copy_of(d_master, samples);
    const int every = p.small ? 1 : 61;
    for (int i = 0; i < samples; i += every) {
        float sum = 0;
        for (int t = 0; t < kTracks; t++)
            sum += desk.gain[t] * loop[(i + shift_of(t)) % length];
        double expected = limited(desk.drive * sum, desk.ceiling);
        if (fabs(expected - master[i]) > 1.01)
            pair_near(&p, "master", i, expected, master[i], 0);
    }

    CUDA_CHECK(cudaFree(d_tracks));
    CUDA_CHECK(cudaFree(d_master));
    return pair_end(&p);
}
