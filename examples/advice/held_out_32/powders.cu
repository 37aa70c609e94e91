// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 256 threads instead of 64; there are as many blocks as before.
// Why: a block has one angle of one grain, and there are two blocks for each SM: 64 threads are one warp for each of
// its four schedulers, which waits for its own sines and divisions.
#include "../common.h"

enum { ATOMS_MAX = 768 };

#ifdef AFTER
enum { THREADS = 256 };
#else
enum { THREADS = 64 };
#endif

struct Beam {
    float q_first, q_step;  // length of the scattering vector, 1/angstrom
    float shake;            // mean square displacement of an atom, angstrom^2
};

static __device__ float warp_sum(float x) {
    for (int s = 16; s; s >>= 1)
        x += __shfl_xor_sync(0xffffffffu, x, s);
    return x;
}

template <int N> static __device__ float block_sum(float x) {
    __shared__ float part[N / 32];
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < N / 32; w++)
        sum += part[w];
    return sum;
}

// sin(x) / x
static __device__ float sinc(float x) { return x < 1e-4f ? 1.0f : sinf(x) / x; }

// X-rays scattered by a powder of small grains (Debye's formula): for every angle (blockIdx.x) and every shape of
// grain (blockIdx.y) a sum over all pairs of atoms. An atom is its place and its form factor.
template <int N>
__global__ void __launch_bounds__(N)
    powders(const float4 *__restrict__ grains, const int *__restrict__ sizes, float *__restrict__ intensity,
            Beam beam) {
    __shared__ float4 atoms[ATOMS_MAX];
    int size = sizes[blockIdx.y];
    const float4 *grain = grains + (size_t)blockIdx.y * ATOMS_MAX;
    for (int i = threadIdx.x; i < size; i += N)
        atoms[i] = grain[i];
    __syncthreads();
    float q = beam.q_first + blockIdx.x * beam.q_step, sum = 0;
    for (int i = threadIdx.x; i < size; i += N) {
        float4 a = atoms[i];
        float row = 0;
        for (int j = 0; j < size; j++) {
            float4 b = atoms[j];
            float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
            row += b.w * sinc(q * sqrtf(dx * dx + dy * dy + dz * dz));
        }
        sum += a.w * row;
    }
    sum = block_sum<N>(sum);
    if (threadIdx.x == 0)
        intensity[blockIdx.y * gridDim.x + blockIdx.x] = expf(-q * q * beam.shake / 3.0f) * sum / size;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "powders");
    int shapes = 4, angles = p.small ? 33 : 66;
    Beam beam = {0.5f, p.small ? 0.3f : 0.15f, 0.006f};
    // Grains cut from a cubic lattice of two kinds of atoms: boxes that get flatter from shape to shape.
    std::vector<float4> grains((size_t)shapes * ATOMS_MAX);
    std::vector<int> sizes(shapes);
    std::vector<float> jitter = random_floats(grains.size() * 3, -0.05f, 0.05f, 1);
    for (int g = 0; g < shapes; g++) {
        int width = 8 + g, layers = (p.small ? 192 : ATOMS_MAX) / (width * width);
        for (int i = 0; i < width * width * layers; i++) {
            int x = i % width, y = i / width % width, z = i / width / width;
            size_t at = (size_t)g * ATOMS_MAX + i;
            grains[at] = make_float4(2.8f * x + jitter[3 * at], 2.8f * y + jitter[3 * at + 1],
                                     2.8f * z + jitter[3 * at + 2], (x + y + z) & 1 ? 1.7f : 1.1f);
        }
        sizes[g] = width * width * layers;
    }
    float4 *d_grains = device_copy_of(grains.data(), grains.size());
    int *d_sizes = device_copy_of(sizes.data(), shapes);
    float *d_intensity = device_array<float>((size_t)shapes * angles);
    dim3 grid(angles, shapes);
    pair_time(&p, [&] { powders<THREADS><<<grid, THREADS>>>(d_grains, d_sizes, d_intensity, beam); });
    std::vector<float> intensity = host_copy_of(d_intensity, (size_t)shapes * angles);
    for (int g = 0; g < shapes; g++)
        for (int k = g; k < angles; k += 16) {
            double q = (double)beam.q_first + k * (double)beam.q_step, sum = 0;
            const float4 *a = &grains[(size_t)g * ATOMS_MAX];
            for (int i = 0; i < sizes[g]; i++) {
                sum += (double)a[i].w * a[i].w;
                for (int j = 0; j < i; j++) {
                    double dx = a[i].x - a[j].x, dy = a[i].y - a[j].y, dz = a[i].z - a[j].z;
                    double x = q * sqrt(dx * dx + dy * dy + dz * dz);
                    sum += 2.0 * a[i].w * a[j].w * sin(x) / x;
                }
            }
            pair_near(&p, "intensity", (size_t)g * angles + k, exp(-q * q * beam.shake / 3) * sum / sizes[g],
                      intensity[(size_t)g * angles + k], 2e-3);
        }
    return pair_end(&p);
}
