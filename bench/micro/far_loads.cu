// SPDX-License-Identifier: Apache-2.0
// Loads of 4 bytes that a warp waits for together, at places drawn at random in arrays of several sizes, past the L1
// (ld.global.cg): how long it waits for the last one, and how many the GPU serves.
//   far_loads/lines/LOADS/MIB/WARPS    so many loads of a line each (32 lanes side by side)
//   far_loads/gather/LOADS/MIB/WARPS   of 32 sectors each
// MIB: of the array, which was read before; WARPS: of each SM, on all SMs, 0: a single warp on the whole GPU. Cycles
// from the first load's issue to the last one's data, mean over a warp's turns and over warps; note: sectors a cycle of
// the whole GPU.
#include "micro.h"

enum { SMS = 132, TURNS = 192 };

__device__ static inline unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ static inline unsigned load(const unsigned *p) {
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

// `mask`: of places of 32 bytes, one less than there are.
template <int LOADS, bool GATHER> __global__ void far(const unsigned *data, unsigned mask, unsigned seed, i64 *cycles, unsigned *out) {
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sum = 0;
    i64 all = 0;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const unsigned *at[LOADS];
        unsigned got[LOADS];
        for (int k = 0; k < LOADS; k++) {
            unsigned draw = ((seed * 8448 + warp) * TURNS + turn) * LOADS + k + (sum & 1);
            unsigned sector = GATHER ? mixed(draw * 32 + lane) & mask : mixed(draw) & mask & ~3u;
            at[k] = data + (size_t)sector * 8 + (GATHER ? 0 : lane);
        }
        i64 begin = now();
        for (int k = 0; k < LOADS; k++) got[k] = load(at[k]);
        for (int k = 0; k < LOADS; k++) sum += got[k];
        if (sum == 0x12345) out[lane] = sum;  // the data are there
        all += now() - begin;
    }
    if (lane == 0) cycles[warp] = all / TURNS;
    out[warp * 32 + lane] = sum;
}

__global__ void read_all(const uint4 *data, size_t count, unsigned *out) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) sum += data[i].x;
    if (sum == 1) *out = sum;
}

static unsigned *data, *out, launches;
static i64 *cycles;

template <int LOADS, bool GATHER> static void measure(int mib, int warps) {
    static i64 host[SMS * 64];
    unsigned mask = (unsigned)(((size_t)mib << 20) / 32 - 1);
    int blocks = warps ? SMS : 1, threads = 32 * (warps ? warps > 16 ? 16 : warps : 1), per_sm = warps > 16 ? warps / 16 : 1;
    char name[96], note[64];
    auto launch = [&] { far<LOADS, GATHER><<<blocks * per_sm, threads>>>(data, mask, launches++, cycles, out); };
    read_all<<<SMS * 4, 512>>>((uint4 *)data, ((size_t)mib << 20) / 16, out);
    double ns = ns_of(launch), clock = 1.98;  // GHz, of a GPU that is not throttled
    int count = blocks * per_sm * threads / 32;
    CHECK(cudaMemcpy(host, cycles, sizeof(i64) * count, cudaMemcpyDeviceToHost));
    double sum = 0;
    for (int i = 0; i < count; i++) sum += host[i];
    double sectors = (double)count * TURNS * LOADS * (GATHER ? 32 : 4);
    snprintf(name, sizeof name, "far_loads/%s/%d/%d/%d", GATHER ? "gather" : "lines", LOADS, mib, warps);
    snprintf(note, sizeof note, "%.1f sectors/cycle", sectors / (ns * clock));
    report(name, sum / count, "cycles", note);
}

template <int LOADS, bool GATHER> static void sizes(int warps) {
    static const int mib[] = {1, 16, 32, 64, 128, 1024, 8192};
    for (int m : mib) measure<LOADS, GATHER>(m, warps);
}

int main() {
    CHECK(cudaMalloc(&data, (size_t)8 << 30));
    CHECK(cudaMemset(data, 0, (size_t)8 << 30));
    CHECK(cudaMalloc(&out, 1 << 22));
    CHECK(cudaMalloc(&cycles, 1 << 20));
    for (int warps : {0, 1, 4, 16, 64}) {
        sizes<1, false>(warps);
        sizes<2, false>(warps);
        sizes<4, false>(warps);
        sizes<8, false>(warps);
        sizes<16, false>(warps);
        sizes<1, true>(warps);
        sizes<2, true>(warps);
        sizes<4, true>(warps);
        sizes<8, true>(warps);
    }
    return 0;
}
