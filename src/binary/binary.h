// SPDX-License-Identifier: Apache-2.0
// From whatever CUDA hands over - a registered fat binary, a module image, a file - to PTX text for one device.
// This is what the runtime (src/cuda) and the CLI use; the formats are in fatbin.h, link.h, elf.h and cubin.h.
// Everything in a BinaryImage belongs to it (binary_image_free); the inputs are not needed afterwards.
//
//     BinaryImage image;
//     Status status = binary_ptx_from_wrapper(fatCubin, 90, &image, &diag);
//     if (status == STATUS_OK) { use(image.ptx); binary_image_free(&image); }
#ifndef WL_BINARY_BINARY_H
#define WL_BINARY_BINARY_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"

typedef struct BinarySkip {  // an object that was left out of the image
    const char *name;        // its identifier, or ""
    const char *has;         // "compute_100 PTX, sm_100 SASS"
    bool expected;           // a library that may be left out (libcudadevrt): not worth a message
} BinarySkip;

typedef struct BinaryImage {
    char *ptx;         // NUL-terminated
    size_t ptx_size;   // without the NUL
    u32 sm;            // target of the PTX (the highest of the linked objects): 75
    char variant;      // 'a', 'f' or 0
    u32 isa;           // PTX ISA version as major * 10 + minor
    u32 objects;       // objects that were linked (1 without -rdc)
    bool relocatable;  // they were compiled with -rdc=true: their compiler did not know where variables would lie
    const char *name;  // identifier of the first object, or the file's name
    u8 *cubin;         // machine code for the device, or else for the PTX's target, when there is one: register counts
    size_t cubin_size;
    u32 cubin_sm;
    Vec(BinarySkip) skipped;
    Arena arena;  // names
} BinaryImage;

typedef Vec(BinaryImage) BinaryImages;

// All return: STATUS_OK; STATUS_NOT_FOUND no PTX for this device (cudaErrorNoKernelImageForDevice; `diag` says what
// there is and names the remedy); STATUS_FORMAT, STATUS_LIMIT damaged; STATUS_INVALID objects that do not link, or not
// an image at all; STATUS_NO_MEMORY. The image is zeroed unless STATUS_OK.
//
// device_sm: 90 for compute capability 9.0.

// The argument of __cudaRegisterFatBinary.
WL_MUST_USE Status binary_ptx_from_wrapper(const void *wrapper, u32 device_sm, BinaryImage *image, Diag *diag);

// The argument of cuModuleLoadData, cuLibraryLoadData, cuModuleLoadFatBinary: NUL-terminated PTX, a container, a
// wrapper, or a cubin (STATUS_NOT_FOUND: no PTX in it). Its size is not known: it must be what it says it is.
WL_MUST_USE Status binary_ptx_from_image(const void *image_bytes, u32 device_sm, BinaryImage *image, Diag *diag);

// The same with a known size; every read is checked. `name` is for messages.
WL_MUST_USE Status binary_ptx_from_memory(const u8 *data, size_t size, const char *name, u32 device_sm,
                                          BinaryImages *images, Diag *diag);

// Every module of a file: PTX, a fat binary, an executable, a shared or relocatable object. A program has one module
// per source file, plus one for all that was compiled with -rdc=true. Modules without PTX for the device are notes in
// `diag` when others have it. Zero `images` first; on failure it is empty.
WL_MUST_USE Status binary_ptx_from_file(const char *path, u32 device_sm, BinaryImages *images, Diag *diag);

void binary_image_free(BinaryImage *image);
void binary_images_free(BinaryImages *images);

// How a program reaches CUDA, and so how it is caught (`warplens doctor`, `warplens run`).
typedef enum BinaryRuntime {
    RUNTIME_NONE,           // no CUDA in it
    RUNTIME_SHARED,         // DT_NEEDED libcudart.so.N
    RUNTIME_STATIC,         // static cudart whose entry points .symtab names
    RUNTIME_STATIC_HIDDEN,  // static cudart (or CUDA code) and no .symtab: cannot be caught without a GPU
    RUNTIME_DRIVER,         // DT_NEEDED libcuda.so.1 only
    RUNTIME_OTHER_VERSION,  // cudart of another major version than 13, shared or static: its structures differ
} BinaryRuntime;

typedef struct BinaryReport {
    BinaryRuntime runtime;
    u32 cudart_major;  // of libcudart.so.N; 0 = not known
    bool is_elf, is_executable, is_pie, is_shared_object, is_relocatable;
    bool stripped;     // no .symtab
    bool uses_driver;  // DT_NEEDED libcuda.so.1
    u32 wrappers;      // fat binaries registered (entries of .nvFatBinSegment)
    u32 wrappers_rdc;  // of them version 2
    u32 ptx_entries, cubin_entries, lto_entries;
    char targets[256];  // "sm_75 SASS, compute_75 PTX"
    char build_id[65];  // hex, "" when there is none
    char remedy[256];   // what the user can do when it cannot be caught or has no PTX, "" when all is well
} BinaryReport;

WL_MUST_USE Status binary_inspect_file(const char *path, BinaryReport *report, Diag *diag);

#endif
