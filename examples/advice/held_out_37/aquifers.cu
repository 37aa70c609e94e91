// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the tile of heads of layer k + 1 is copied to shared memory by cp.async while layer k is computed.
// Why: before, every layer waits for its own loads between two barriers; with the copy a layer ahead, the memory
// latency passes while the warps compute.
#include "../common.h"

#include <cuda_pipeline.h>

// One explicit time step of groundwater flow in a confined aquifer:
//   head' = head + dt / S * (sum over 6 faces of T_face * (head_neighbour - head) + recharge)
// T_face is the harmonic mean of the conductivities of the two cells. Boundary cells keep their head.
// A CTA holds a column of TILE_X x TILE_Y cells and walks down through the layers.
constexpr int TILE_X = 32, TILE_Y = 8;
constexpr int PITCH = TILE_X + 2;
constexpr int TILE_CELLS = PITCH * (TILE_Y + 2);
constexpr int THREADS = TILE_X * TILE_Y;
constexpr float DT_OVER_STORAGE = 0.12f;

struct Tile {
    float head[TILE_CELLS];
    float conductivity[TILE_CELLS];
};

__host__ __device__ inline float face(float a, float b) {
    return 2.0f * a * b / (a + b);
}

// Copies one layer of the CTA's tile with a rim of one cell; the rim is clamped at the edge of the model.
__device__ inline void fetch_layer(Tile *tile, const float *__restrict__ head, const float *__restrict__ conductivity,
                                   int layer, int nx, int ny) {
    int thread = threadIdx.y * TILE_X + threadIdx.x;
    for (int c = thread; c < TILE_CELLS; c += THREADS) {
        int x = min(max((int)blockIdx.x * TILE_X + c % PITCH - 1, 0), nx - 1);
        int y = min(max((int)blockIdx.y * TILE_Y + c / PITCH - 1, 0), ny - 1);
        size_t at = ((size_t)layer * ny + y) * nx + x;
#ifdef AFTER
        __pipeline_memcpy_async(&tile->head[c], &head[at], sizeof(float));
        __pipeline_memcpy_async(&tile->conductivity[c], &conductivity[at], sizeof(float));
#else
        tile->head[c] = head[at];
        tile->conductivity[c] = conductivity[at];
#endif
    }
}

__global__ void __launch_bounds__(THREADS) flow_step(const float *__restrict__ head,
                                                     const float *__restrict__ conductivity,
                                                     const float *__restrict__ recharge, float *__restrict__ next,
                                                     int nx, int ny, int layers) {
    __shared__ Tile tiles[2];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    int centre = (threadIdx.y + 1) * PITCH + threadIdx.x + 1;
    bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x;

    // What layer k - 1 still lacks is the flow through its lower face, which comes with layer k.
    float head_above = 0, conductivity_above = 0, flow_above = 0;
    float rain = recharge[at];
#ifdef AFTER
    fetch_layer(&tiles[0], head, conductivity, 0, nx, ny);
    __pipeline_commit();
#endif
    for (int k = 0; k < layers; k++) {
        const Tile &t = tiles[k & 1];
#ifdef AFTER
        if (k + 1 < layers)
            fetch_layer(&tiles[(k + 1) & 1], head, conductivity, k + 1, nx, ny);
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        fetch_layer(&tiles[k & 1], head, conductivity, k, nx, ny);
#endif
        __syncthreads();
        float h = t.head[centre], c = t.conductivity[centre];
        float flow = face(c, t.conductivity[centre - 1]) * (t.head[centre - 1] - h);
        flow += face(c, t.conductivity[centre + 1]) * (t.head[centre + 1] - h);
        flow += face(c, t.conductivity[centre - PITCH]) * (t.head[centre - PITCH] - h);
        flow += face(c, t.conductivity[centre + PITCH]) * (t.head[centre + PITCH] - h);
        if (k == 0) {
            flow += rain;
        } else {
            float down = face(c, conductivity_above) * (head_above - h);
            flow += down;
            next[at - plane] = head_above + (inner ? DT_OVER_STORAGE * (flow_above - down) : 0.0f);
        }
        head_above = h;
        conductivity_above = c;
        flow_above = flow;
        at += plane;
        __syncthreads();
    }
    next[at - plane] = head_above + (inner ? DT_OVER_STORAGE * flow_above : 0.0f);
}

static float step_on_cpu(const std::vector<float> &head, const std::vector<float> &cond,
                         const std::vector<float> &recharge, int nx, int ny, int layers, int x, int y, int k) {
    long plane = (long)nx * ny, at = k * plane + (long)y * nx + x;
    if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1)
        return head[at];
    float flow = k == 0 ? recharge[(long)y * nx + x] : 0.0f;
    long neighbours[6] = {at - 1, at + 1, at - nx, at + nx, at - plane, at + plane};
    for (int n = 0; n < 6; n++)
        if (neighbours[n] >= 0 && neighbours[n] < plane * layers)
            flow += face(cond[at], cond[neighbours[n]]) * (head[neighbours[n]] - head[at]);
    return head[at] + DT_OVER_STORAGE * flow;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "aquifers");
    int nx = p.small ? 64 : 384, ny = p.small ? 16 : 256, layers = p.small ? 6 : 128;
    size_t cells = (size_t)nx * ny * layers;
    std::vector<float> head = random_floats(cells, 20.0f, 40.0f, 5);
    std::vector<float> cond = random_floats(cells, 0.1f, 1.0f, 6);
    std::vector<float> recharge = random_floats((size_t)nx * ny, 0.0f, 0.5f, 7);
    float *d_head = device_copy_of(head.data(), cells);
    float *d_cond = device_copy_of(cond.data(), cells);
    float *d_recharge = device_copy_of(recharge.data(), recharge.size());
    float *d_next = device_array<float>(cells);

    dim3 grid(nx / TILE_X, ny / TILE_Y), block(TILE_X, TILE_Y);
    pair_time(&p, [&] { flow_step<<<grid, block>>>(d_head, d_cond, d_recharge, d_next, nx, ny, layers); });

    std::vector<float> next = host_copy_of(d_next, cells);
    size_t step = p.small ? 1 : 97;
    for (size_t i = 0; i < cells; i += step) {
        int x = i % nx, y = i / nx % ny, k = i / ((size_t)nx * ny);
        pair_near(&p, "head", i, step_on_cpu(head, cond, recharge, nx, ny, layers, x, y, k), next[i], 1e-4);
    }
    CUDA_CHECK(cudaFree(d_head));
    CUDA_CHECK(cudaFree(d_cond));
    CUDA_CHECK(cudaFree(d_recharge));
    CUDA_CHECK(cudaFree(d_next));
    return pair_end(&p);
}
