// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the rows of the system are dealt to the warps in turn instead of in eight pieces of neighbouring rows.
// Why: row k is done with after step k, so the warps with the upper rows soon only wait at the barrier, and the lower
// rows are the longer ones too.
#include "../common.h"

enum { WARPS = 8, BLOCK = 32 * WARPS };

// Easting, northing, depth (metres) and the grade of the ore (grams per tonne) of a sample from a drill hole.
using Sample = float4;

struct Model {
    float nugget, sill, range, mean;  // spherical variogram with an isotropic range in metres, mean grade
};

__host__ __device__ inline float covariance(const Model &model, float dx, float dy, float dz) {
    const float h = sqrtf(dx * dx + dy * dy + dz * dz) / model.range;
    return h < 1 ? model.sill * (1 - h * (1.5f - 0.5f * h * h)) : 0.0f;
}

// Simple kriging: the grade of a block of the mine from the samples around it, one CTA to a block. Below the covariance
// matrix C of the samples stand the covariances c with the block, and below them the samples' grades g less the mean.
// When the columns of C are eliminated, what is left in the corner is the variance s - c'C^-1 c and -g'C^-1 c.
__global__ void ores(const Sample *__restrict__ samples, const int *__restrict__ chosen, int count,
                     const float4 *__restrict__ blocks, Model model, float2 *__restrict__ estimate) {
    extern __shared__ float4 memory[];
    Sample *sample = memory;
    float *matrix = (float *)(memory + count);
    const int rows = count + 2, pitch = count + 3;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float4 block = blocks[blockIdx.x];

    for (int i = threadIdx.x; i < count; i += BLOCK)
        sample[i] = samples[chosen[blockIdx.x * count + i]];
    __syncthreads();
    for (int i = warp; i < rows; i += WARPS)
        for (int j = lane; j <= i; j += 32) {
            float value = i == j && i == count ? model.sill : 0.0f;
            if (j < count) {
                const Sample a = i < count ? sample[i] : block, b = sample[j];
                value = i > count ? b.w - model.mean : covariance(model, a.x - b.x, a.y - b.y, a.z - b.z);
                if (i == j)
                    value += model.nugget;
            }
            matrix[i * pitch + j] = value;
        }

#ifdef AFTER
    const int first = warp, last = rows, stride = WARPS;
#else
    const int piece = (rows + WARPS - 1) / WARPS;
    const int first = warp * piece, last = min(first + piece, rows), stride = 1;
#endif
    for (int k = 0; k < count; k++) {
        __syncthreads();
        const float *column = matrix + k;
        const float pivot = 1 / column[k * pitch];
        for (int i = first; i < last; i += stride) {
            if (i <= k)
                continue;
            const float factor = column[i * pitch] * pivot;
            for (int j = k + 1 + lane; j <= i; j += 32)
                matrix[i * pitch + j] -= factor * column[j * pitch];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        estimate[blockIdx.x] =
            make_float2(model.mean - matrix[(count + 1) * pitch + count], matrix[count * pitch + count]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ores");
    // A block has the samples of the 4 by 4 holes around it, from `levels` depths each.
    const int levels = p.small ? 2 : 10, count = 16 * levels, holes = p.small ? 6 : 14, depths = p.small ? 6 : 30;
    const int across = p.small ? 3 : 11, deep = p.small ? 1 : 8, n = across * across * deep;
    const float spacing = 20, core = 4;
    const Model model = {0.15f, 1.0f, 60.0f, 2.5f};

    std::vector<Sample> samples;
    unsigned seed = 1849;
    for (int hole = 0; hole < holes * holes; hole++) {
        const float east = spacing * (hole % holes + 0.004f * lcg_next(&seed, 100));
        const float north = spacing * (hole / holes + 0.004f * lcg_next(&seed, 100));
        for (int d = 0; d < depths; d++) {
            const float depth = core * (d + 0.5f), vein = sinf(0.03f * east + 0.02f * north - 0.05f * depth);
            samples.push_back(make_float4(east, north, depth, 2.5f + vein + 0.005f * lcg_next(&seed, 200) - 0.5f));
        }
    }
    std::vector<float4> blocks(n);
    std::vector<int> chosen;
    for (int b = 0; b < n; b++) {
        const int column = b % across, row = b / across % across, layer = b / across / across * 2;
        blocks[b] = make_float4(spacing * (column + 1.7f), spacing * (row + 1.6f), core * (layer + levels / 2), 0);
        for (int i = 0; i < count; i++) {
            const int hole = (row + i / levels / 4) * holes + column + i / levels % 4;
            chosen.push_back(hole * depths + layer + i % levels);
        }
    }

    const size_t shared = count * sizeof(Sample) + (size_t)(count + 2) * (count + 3) * sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(ores, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    Sample *d_samples = device_copy_of(samples.data(), samples.size());
    int *d_chosen = device_copy_of(chosen.data(), chosen.size());
    float4 *d_blocks = device_copy_of(blocks.data(), n);
    float2 *d_estimate = device_array<float2>(n);
    pair_time(&p, [&] { ores<<<n, BLOCK, shared>>>(d_samples, d_chosen, count, d_blocks, model, d_estimate); });

    std::vector<float2> estimate = host_copy_of(d_estimate, n);
    for (int b = 0; b < n; b += p.small ? 2 : 41) {
        // The weights by Gauss-Jordan elimination of C w = c in double.
        const int width = count + 1;
        std::vector<double> system(count * width), right(count);
        for (int i = 0; i < count; i++) {
            const Sample &a = samples[chosen[b * count + i]];
            for (int j = 0; j < count; j++) {
                const Sample &c = samples[chosen[b * count + j]];
                system[i * width + j] = covariance(model, a.x - c.x, a.y - c.y, a.z - c.z) + (i == j) * model.nugget;
            }
            const float4 &block = blocks[b];
            right[i] = covariance(model, a.x - block.x, a.y - block.y, a.z - block.z);
            system[i * width + count] = right[i];
        }
        for (int k = 0; k < count; k++)
            for (int i = 0; i < count; i++) {
                const double factor = system[i * width + k] / system[k * width + k];
                for (int j = k; i != k && j < width; j++)
                    system[i * width + j] -= factor * system[k * width + j];
            }
        double grade = model.mean, variance = model.sill;
        for (int i = 0; i < count; i++) {
            const double weight = system[i * width + count] / system[i * width + i];
            grade += weight * (samples[chosen[b * count + i]].w - model.mean);
            variance -= weight * right[i];
        }
        pair_near(&p, "grade", b, grade, estimate[b].x, 1e-3);
        pair_near(&p, "variance", b, variance, estimate[b].y, 1e-3);
    }
    return pair_end(&p);
}
