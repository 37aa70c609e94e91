// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a block takes the next novel from a common queue when it is done with one, instead of a shelf of its own.
// Why: the novels stand by author, and some authors write long ones; their blocks read on when the others are done.
#include "../common.h"

enum { BLOCK = 256, PER_AUTHOR = 64, COUNTS = 3 };

__device__ __host__ bool is_letter(char c) {
    return (unsigned char)((c | 32) - 'a') < 26;
}

// Words, sentences and capitals of each novel of a library, for measures of style.
__global__ void read(const char *text, const size_t *starts, int3 *styles, int *queue, int novels) {
    __shared__ int parts[COUNTS][BLOCK / 32];
#ifdef AFTER
    __shared__ int taken;
#else
    int shelf = (novels + gridDim.x - 1) / gridDim.x, next = blockIdx.x * shelf, end = min(next + shelf, novels);
#endif
    while (true) {
#ifdef AFTER
        if (threadIdx.x == 0)
            taken = atomicAdd(queue, 1);
        __syncthreads();
        int novel = taken;
        if (novel >= novels)
            break;
#else
        int novel = next++;
        if (novel >= end)
            break;
#endif
        size_t from = starts[novel];
        int length = (int)(starts[novel + 1] - from), counts[COUNTS] = {0, 0, 0};
        for (int i = threadIdx.x; i < length; i += BLOCK) {
            char c = text[from + i], before = i ? text[from + i - 1] : ' ';
            counts[0] += is_letter(c) && !is_letter(before);
            counts[1] += c == '.' || c == '!' || c == '?';
            counts[2] += c >= 'A' && c <= 'Z';
        }
        for (int k = 0; k < COUNTS; k++) {
            for (int gap = 16; gap; gap >>= 1)
                counts[k] += __shfl_xor_sync(~0u, counts[k], gap);
            if (threadIdx.x % 32 == 0)
                parts[k][threadIdx.x / 32] = counts[k];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 0; k < COUNTS; k++)
                for (int w = 1; w < BLOCK / 32; w++)
                    counts[k] += parts[k][w];
            styles[novel] = make_int3(counts[0], counts[1], counts[2]);
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "novels");
    int blocks = p.small ? 8 : 264, novels = p.small ? 24 : 4224;
    std::vector<size_t> starts(novels + 1);
    unsigned seed = 1;
    for (int n = 0; n < novels; n++) {
        int verbose = p.small ? 1 + 3 * (n < 3) : 1 + 3 * (n / PER_AUTHOR % 7 == 3);
        starts[n + 1] = starts[n] + (size_t)verbose * ((p.small ? 200 : 5000) + lcg_next(&seed, p.small ? 100 : 5000));
    }
    const char *letters = "eEtaoinshrdluTA  .,!? \n--eetaoinshrdlu  tanes";
    int kinds = (int)strlen(letters);
    std::vector<char> text(starts[novels]);
    for (char &c : text)
        c = letters[lcg_next(&seed, kinds)];
    char *d_text = device_copy_of(text.data(), text.size());
    size_t *d_starts = device_copy_of(starts.data(), starts.size());
    int3 *d_styles = device_array<int3>(novels);
    int *d_queue = device_array<int>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_queue, 0, sizeof(int)));
        read<<<blocks, BLOCK>>>(d_text, d_starts, d_styles, d_queue, novels);
    });
    std::vector<int3> styles = host_copy_of(d_styles, novels);
    for (int n = 0; n < novels; n++) {
        int words = 0, sentences = 0, capitals = 0;
        for (size_t i = starts[n]; i < starts[n + 1]; i++) {
            char c = text[i], before = i > starts[n] ? text[i - 1] : ' ';
            words += is_letter(c) && !is_letter(before);
            sentences += c == '.' || c == '!' || c == '?';
            capitals += c >= 'A' && c <= 'Z';
        }
        pair_near(&p, "words", n, words, styles[n].x, 0);
        pair_near(&p, "sentences", n, sentences, styles[n].y, 0);
        pair_near(&p, "capitals", n, capitals, styles[n].z, 0);
    }
    return pair_end(&p);
}
