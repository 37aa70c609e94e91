#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs built by nvcc, each way a program can have the runtime, on the simulator (77: no nvcc here, skipped).
set -eu
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
library=$WARPLENS_BUILD/lib/libcudart.so.13
[ -e "$library" ] || exit 77
export WARPLENS_GPU_DIR=$PWD/gpus WARPLENS_PROGRESS=0
unset WARPLENS_OUTPUT
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
say() { echo "programs.sh: $*" >&2; failed=1; }

cat >"$folder/main.cu" <<'END'
#include <cstdio>
__constant__ int scale = 2;
__device__ int total;
__managed__ int managed = 40;
__global__ void work(const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&total, in[i] * scale);
    if (i == 0) { managed += 2; printf("device says %d\n", n); }
}
int main() {
    int n = 1000, host[1000], *device, sum = 0;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    work<<<4, 256>>>(device, n);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&sum, total, sizeof sum);
    printf("%s sum %d managed %d\n", cudaGetErrorName(error), sum, managed);
    return 0;
}
END
expected=$'device says 1000\ncudaSuccess sum 999000 managed 42'

check() { # name, command...
    local name=$1 got
    shift
    got=$("$@" 2>"$folder/err") || say "$name: exit status $?"
    [ "$got" = "$expected" ] || say "$name: got '$got'"
    [ ! -s "$folder/err" ] || say "$name: stderr '$(head -c 500 "$folder/err")'"
}

# Links with the shared runtime. Where the linker finds another version's first (a machine with two toolkits), ours
# is named instead: what such a program is told is tested in cli_errors.sh.
build_shared() { # program, source, argument...
    "$nvcc" -cudart shared -o "$@"
    readelf -d "$1" | grep -q 'NEEDED.*libcudart\.so\.13' || "$nvcc" -cudart none -o "$@" -L"$WARPLENS_BUILD/lib" -l:libcudart.so.13
}

"$nvcc" -o "$folder/static" "$folder/main.cu"
build_shared "$folder/shared" "$folder/main.cu"
"$nvcc" -rdc=true -o "$folder/rdc" "$folder/main.cu"
"$nvcc" -Xcompiler -no-pie -o "$folder/fixed" "$folder/main.cu"
strip -o "$folder/stripped" "$folder/static"
check static env LD_PRELOAD="$library" "$folder/static"
check shared env LD_LIBRARY_PATH="$WARPLENS_BUILD/lib" "$folder/shared"
check preloaded env LD_PRELOAD="$library" LD_LIBRARY_PATH="${CUDA_HOME:-/usr/local/cuda}/lib64" "$folder/shared"
check rdc env LD_PRELOAD="$library" "$folder/rdc"
check fixed env LD_PRELOAD="$library" "$folder/fixed"

# The driver API beside the runtime API: what one makes, the other uses.
cat >"$folder/both.cu" <<'END'
#include <cstdio>
#include <cuda.h>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main() {
    int words[4] = {1, 2, 3, 4};
    CUdeviceptr d;
    cudaFunction_t f;
    CUstream s;
    CUcontext c;
    cudaSetDevice(0);
    cuCtxGetCurrent(&c);
    cuStreamCreate(&s, 0);
    cuMemAlloc(&d, sizeof words);
    cudaMemcpyAsync((void *)d, words, sizeof words, cudaMemcpyHostToDevice, s);
    cudaGetFuncBySymbol(&f, (void *)twice);
    void *args[] = {&d};
    CUresult r = cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, s, args, NULL);
    twice<<<1, 4, 0, s>>>((int *)d);
    cuMemcpyDtoH(words, d, sizeof words);
    printf("%d %d: %d %d %d %d\n", c != NULL, r, words[0], words[1], words[2], words[3]);
    return 0;
}
END
expected="1 0: 4 8 12 16"
preload="$library:$WARPLENS_BUILD/lib/libcuda.so.1"
driver=(-L"${CUDA_HOME:-/usr/local/cuda}/lib64/stubs" -lcuda)
"$nvcc" -o "$folder/both_static" "$folder/both.cu" "${driver[@]}"
build_shared "$folder/both_shared" "$folder/both.cu" "${driver[@]}"
for kind in static shared; do
    check "both, $kind cudart" env LD_PRELOAD="$preload" LD_LIBRARY_PATH="${CUDA_HOME:-/usr/local/cuda}/lib64" "$folder/both_$kind"
done

bash -c 'LD_PRELOAD=$0 "$1" >/dev/null; true' "$library" "$folder/stripped" 2>"$folder/err"
grep -q 'link it with -cudart shared, or do not strip it' "$folder/err" || say "stripped: no remedy named"

# Two processes of one run each write their own profile, under the name asked for and beside it.
WARPLENS_RUN=$(date +%s%N) WARPLENS_OUTPUT=$folder/run.wlp LD_PRELOAD=$library bash -c "'$folder/static' >/dev/null; '$folder/static' >/dev/null"
[ "$(ls "$folder" | grep -c '^run.*wlp$')" = 2 ] || say "profiles: $(ls "$folder")"

# Silent in programs without CUDA.
[ "$(LD_PRELOAD=$library bash -c 'echo quiet' 2>&1)" = quiet ] || say "not silent in bash"
exit $failed
