// SPDX-License-Identifier: Apache-2.0
// Control flow that simulators get wrong. Compiled as the first line of control.launch says; each kernel's result follows from its text.

// Nested divergent loops: lane l runs l rounds of an inner loop of round+1 steps.
extern "C" __global__ void nested_loops(int *out) {
    int sum = 0;
    for (int i = 0; i < (int)threadIdx.x; i++)
        for (int j = 0; j <= i; j++) sum += (i ^ j) & 1 ? 1 : 2;
    out[threadIdx.x] = sum;
}

// A lock that lanes of one warp fight for: needs independent thread scheduling.
extern "C" __global__ void spin_lock(int *lock, int *counter) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *(volatile int *)counter = *(volatile int *)counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Lane 0 waits for a flag that lane 1 sets after it: producer and consumer in one warp.
extern "C" __global__ void flag_in_warp(volatile int *flag, int *out) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {
        }
        out[0] = *flag;
    } else if (threadIdx.x == 1) {
        *flag = 7;
    }
    out[threadIdx.x + 1] = threadIdx.x;
}

// Both sides of a branch meet at different __syncwarp calls.
extern "C" __global__ void syncwarp_sides(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t & 1) {
        s[t] = t;
        __syncwarp();
        out[t] = s[t ^ 1];
    } else {
        s[t] = 100 + t;
        __syncwarp();
        out[t] = s[t ^ 1];
    }
}

__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
// Recursion whose depth differs between lanes.
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = factorial(threadIdx.x % 10); }

__device__ __noinline__ int early_return(int x) {
    for (int i = 0; i < 100; i++) {
        if (i == x) return i * 10;
        if (x > 20 && i > 5) return -x;
    }
    return 0;
}
extern "C" __global__ void returns(int *out) { out[threadIdx.x] = early_return(threadIdx.x) + (threadIdx.x % 3 ? early_return(3) : 0); }

__device__ int add1(int x) { return x + 1; }
__device__ int twice(int x) { return x * 2; }
__device__ int square(int x) { return x * x; }
typedef int (*unary)(int);
__device__ unary table[3] = {add1, twice, square};
// Calls through a table: three targets in one warp.
extern "C" __global__ void pointers(int *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }

extern "C" __global__ void switches(int *out) {
    int x = threadIdx.x, r;
    switch (x & 15) {
    case 0: r = 3; break;
    case 1: r = x * 5; break;
    case 2: r = x ^ 9; break;
    case 3: r = x << 3; break;
    case 4: r = x - 11; break;
    case 5: r = x | 64; break;
    case 6: r = 77;  // falls through
    case 7: r = x * x; break;
    default: r = -1;
    }
    out[x] = r;
}

// Threads leave before a barrier that the rest waits at.
extern "C" __global__ void exit_before_barrier(int *out) {
    __shared__ int s[96];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 40) return;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + 40];
}

// A barrier of all blocks by hand: every block must be resident at once.
extern "C" __global__ void grid_barrier(volatile int *arrived, int *out) {
    if (threadIdx.x == 0) {
        atomicAdd((int *)arrived, 1);
        while (*arrived < (int)gridDim.x) {
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = *arrived;
}

// Warps hand work to each other through shared memory.
extern "C" __global__ void warp_pipeline(int *out) {
    __shared__ volatile int mailbox;
    if (threadIdx.x == 0) mailbox = 0;
    __syncthreads();
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        while (mailbox != warp) {
        }
        out[warp] = mailbox * 10;
        __threadfence_block();
        mailbox = warp + 1;
    }
}

extern "C" __global__ void barrier_reduce(int *out) {
    int count = __syncthreads_count(threadIdx.x % 3 == 0);
    int all = __syncthreads_and(threadIdx.x < 96);
    int any = __syncthreads_or(threadIdx.x == 50);
    out[threadIdx.x] = count * 100 + all * 10 + any;
}

// Shuffles in a loop that lanes leave at different times.
extern "C" __global__ void partial_shuffle(int *out) {
    int t = threadIdx.x, v = t;
    if (t < 24) {
        for (int d = 1; d < 8; d <<= 1) v += __shfl_xor_sync(0xffffff, v, d);
    }
    out[t] = v;
}

// --- mistakes -------------------------------------------------------------------------------------------------------
extern "C" __global__ void out_of_bounds(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;
}

extern "C" __global__ void misaligned(char *out) { *(int *)(out + 2 * threadIdx.x) = 1; }

extern "C" __global__ void shared_overrun(int *out, int n) {
    __shared__ int s[64];
    for (int i = 0; i <= n; i++) s[i] = i;
    out[threadIdx.x] = s[threadIdx.x];
}

// Half of the threads wait at a barrier that the others never reach.
extern "C" __global__ void lost_barrier(volatile int *flag) {
    if (threadIdx.x < 32) __syncthreads();
    else
        while (*flag == 0) {
        }
}

extern "C" __global__ void endless(volatile int *flag) {
    while (*flag == 0) {
    }
}
