// SPDX-License-Identifier: Apache-2.0
//
// GRAB, section 5, RQ2 and tables 4 and 5: Bitonic_Sort of 512 elements by a block of 512 threads, after NVIDIA's SDK.
enum { N = 512 };

__device__ void sort(int *values) {
    int thread = threadIdx.x;
#pragma unroll 1
    for (int size = 2; size <= N; size *= 2) {
#pragma unroll 1
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = thread ^ stride;
            if (other > thread) {
                bool ascending = !(thread & size);
                int mine = values[thread], its = values[other];
                if (mine > its == ascending) {
                    values[thread] = its;
                    values[other] = mine;
                }
            }
            __syncthreads();
        }
    }
}

// In global memory.
__global__ void bitonic_sort_basic(int *values) { sort(values); }

// In shared memory.
__global__ void bitonic_sort_best(int *values) {
    __shared__ int copy[N];
    copy[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    sort(copy);
    values[threadIdx.x] = copy[threadIdx.x];
}
