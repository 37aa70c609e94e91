// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the number of rotations is known when compiling, and the loop is unrolled.
// Why: a rotation is a handful of instructions; counting, the load of its angle and shifts by a variable add as many.
#include "../common.h"

enum { BLOCK = 256, ROTATIONS = 14 };

static const int angles[ROTATIONS] = {8192, 4836, 2555, 1297, 651, 326, 163, 81, 41, 20, 10, 5, 3, 1};
__constant__ int d_angles[ROTATIONS];

// CORDIC: turns the vector onto the positive x axis; a whole turn is 65536.
static __device__ inline int phase_of(short2 sample, int rotations) {
    int x = abs(sample.x) << 10, y = (sample.x < 0 ? -sample.y : sample.y) * 1024, phase = sample.x < 0 ? 32768 : 0;
#ifdef AFTER
#pragma unroll
    for (int r = 0; r < ROTATIONS; r++) {
#else
    for (int r = 0; r < rotations; r++) {
#endif
        int across = y >> r, along = x >> r;
        bool above = y > 0;
        x += above ? across : -across;
        y -= above ? along : -along;
        phase += above ? d_angles[r] : -d_angles[r];
    }
    return phase;
}

// Sound of an FM station: how far the phase went from one sample of the receiver to the next.
__global__ void fm_phase(const short2 *samples, short *sound, int rotations) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    sound[i] = (short)(phase_of(samples[i + 1], rotations) - phase_of(samples[i], rotations));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fm_phase");
    int n = p.small ? 1 << 12 : 1 << 23;
    std::vector<short2> samples(n + 1);
    std::vector<float> noise = random_floats(n + 1, -400, 400, 1);
    for (int i = 0; i <= n; i++) {
        static const short circle[16] = {9000,  8315,  6364,  3444,  0, -3444, -6364, -8315,
                                         -9000, -8315, -6364, -3444, 0, 3444,  6364,  8315};
        int at = i * 3 + (i >> 7);
        samples[i] = {(short)(circle[at % 16] + noise[i]), (short)(circle[(at + 12) % 16] - noise[i])};
    }
    short2 *d_samples = device_copy_of(samples.data(), samples.size());
    short *d_sound = device_array<short>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(d_angles, angles, sizeof angles));
    pair_time(&p, [&] { fm_phase<<<n / BLOCK, BLOCK>>>(d_samples, d_sound, ROTATIONS); });
    std::vector<short> sound = host_copy_of(d_sound, n);
    for (int i = 0; i < n; i += 251) {
        double turn = 65536 / (2 * acos(-1.0));
        double step = turn * (atan2(samples[i + 1].y, samples[i + 1].x) - atan2(samples[i].y, samples[i].x));
        pair_near(&p, "sound", i, 0, remainder(step - sound[i], 65536), 24);
    }
    return pair_end(&p);
}
