// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a row of the snapshots in shared memory gets one complex number of padding.
// Why: with rows of 24 complex numbers the rows of the 32 lanes, one microphone each, begin in only two of the banks.
#include "../common.h"

enum { MICROPHONES = 64, SNAPSHOTS = 24, LANES = 32, ROWS = 8 };

#ifdef AFTER
enum { PITCH = SNAPSHOTS + 1 };
#else
enum { PITCH = SNAPSHOTS };
#endif

__constant__ float sensitivity[MICROPHONES];  // calibration, pascal per volt

// The cross-spectral matrix of an array of microphones, which beamforming of noise sources starts from: for every
// frequency bin the mean over the snapshots of X(i) * conj(X(j)). One CTA makes the matrix of one bin. The diagonal,
// where the noise of the microphones' own wind screens is, is left out.
__global__ void microphones(const float2 *__restrict__ spectra, float2 *__restrict__ matrix) {
    __shared__ float2 snapshot[MICROPHONES][PITCH];
    const int bin = blockIdx.x, thread = threadIdx.y * LANES + threadIdx.x;
    spectra += (size_t)bin * MICROPHONES * SNAPSHOTS;
    matrix += (size_t)bin * MICROPHONES * MICROPHONES;

    for (int e = thread; e < MICROPHONES * SNAPSHOTS; e += LANES * ROWS) {
        const int m = e / SNAPSHOTS, s = e % SNAPSHOTS;
        const float2 volts = spectra[e];
        snapshot[m][s] = make_float2(sensitivity[m] * volts.x, sensitivity[m] * volts.y);
    }
    __syncthreads();

    for (int j = threadIdx.y; j < MICROPHONES; j += ROWS) {
        for (int i = threadIdx.x; i < MICROPHONES; i += LANES) {
            float real = 0, imaginary = 0;
#pragma unroll 4
            for (int s = 0; s < SNAPSHOTS; s++) {
                const float2 a = snapshot[i][s], b = snapshot[j][s];
                real += a.x * b.x + a.y * b.y;
                imaginary += a.y * b.x - a.x * b.y;
            }
            const float scale = i == j ? 0.0f : 1.0f / SNAPSHOTS;
            matrix[j * MICROPHONES + i] = make_float2(scale * real, scale * imaginary);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "microphones");
    const int bins = p.small ? 3 : 2048;
    const size_t inputs = (size_t)bins * MICROPHONES * SNAPSHOTS, outputs = (size_t)bins * MICROPHONES * MICROPHONES;

    // Noise of each microphone's own, and one source that arrives at each with another phase.
    std::vector<float> noise = random_floats(2 * inputs, -0.02f, 0.02f, 17);
    std::vector<float> source = random_floats(2 * (size_t)bins * SNAPSHOTS, -0.1f, 0.1f, 18);
    std::vector<float> gain = random_floats(MICROPHONES, 18, 22, 19);
    std::vector<float2> spectra(inputs);
    for (int bin = 0; bin < bins; bin++)
        for (int m = 0; m < MICROPHONES; m++) {
            const float phase = 0.004f * bin * sinf(0.7f * m), c = cosf(phase), s = sinf(phase);
            for (int k = 0; k < SNAPSHOTS; k++) {
                const size_t e = ((size_t)bin * MICROPHONES + m) * SNAPSHOTS + k;
                const float *a = &source[2 * ((size_t)bin * SNAPSHOTS + k)];
                spectra[e] = make_float2(a[0] * c - a[1] * s + noise[2 * e], a[0] * s + a[1] * c + noise[2 * e + 1]);
            }
        }

    CUDA_CHECK(cudaMemcpyToSymbol(sensitivity, gain.data(), MICROPHONES * sizeof(float)));
    float2 *d_spectra = device_copy_of(spectra.data(), inputs), *d_matrix = device_array<float2>(outputs);
    const dim3 block(LANES, ROWS);
    pair_time(&p, [&] { microphones<<<bins, block>>>(d_spectra, d_matrix); });

    std::vector<float2> matrix = host_copy_of(d_matrix, outputs);
    for (size_t e = 0; e < outputs; e += p.small ? 7 : 1009) {
        const size_t bin = e / (MICROPHONES * MICROPHONES);
        const int j = e / MICROPHONES % MICROPHONES, i = e % MICROPHONES;
        const float2 *a = &spectra[(bin * MICROPHONES + i) * SNAPSHOTS];
        const float2 *b = &spectra[(bin * MICROPHONES + j) * SNAPSHOTS];
        double real = 0, imaginary = 0;
        for (int k = 0; k < SNAPSHOTS && i != j; k++) {
            real += (double)a[k].x * b[k].x + (double)a[k].y * b[k].y;
            imaginary += (double)a[k].y * b[k].x - (double)a[k].x * b[k].y;
        }
        const double scale = (double)gain[i] * gain[j] / SNAPSHOTS;
        pair_near(&p, "real", e, scale * real, matrix[e].x, 1e-4);
        pair_near(&p, "imaginary", e, scale * imaginary, matrix[e].y, 1e-4);
    }
    return pair_end(&p);
}
