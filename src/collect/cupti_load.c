// SPDX-License-Identifier: Apache-2.0
// Finding CUPTI. A process must have one only: one that is loaded already (PyTorch brings its own) is taken; then what
// the loader finds (LD_LIBRARY_PATH), then the toolkit's places, then beside the program's CUDA runtime.
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect_inside.h"

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
static const char *const below_toolkit[] = {"lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "lib"};
static const char *const toolkit_variables[] = {"CUDA_HOME", "CUDA_PATH"};

static void *try_folder(const char *folder, char *path, size_t size) {
    for (size_t i = 0; i < WL_COUNT(names); i++) {
        int length = snprintf(path, size, "%s/%s", folder, names[i]);
        if (length < 0 || (size_t)length >= size) continue;
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

static void *try_toolkit(const char *root, char *path, size_t size) {
    char folder[PATH_MAX];
    for (size_t i = 0; root && *root && i < WL_COUNT(below_toolkit); i++) {
        int length = snprintf(folder, sizeof folder, "%s/%s", root, below_toolkit[i]);
        void *library = length > 0 && (size_t)length < sizeof folder ? try_folder(folder, path, size) : NULL;
        if (library) return library;
    }
    return NULL;
}

static void *try_loader(int flags, char *path, size_t size) {
    for (size_t i = 0; i < WL_COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | flags);
        if (!library) continue;
        struct link_map *map;
        bool known = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name;
        snprintf(path, size, "%s", known ? map->l_name : names[i]);
        return library;
    }
    return NULL;
}

typedef struct Folders {
    char text[4][PATH_MAX];
    u32 count;
} Folders;

// The folder of each loaded CUDA runtime, and where NVIDIA's Python packages have CUPTI relative to that.
static int note_runtime(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    Folders *folders = context;
    const char *name = info->dlpi_name, *slash = name ? strrchr(name, '/') : NULL;
    if (!slash || strncmp(slash, "/libcudart.so", 13) != 0 || folders->count + 2 > WL_COUNT(folders->text)) return 0;
    snprintf(folders->text[folders->count++], PATH_MAX, "%.*s", (int)(slash - name), name);
    snprintf(folders->text[folders->count++], PATH_MAX, "%.*s/../../cuda_cupti/lib", (int)(slash - name), name);
    return 0;
}

static void *try_beside_runtime(char *path, size_t size) {
    Folders folders = {.count = 0};
    dl_iterate_phdr(note_runtime, &folders);
    for (u32 i = 0; i < folders.count; i++) {
        void *library = try_folder(folders.text[i], path, size);
        if (library) return library;
    }
    return NULL;
}

void *cupti_open(char *path, size_t size, char *looked, size_t looked_size) {
    void *library = try_loader(RTLD_NOLOAD, path, size);
    if (!library) library = try_loader(0, path, size);
    for (size_t i = 0; !library && i < WL_COUNT(toolkit_variables); i++)
        library = try_toolkit(getenv(toolkit_variables[i]), path, size);
    if (!library) library = try_beside_runtime(path, size);
    if (!library) library = try_toolkit("/usr/local/cuda", path, size);
    if (!library) library = try_toolkit("/opt/cuda", path, size);
    if (!library)
        snprintf(looked, looked_size,
                 "LD_LIBRARY_PATH, CUDA_HOME, CUDA_PATH, beside libcudart, /usr/local/cuda, /opt/cuda");
    return library;
}

const char *cupti_bind(Cupti *cupti, void *library) {
    const char *missing = NULL;
#define CUPTI(name, need, arguments)                \
    *(void **)&cupti->name = dlsym(library, #name); \
    if (need && !cupti->name && !missing) missing = #name;
#include "collect/cupti.def"
#undef CUPTI
    return missing;
}

// The dynamic linker then gives CUPTI what is there.
void cupti_load_counters(const Cupti *cupti) {
    Dl_info of_cupti;
    char path[PATH_MAX];
    if (!dladdr(*(void *const *)&cupti->cuptiSubscribe, &of_cupti) || !of_cupti.dli_fname) return;
    const char *slash = strrchr(of_cupti.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - of_cupti.dli_fname) : 0;
    int length = snprintf(path, sizeof path, "%.*slibnvperf_host.so", folder, of_cupti.dli_fname);
    if (length > 0 && (size_t)length < sizeof path) dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

bool collect_find_cupti(char *path, size_t size, char *looked, size_t looked_size) {
    void *library = cupti_open(path, size, looked, looked_size);
    if (library) dlclose(library);
    return library != NULL;
}

bool collect_knows_counters(void) {
    char path[PATH_MAX], looked[256];
    Cupti cupti = {0};
    void *library = cupti_open(path, sizeof path, looked, sizeof looked);
    bool known = library && !cupti_bind(&cupti, library) && pm_sampling_is_known(&cupti);
    if (library) dlclose(library);
    return known;
}
