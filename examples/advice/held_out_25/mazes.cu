// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: each block takes the next maze from a common counter when it is ready, instead of having a run of mazes.
// Why: the mazes of the book get larger from page to page, so that the SMs with the first pages are done early.
#include "../common.h"

enum { BLOCK = 1024, LARGEST = 64, CELLS = LARGEST * LARGEST, PER_THREAD = CELLS / BLOCK };

struct Maze {
    int size, first;  // rows and columns; where its cells begin
};

// Floods a maze from its upper left cell. Returns how many steps the lower right one is away, -1 if out of reach.
static __device__ int solve(const Maze &maze, const unsigned char *walls, short *steps) {
    int size = maze.size, cells = size * size;
    for (int i = threadIdx.x; i < cells; i += BLOCK)
        steps[i] = walls[maze.first + i] ? -2 : i ? -1 : 0;
    __syncthreads();
    for (int step = 0;; step++) {
        unsigned reached = 0;
        for (int k = 0, i = threadIdx.x; k < PER_THREAD && i < cells; k++, i += BLOCK) {
            int row = i / size, column = i - row * size;
            if (steps[i] != -1)
                continue;
            if ((column > 0 && steps[i - 1] == step) || (column < size - 1 && steps[i + 1] == step) ||
                (row > 0 && steps[i - size] == step) || (row < size - 1 && steps[i + size] == step))
                reached |= 1u << k;
        }
        if (!__syncthreads_or(reached != 0))
            break;
        for (int k = 0; k < PER_THREAD; k++)
            if (reached >> k & 1)
                steps[threadIdx.x + k * BLOCK] = step + 1;
        __syncthreads();
    }
    return steps[cells - 1];
}

// The length of the way through each maze of a book; as many blocks as there are SMs.
__global__ void __launch_bounds__(BLOCK) solve_book(const Maze *mazes, const unsigned char *walls, int *lengths,
                                                    int *next, int count) {
    __shared__ short steps[CELLS];
#ifdef AFTER
    __shared__ int taken;
    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(next, 1);
        __syncthreads();
        int m = taken;
        if (m >= count)
            break;
#else
    int each = (count + gridDim.x - 1) / gridDim.x, end = min((blockIdx.x + 1) * each, count);
    for (int m = blockIdx.x * each; m < end; m++) {
#endif
        int length = solve(mazes[m], walls, steps);
        if (threadIdx.x == 0)
            lengths[m] = length;
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mazes");
    int count = p.small ? 6 : 132 * 16, smallest = p.small ? 6 : 12, largest = p.small ? 16 : LARGEST, sms = 2;
    if (!p.small)
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    std::vector<Maze> mazes(count);
    int cells = 0;
    for (int m = 0; m < count; m++) {
        mazes[m] = {smallest + (largest - smallest) * m / (count - 1), cells};
        cells += mazes[m].size * mazes[m].size;
    }
    std::vector<unsigned char> walls(cells);
    unsigned seed = 9;
    for (unsigned char &wall : walls)
        wall = lcg_next(&seed, 100) < 30;
    for (const Maze &m : mazes)
        walls[m.first] = walls[m.first + m.size * m.size - 1] = 0;
    Maze *d_mazes = device_copy_of(mazes.data(), count);
    unsigned char *d_walls = device_copy_of(walls.data(), cells);
    int *d_lengths = device_array<int>(count), *d_next = device_array<int>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_next, 0, sizeof(int)));
        solve_book<<<sms, BLOCK>>>(d_mazes, d_walls, d_lengths, d_next, count);
    });
    std::vector<int> lengths = host_copy_of(d_lengths, count);
    for (int m = 0; m < count; m += p.small ? 1 : 7) {
        int size = mazes[m].size, all = size * size;
        std::vector<int> steps(all, -1), queue(1, 0);
        steps[0] = 0;
        for (size_t head = 0; head < queue.size(); head++) {
            int at = queue[head], column = at % size;
            int to[4] = {column > 0 ? at - 1 : -1, column < size - 1 ? at + 1 : -1, at - size, at + size};
            for (int next : to)
                if (next >= 0 && next < all && steps[next] < 0 && !walls[mazes[m].first + next]) {
                    steps[next] = steps[at] + 1;
                    queue.push_back(next);
                }
        }
        pair_near(&p, "length", m, steps[all - 1], lengths[m], 1e-9);
    }
    return pair_end(&p);
}
