// SPDX-License-Identifier: Apache-2.0
// Prints src/sim/texture_cases.inc with what the GPU of this machine gives. Built with a CUDA toolkit, run by hand:
//   gcc -std=gnu17 -Isrc -I$CUDA/include tests/exec/texture_record.c -L$CUDA/lib64 -lcudart_static -ldl -lpthread -lrt
//   -lm
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "sim/texture_cases.h"

static void check(int error, const char *what) {
    if (!error) return;
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
}
#define CHECK(call) check((int)(call), #call)

static CUresult (*load)(CUmodule *, const void *);
static CUresult (*unload)(CUmodule);
static CUresult (*get_function)(CUfunction *, CUmodule, const char *);
static CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                          void **, void **);

static void open_driver(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) check(1, "libcuda.so.1");
    *(void **)&load = dlsym(lib, "cuModuleLoadData");
    *(void **)&unload = dlsym(lib, "cuModuleUnload");
    *(void **)&get_function = dlsym(lib, "cuModuleGetFunction");
    *(void **)&launch = dlsym(lib, "cuLaunchKernel");
}

// The resource with its texels; what was allocated stays until the program ends.
static struct cudaResourceDesc make_resource(const CaseResource *r, const CaseFormat *f) {
    static u8 texels[1 << 16];
    u32 size = case_texel_bytes(f), height = r->height ? r->height : 1, depth = r->depth ? r->depth : 1;
    int bits[4] = {0};
    for (u32 c = 0; c < f->channels; c++) bits[c] = f->bits;
    struct cudaChannelFormatDesc format = {bits[0], bits[1], bits[2], bits[3], (enum cudaChannelFormatKind)f->kind};
    struct cudaResourceDesc resource = {0};
    case_fill(texels, r, f);
    if (r->kind == CASE_LINEAR) {
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.desc = format;
        resource.res.linear.sizeInBytes = (size_t)r->width * size;
        CHECK(cudaMalloc(&resource.res.linear.devPtr, resource.res.linear.sizeInBytes));
        CHECK(cudaMemcpy(resource.res.linear.devPtr, texels, resource.res.linear.sizeInBytes, cudaMemcpyHostToDevice));
        return resource;
    }
    if (r->kind == CASE_PITCH) {
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.desc = format;
        resource.res.pitch2D.width = r->width;
        resource.res.pitch2D.height = r->height;
        CHECK(cudaMallocPitch(&resource.res.pitch2D.devPtr, &resource.res.pitch2D.pitchInBytes, (size_t)r->width * size,
                              r->height));
        CHECK(cudaMemcpy2D(resource.res.pitch2D.devPtr, resource.res.pitch2D.pitchInBytes, texels,
                           (size_t)r->width * size, (size_t)r->width * size, r->height, cudaMemcpyHostToDevice));
        return resource;
    }
    unsigned flags = strcmp(r->name, "2d") == 0 ? cudaArrayTextureGather : 0;
    if (r->kind == CASE_LAYERED) flags |= cudaArrayLayered;
    if (r->kind == CASE_CUBE) flags |= cudaArrayCubemap | (r->depth > 6 ? cudaArrayLayered : 0);
    resource.resType = cudaResourceTypeArray;
    CHECK(cudaMalloc3DArray(&resource.res.array.array, &format, (struct cudaExtent){r->width, r->height, r->depth},
                            flags));
    struct cudaMemcpy3DParms copy = {.srcPtr = {texels, (size_t)r->width * size, r->width, height},
                                     .dstArray = resource.res.array.array,
                                     .extent = {r->width, height, depth},
                                     .kind = cudaMemcpyHostToDevice};
    CHECK(cudaMemcpy3D(&copy));
    return resource;
}

static u64 run_case(const char *fetch, const CaseResource *r, const CaseFormat *f) {
    static CasePoint points[CASE_POINTS];
    static u32 out[CASE_POINTS * 4];
    static void *device_points, *device_out;
    char ptx[4096];
    CUmodule module;
    CUfunction function;
    struct cudaResourceDesc resource = make_resource(r, f);
    if (!device_points) {
        CHECK(cudaMalloc(&device_points, sizeof points));
        CHECK(cudaMalloc(&device_out, sizeof out));
    }
    case_ptx(ptx, sizeof ptx, fetch, f);
    CHECK(load(&module, ptx));
    CHECK(get_function(&function, module, "fetch"));
    u64 hash = 0;
    for (u32 mode = 0; mode < 16; mode++) {
        u32 address = mode & 3, filter = mode >> 2 & 1;
        if (!case_has_mode(r, f, mode >> 3, filter, address)) continue;
        struct cudaTextureDesc sampling = {.filterMode = (enum cudaTextureFilterMode)filter,
                                           .readMode =
                                               f->normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
                                           .borderColor = {0.6f, -1.5f, 2, 0.25f},
                                           .normalizedCoords = mode >> 3};
        for (u32 d = 0; d < 3; d++) sampling.addressMode[d] = (enum cudaTextureAddressMode)address;
        cudaTextureObject_t texture;
        CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
        case_points(r, mode >> 3, address * 10 + filter, points);
        CHECK(cudaMemcpy(device_points, points, sizeof points, cudaMemcpyHostToDevice));
        void *params[] = {&texture, &device_points, &device_out};
        CHECK(launch(function, 1, 1, 1, CASE_POINTS, 1, 1, 0, NULL, params, NULL));
        CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
        CHECK(cudaDestroyTextureObject(texture));
        hash = hash * 31 + case_hash_words(out, CASE_POINTS * 4);
    }
    CHECK(unload(module));
    return hash;
}

int main(void) {
    open_driver();
    CHECK(cudaFree(NULL));
    for (u32 i = 0; i < sizeof texture_cases / sizeof *texture_cases; i++) {
        const TextureCase *c = &texture_cases[i];
        for (u32 k = 0; k < sizeof case_resources / sizeof *case_resources; k++)
            for (u32 n = 0; n < sizeof case_formats / sizeof *case_formats; n++)
                if (!strcmp(case_resources[k].name, c->resource) && !strcmp(case_formats[n].name, c->format))
                    printf("{\"%s\", \"%s\", \"%s\", 0x%016llx},\n", c->resource, c->fetch, c->format,
                           (unsigned long long)run_case(c->fetch, &case_resources[k], &case_formats[n]));
    }
    return 0;
}
