#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes docs/cuda-api.md from api.def and driver/driver.def:  bash src/cuda/api_document.sh >docs/cuda-api.md
set -eu
cd "$(dirname "$0")"
names() { sed -n "s/^API_$1(\\([A-Za-z0-9_]*\\).*/\\1/p" api.def; }
count() { names "$1" | wc -l; }
list() { names "$1" | sed 's/.*/- `&`/'; }
driver_names() { sed -n "s/^DRIVER_$1(\\([A-Za-z0-9_]*\\).*/\\1/p" driver/driver.def; }
driver_count() { driver_names "$1" | wc -l; }
driver_list() { driver_names "$1" | sed 's/.*/`&`/' | paste -sd' ' | fold -s -w 120 | sed 's/ *$//'; }

cat <<END
# The CUDA API on the simulator

This page is generated from \`src/cuda/api.def\` and \`src/cuda/driver/driver.def\` by \`src/cuda/api_document.sh\`.

**Runtime API.** Warplens's \`libcudart.so.13\` exports every function that CUDA 13.0's exports: $(count DONE) are implemented,
$(count SAME) are per-thread default stream variants of these, and $(count STUB) are not implemented. The latter return
\`cudaErrorNotSupported\` and are named once on stderr.

**Driver API.** Our \`libcuda.so.1\` has every function that CUDA 13.0's has, in all its versions: $(driver_count DONE) are implemented,
$(driver_count SAME) are other names of these, and $(driver_count STUB) are not implemented, among them the first versions from before
CUDA 3.2, whose addresses have 32 bits. The latter return \`CUDA_ERROR_NOT_SUPPORTED\` and are named once on stderr.

## How it behaves

- **Devices.** \`--gpus N\` or \`--gpus h200,a100\`: each has its memory, variables, streams, events, limits and faults. Devices of
  the same model are peers; without \`cudaDeviceEnablePeerAccess\` (or \`cudaMemPoolSetAccess\`) a kernel that touches another
  device's memory faults, as on hardware.
- **\`CUDA_LAUNCH_BLOCKING=1\`**: each launch waits for its kernel, as with CUDA.
- **Kernels that call the runtime** (dynamic parallelism): launches, copies and fills are done in their order when the
  parent grid is complete, tail launches last. Graphs that kernels launch run when the kernel, or its graph, is over.
- **Order.** Each operation runs to completion when it is submitted, in the order of submission over all streams, callbacks
  and host functions included. That is one of the orders that a GPU may choose. Stream and event queries therefore mostly
  say "done", and programs that overlap copies with kernels run correctly but gain nothing. Programmatic dependent launch,
  priorities, cache windows and prefetching are accepted and change nothing.
- **Kernels that wait** for the host or for a kernel of another stream stay pending, with what CUDA puts behind them; other
  streams, and other branches of the same graph, go on. They get turns at each call, in every wait, and after 20 ms without a
  call from a thread of the library's own, which also runs host functions then. Queries say \`cudaErrorNotReady\` meanwhile.
  Asynchronous copies from pageable memory read it when they are submitted, those to it return when they are done, as with
  CUDA. Calls that free or unload execute what can be executed, but never wait for a kernel that waits itself.
- **Deadlocks.** When a thread waits, nothing pending can move and the program has no other thread that could change that,
  the kernels that wait are told on stderr, with who waits where, and the device fails with \`cudaErrorLaunchFailure\`.
  With \`--timing\` a kernel waits when everything is as it was before, nothing has been written meanwhile and all its warps go round (looked for after 65 thousand cycles, then more and more seldom).
  With \`--check\`, which follows one kernel at a time, every kernel that waits for something outside of it is a deadlock.
- **Lazy.** With \`WARPLENS_LAZY=1\` work is executed when the program waits for it, at most 1024 operations later and at most
  after a second without a call, and its errors are told then.
- **Time.** Events take the host's monotonic clock; two recordings are at least one microsecond apart.
- **Errors.** Error codes are those that an H200 gives, driver 580, also where the reference says otherwise: an impossible
  launch is \`cudaErrorInvalidValue\`. \`tests/cuda/h200_calls.txt\` has what a GPU answers to over a thousand odd calls, and
  \`tests/cuda/odd_differences.inc\` where and why we answer otherwise. A function that was never registered is
  \`cudaErrorInvalidDeviceFunction\`.
- **Out of bounds.** Device memory is mapped in pages of 2 MiB. An access beyond an allocation that stays in a page of one reads or writes
  what is there, as on a GPU, and reads of the page before the first allocation get zeros; the first of each kernel is told as a warning.
  Farther away it is a fault. Managed memory goes on to the end of its page in the same way, and freed words keep their values until their place is given out again (blocks of up to 2 MiB; larger ones are zeros at once). With \`--timing\`
  arrays lie as close as on a GPU, so that what is beyond one may be in the next one and is not told; without it there are 256 bytes between them. \`--check memory\` finds all.
- **Faults.** A kernel fault is explained once on stderr and in the profile. It stays with the device: every later call that
  uses the device returns it, until \`cudaDeviceReset\`.
- **Handles** are looked up, never followed: a stale or invented one gives \`cudaErrorInvalidResourceHandle\`
  (\`cudaErrorInvalidValue\` for graphs).
- **Memory.** Device memory cannot be touched by the host; managed, pinned and registered memory has one address on both
  sides. Freed stream-ordered memory goes back at once, so pools reserve what they use. Memory of graph allocation nodes
  stays at its address until the process ends.
- **Kernels** come from PTX. \`cudaFuncGetAttributes\` reports the PTX's target as both \`ptxVersion\` and \`binaryVersion\`; register
  counts are those of the machine code beside the PTX, when there is any. A module without PTX for the device is
  \`cudaErrorNoKernelImageForDevice\`, with the compiler option to add on stderr.
- **fork.** A child may use CUDA when its parent did not before the fork; otherwise it gets
  \`cudaErrorInitializationError\`, as with CUDA.
- **Textures.** Mipmaps are filtered as an H200 does, bit for bit, when the level is given; gradients choose a level that may be off by half a level, anisotropy is not simulated, sRGB texels are exact and their mixtures close. Views that change a texture's format are not taken into account. Objects that were destroyed can still be read, as on an H200, until 1,024 others have been destroyed; \`--check=memory\` tells it.

## The driver API

Both APIs share one implementation and one context, so a stream, event, array, graph, kernel or module made in one can be
used in the other. Programs reach it by linking with \`-lcuda\`, by \`dlopen\` and \`dlsym\`, by \`cuGetProcAddress\` and by
\`cudaGetDriverEntryPoint\`.

- **Contexts** have a device, flags and a life; memory, limits and faults belong to the device. What was made through the
  driver API while a context other than the primary one was current ends with that context.
- **Modules** come from PTX, given as text, in a fat binary or in a file. A cubin is \`CUDA_ERROR_NO_BINARY_FOR_GPU\`. The PTX is
  checked when it is loaded; an instruction that the simulator has not is an error of the kernels that use it, at their first
  use. Messages go to the log buffers of the options too. \`cuLinkComplete\` gives PTX.
- **One function, many handles.** \`CUfunction\`, \`CUkernel\`, \`cudaFunction_t\` and \`cudaKernel_t\` are the same thing, and so are a
  library and its module.
- **Errors** are those that an H200 gives (recorded in \`tests/cuda/h200_driver.txt\`). A handle that is none gives an error;
  NVIDIA's driver follows it and may crash.
- **libnvrtc.** PTX made at run time is loaded as it is. Of machine code that a program fetches with nvrtcGetCUBIN, the PTX is
  fetched too and loaded in its place, when the program is linked with libnvrtc.
- **Virtual memory management** is there, with memory of devices; it can be handed to another process as a file descriptor.
- **Other processes and other APIs**: IPC handles, external memory and semaphores, EGL, OpenGL, VDPAU, green contexts,
  multicast objects, coredumps, checkpoints, texture references and export tables are not there.

## Not implemented

$(list STUB)

## Implemented

$(list DONE)

## Per-thread default stream variants

$(list SAME)

## Driver API: not implemented

$(driver_list STUB)

## Driver API: implemented

$(driver_list DONE)

## Driver API: other names of these

$(driver_list SAME)
END
