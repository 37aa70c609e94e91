// SPDX-License-Identifier: Apache-2.0
// Which loops lanes leave one after the other for good: in how many parts they come behind a loop that lane l leaves
// after l turns, behind the `if` around it, which the first lanes do not enter, behind a second `if`, behind
// __syncthreads() and behind __syncwarp(). Counts, not times.
#include "micro.h"

#define LANES 32
enum { LOOP, AROUND, LATER, BLOCK, WARP, PLACES };

__device__ static inline int active() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
    return __popc(mask);
}

// What decides whether lane `l` of turn `i` stays: each as long as i < l.
__device__ static int mine[LANES];
#define PLAIN(i, l) ((i) < (l))
#define WEAK(i, l) (steps[i] < (l))
#define VOLATILE(i, l) (((volatile int *)steps)[i] < (l))
#define RELAXED(i, l) (load("ld.relaxed.gpu.global.u32", steps + (i)) < (l))
#define ACQUIRE(i, l) (load("ld.acquire.gpu.global.u32", steps + (i)) < (l))
#define ADD(i, l) (atomicAdd(mine + (l), 1) < (l))
#define CAS(i, l) (atomicCAS(mine + (l), (i), (i) + 1) < (l))
#define EXCH(i, l) (atomicExch(mine + (l), (i) + 1) < (l))
#define SHARED_VOLATILE(i, l) (((volatile int *)shared)[i] < (l))
#define SHARED_ADD(i, l) (atomicAdd(shared + LANES + (l), 1) < (l))
#define ADD_UNREAD(i, l) (atomicAdd(mine + (l), 1), (i) < (l))
#define ADD_ASIDE(i, l) (odd += atomicAdd(mine + (l), 1) & 1, (i) < (l))
#define load(name, at)                                                   \
    ({                                                                   \
        int v_;                                                          \
        asm volatile(name " %0, [%1];" : "=r"(v_) : "l"(at) : "memory"); \
        v_;                                                              \
    })

#define KERNEL(name, stays)                                      \
    __global__ void name(const int *steps, int *out, int from) { \
        __shared__ int shared[2 * LANES];                        \
        int l = threadIdx.x, i = 0, odd = 0;                     \
        shared[l] = l, shared[LANES + l] = 0, mine[l] = 0;       \
        __syncthreads();                                         \
        if (l >= from) {                                         \
            while (stays(i, l)) i++;                             \
            out[LOOP * LANES + l] = active();                    \
        }                                                        \
        out[AROUND * LANES + l] = active();                      \
        if (l & 1) out[(PLACES + 1) * LANES + l] = active();     \
        out[LATER * LANES + l] = active();                       \
        __syncthreads();                                         \
        out[BLOCK * LANES + l] = active();                       \
        __syncwarp();                                            \
        out[WARP * LANES + l] = active();                        \
        out[PLACES * LANES + l] = i + odd + shared[l];           \
    }
KERNEL(plain, PLAIN)
KERNEL(weak, WEAK)
KERNEL(volatile_load, VOLATILE)
KERNEL(relaxed_load, RELAXED)
KERNEL(acquire_load, ACQUIRE)
KERNEL(add, ADD)
KERNEL(cas, CAS)
KERNEL(exch, EXCH)
KERNEL(shared_volatile, SHARED_VOLATILE)
KERNEL(shared_add, SHARED_ADD)
KERNEL(add_unread, ADD_UNREAD)
KERNEL(add_aside, ADD_ASIDE)

static void print(const char *name, void (*kernel)(const int *, int *, int), int from) {
    static int steps[LANES + 1], seen[(PLACES + 2) * LANES];
    int *d_steps, *d_out;
    for (int i = 0; i <= LANES; i++) steps[i] = i;
    CHECK(cudaMalloc(&d_steps, sizeof steps));
    CHECK(cudaMalloc(&d_out, sizeof seen));
    CHECK(cudaMemcpy(d_steps, steps, sizeof steps, cudaMemcpyHostToDevice));
    kernel<<<1, LANES>>>(d_steps, d_out, from);
    CHECK(cudaMemcpy(seen, d_out, sizeof seen, cudaMemcpyDeviceToHost));
    printf("%s\t%d", name, LANES - from);
    for (int p = 0; p < PLACES; p++) {
        double parts = 0;  // lanes that come together count as one
        for (int l = p == LOOP ? from : 0; l < LANES; l++) parts += 1.0 / seen[p * LANES + l];
        printf("\t%g", parts);
    }
    printf("\n");
    CHECK(cudaFree(d_steps));
    CHECK(cudaFree(d_out));
}

int main() {
    printf("# loop\tlanes\tparts behind it\tbehind the `if` around it\tbehind another `if`\tbehind "
           "__syncthreads()\tbehind "
           "__syncwarp()\n");
    static const struct {
        const char *name;
        void (*kernel)(const int *, int *, int);
    } loops[] = {{"plain", plain},
                 {"weak", weak},
                 {"volatile_load", volatile_load},
                 {"relaxed_load", relaxed_load},
                 {"acquire_load", acquire_load},
                 {"add", add},
                 {"cas", cas},
                 {"exch", exch},
                 {"shared_volatile", shared_volatile},
                 {"shared_add", shared_add},
                 {"add_unread", add_unread},
                 {"add_aside", add_aside}};
    for (int from : {0, 8, 31})
        for (const auto &loop : loops) print(loop.name, loop.kernel, from);
    return 0;
}
