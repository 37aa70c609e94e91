// SPDX-License-Identifier: Apache-2.0
// libcudart.so.13 on the simulator: put before NVIDIA's on the library path, or preloaded. This file is its beginning
// and its end; the API is src/cuda, whose CudaContext is the one mutable context of this shared object. In a process
// without CUDA it does nothing and says nothing.
#include <malloc.h>
#include <stdlib.h>

#include "cuda/context.h"
#include "cudart/patch.h"
#include "store/store.h"

static Status open_profile(const char *path, bool overwrite, Sink **sink, void **profile, Diag *diag) {
    StoreWriter *writer;
    TRY(store_create(path, overwrite, &writer, diag));
    *sink = store_sink(writer);
    *profile = writer;
    return STATUS_OK;
}

static void close_profile(void *profile) {
    if (store_close(profile) != STATUS_OK) log_to_stderr(NULL, LOG_ERROR, "the profile could not be completed");
}

static void abandon_profile(void *profile) { store_abandon(profile); }

static void tell(const Diag *diag) {
    char text[1024];
    for (u32 i = 0; i < diag->entries.len; i++) {
        diag_format(&diag->entries.data[i], text, sizeof text);
        log_to_stderr(NULL, LOG_ERROR, text);
    }
}

static void note_exit(int status, void *unused) {
    (void)unused;
    cuda_note_exit(status);
}

__attribute__((constructor)) static void library_begins(void) {
    static const CudaHost host = {open_profile, close_profile, abandon_profile};
    Diag diag = {0};
    u32 patched;
    cuda_setup(&host);
    on_exit(note_exit, NULL);
    PatchResult result = patch_program(&patched, &diag);
    if (result == PATCH_STRIPPED)
        log_to_stderr(NULL, LOG_ERROR,
                      "this program has a static CUDA runtime and no symbols, so it cannot be simulated: link it with "
                      "-cudart shared, or do not strip it");
    if (result == PATCH_FAILED) tell(&diag);
    diag_free(&diag);
    // Programs exist that read heap memory they never wrote and get away with it, because it is fresh. Leave it fresh.
    if (patched) malloc_trim(0);
}

__attribute__((destructor)) static void library_ends(void) { cuda_shutdown(); }
