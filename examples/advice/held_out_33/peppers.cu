// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of the shared tile are 33 floats apart instead of 32.
// Why: a thread walks along its own row; with rows of 32 floats all lanes of a warp read the same bank at a time.
#include "../common.h"

enum { BLOCK = 128, WARPS = BLOCK / 32, BANDS = 32 };

#ifdef AFTER
enum { STRIDE = BANDS + 1 };
#else
enum { STRIDE = BANDS };
#endif

// A sorting line for peppers: a near-infrared line camera gives 32 bands for every pixel, and a partial-least-squares
// model tells the sugar content from the first derivative of the absorbance.
struct Model {
    float weight[BANDS];
    float offset, ripe;
    int first, last;  // bands that count: [first, last)
};

static __device__ float absorbance(unsigned short counts, float white) {
    return log10f(white / (counts + 1.0f));
}

// Derivative and standard normal variate (the spread of the spectrum is scaled to one), in one pass over the bands.
static __device__ float sugar(const float *spectrum, const Model &model) {
    float sum = 0, squares = 0, slope = 0;
    float left = spectrum[model.first - 1], here = spectrum[model.first];
    for (int b = model.first; b < model.last; b++) {
        float right = spectrum[b + 1];
        slope += model.weight[b] * (right - left);
        sum += here;
        squares += here * here;
        left = here;
        here = right;
    }
    float n = model.last - model.first;
    float variance = (squares - sum * sum / n) / (n - 1);
    return model.offset + slope * rsqrtf(fmaxf(variance, 1e-8f));
}

// A block has BLOCK pixels of one camera line; the y index of the grid is the line.
__global__ void grade_peppers(const unsigned short *cube, const float *white, Model model, float *score,
                              unsigned char *grade, int width) {
    __shared__ float tile[BLOCK * STRIDE];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int start = blockIdx.x * BLOCK, pixels = min(width - start, (int)BLOCK);
    size_t line = (size_t)blockIdx.y * width;
    float reference = white[lane];
    for (int p = warp; p < pixels; p += WARPS)
        tile[p * STRIDE + lane] = absorbance(cube[(line + start + p) * BANDS + lane], reference);
    __syncthreads();
    int p = threadIdx.x;
    if (p >= pixels)
        return;
    float s = sugar(tile + p * STRIDE, model);
    score[line + start + p] = s;
    grade[line + start + p] = s > model.ripe ? 2 : s > 0.5f * model.ripe ? 1 : 0;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "peppers");
    int width = p.small ? 1000 : 2000, lines = p.small ? 64 : 1000;
    size_t pixels = (size_t)width * lines;
    std::vector<unsigned short> cube(pixels * BANDS);
    unsigned seed = 5;
    for (size_t i = 0; i < cube.size(); i++)
        cube[i] = (unsigned short)(500 + 60 * (i % BANDS) + lcg_next(&seed, 2048));
    std::vector<float> white = random_floats(BANDS, 4500, 5500, 6), weight = random_floats(BANDS, -1, 1, 7);
    Model model = {};
    std::copy(weight.begin(), weight.end(), model.weight);
    model.offset = 8;
    model.ripe = 9;
    model.first = 1;
    model.last = BANDS - 1;
    unsigned short *d_cube = device_copy_of(cube.data(), cube.size());
    float *d_white = device_copy_of(white.data(), BANDS), *d_score = device_array<float>(pixels);
    unsigned char *d_grade = device_array<unsigned char>(pixels);
    dim3 grid((width + BLOCK - 1) / BLOCK, lines);
    pair_time(&p, [&] { grade_peppers<<<grid, BLOCK>>>(d_cube, d_white, model, d_score, d_grade, width); });

    std::vector<float> score = host_copy_of(d_score, pixels);
    std::vector<unsigned char> grade = host_copy_of(d_grade, pixels);
    for (size_t i = 0; i < pixels; i += 997) {
        double a[BANDS], sum = 0, squares = 0, slope = 0, n = model.last - model.first;
        for (int b = 0; b < BANDS; b++)
            a[b] = log10(white[b] / (cube[i * BANDS + b] + 1.0));
        for (int b = model.first; b < model.last; b++) {
            slope += model.weight[b] * (a[b + 1] - a[b - 1]);
            sum += a[b];
            squares += a[b] * a[b];
        }
        double expected = model.offset + slope / sqrt((squares - sum * sum / n) / (n - 1));
        pair_near(&p, "score", i, expected, score[i], 1e-3);
        pair_near(&p, "grade", i, score[i] > model.ripe ? 2 : score[i] > 0.5f * model.ripe ? 1 : 0, grade[i], 0);
    }
    CUDA_CHECK(cudaFree(d_cube));
    CUDA_CHECK(cudaFree(d_white));
    CUDA_CHECK(cudaFree(d_score));
    CUDA_CHECK(cudaFree(d_grade));
    return pair_end(&p);
}
