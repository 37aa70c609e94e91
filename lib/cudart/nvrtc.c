// SPDX-License-Identifier: Apache-2.0
// Programs that compile kernels with libnvrtc for a real architecture (sm_90) fetch machine code, which the simulator
// cannot run. The compiler has the PTX of the same program too: it is fetched along with the machine code and kept, so
// that the driver API finds it when the program loads the machine code. Only documented functions of libnvrtc are used.
#include <dlfcn.h>

#include "base/mem.h"
#include "cuda/driver/jit.h"

typedef int NvrtcGet(void *program, char *to);
typedef int NvrtcGetSize(void *program, size_t *to);

enum { NVRTC_ERROR_INTERNAL = 11 };

// The next function of this name behind ours.
#define NEXT(type, name) ((type *)dlsym(RTLD_NEXT, name))

static void keep_ptx(void *program, const char *cubin) {
    NvrtcGetSize *cubin_size = NEXT(NvrtcGetSize, "nvrtcGetCUBINSize");
    NvrtcGetSize *ptx_size = NEXT(NvrtcGetSize, "nvrtcGetPTXSize");
    NvrtcGet *get_ptx = NEXT(NvrtcGet, "nvrtcGetPTX");
    size_t code = 0, text = 0;
    if (!cubin_size || !ptx_size || !get_ptx) return;
    if (cubin_size(program, &code) != 0 || ptx_size(program, &text) != 0 || !code || text < 2) return;
    char *ptx = mem_zero(1, text + 1);
    if (ptx && get_ptx(program, ptx) == 0)
        jit_remember(cubin, code, ptx);
    else
        mem_free(ptx);
}

static int get_cubin(void *program, char *cubin) {
    NvrtcGet *get = NEXT(NvrtcGet, "nvrtcGetCUBIN");
    int result = get ? get(program, cubin) : NVRTC_ERROR_INTERNAL;
    if (result == 0 && cubin) keep_ptx(program, cubin);
    return result;
}

// Under the versions that programs ask for (exports.map).
#define EXPORT __attribute__((visibility("default")))
EXPORT int nvrtc_get_cubin_12(void *program, char *cubin);
EXPORT int nvrtc_get_cubin_13(void *program, char *cubin);
int nvrtc_get_cubin_12(void *program, char *cubin) { return get_cubin(program, cubin); }
int nvrtc_get_cubin_13(void *program, char *cubin) { return get_cubin(program, cubin); }
__asm__(".symver nvrtc_get_cubin_12, nvrtcGetCUBIN@libnvrtc.so.12");
__asm__(".symver nvrtc_get_cubin_13, nvrtcGetCUBIN@@libnvrtc.so.13");
