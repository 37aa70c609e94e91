// SPDX-License-Identifier: Apache-2.0
// Asks a GPU's runtime how many blocks fit on an SM, over registers, static and dynamic shared memory and block sizes, and
// writes the rows of src/sim/occupancy_cases.inc:
//   nvcc -arch=sm_90 -o occupancy_record tests/tools/occupancy_record.cu && ./occupancy_record >src/sim/occupancy_cases.inc
// A row is a kernel; its text has a character for each block size (outer) and dynamic size (inner): the answer, '0' + n.
#include <cstdio>

#define CHECK(call)                                                                               \
    do {                                                                                          \
        cudaError_t error_ = (call);                                                              \
        if (error_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));         \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

// As many registers as it may have: 256 values are alive at once.
template <int REGISTERS, int BYTES> __global__ void __maxnreg__(REGISTERS) kernel(float *data) {
    float v[240];
    for (int i = 0; i < 240; i++) v[i] = data[threadIdx.x + i * 1024];
    __syncthreads();
    for (int i = 0; i < 240; i++) data[threadIdx.x + i * 1024] = v[i] * v[(i * 7 + 3) % 240];
    if constexpr (BYTES > 0) {
        __shared__ char bytes[BYTES];
        bytes[threadIdx.x % BYTES] = (char)v[0];
        __syncthreads();
        data[threadIdx.x] = (float)bytes[(threadIdx.x + 1) % BYTES];
    }
}

static const int blocks[] = {1, 32, 33, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 512, 544, 576, 640, 672, 704, 768, 800, 896, 928, 960, 992, 1024};
static const int dynamic[] = {0, 1, 127, 128, 129, 1000, 2048, 4096, 6144, 10000, 16384, 24576, 32768, 49152, 49153, 65536, 77824, 102400, 115712, 116736, 131072, 184320, 231424, 232448};

#define COUNT(array) (int)(sizeof array / sizeof array[0])

template <int REGISTERS, int BYTES> static int row() {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel<REGISTERS, BYTES>));
    CHECK(cudaFuncSetAttribute(kernel<REGISTERS, BYTES>, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - BYTES));
    printf("{%d, %d, %d,", attributes.numRegs, (int)attributes.sharedSizeBytes, attributes.maxThreadsPerBlock);
    int written = 0;
    for (int threads : blocks)
        for (int bytes : dynamic) {
            int n = 0;
            if (written++ % 116 == 0) printf(written == 1 ? "\n \"" : "\"\n \"");
            cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel<REGISTERS, BYTES>, threads, bytes);
            putchar(error ? '!' : '0' + n);
            if (error) cudaGetLastError();
        }
    printf("\"},\n");
    return 0;
}

int main() {
    printf("// SPDX-License-Identifier: Apache-2.0\n// Recorded by tests/tools/occupancy_record.cu, NVIDIA H200, driver 580, CUDA 13.0, 2026-11-21: registers, static shared memory, threads at most, answers.\n");
    int bad = row<16, 0>() + row<24, 0>() + row<32, 0>() + row<33, 0>() + row<40, 0>() + row<48, 0>() + row<56, 0>() + row<64, 0>() +
              row<72, 0>() + row<80, 0>() + row<88, 0>() + row<96, 0>() + row<104, 0>() + row<112, 0>() + row<128, 0>() +
              row<144, 0>() + row<160, 0>() + row<168, 0>() + row<192, 0>() + row<216, 0>() + row<240, 0>() + row<255, 0>() +
              row<32, 1>() + row<32, 1000>() + row<64, 8192>() + row<40, 16384>() + row<64, 33000>() + row<128, 49152>();
    return bad != 0;
}
