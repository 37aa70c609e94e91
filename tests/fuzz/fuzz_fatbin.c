// SPDX-License-Identifier: Apache-2.0
// Containers, PTX text and the linker. Inputs that contain "//--" are linked as several objects, cut there.
#include <string.h>

#include "base/mem.h"
#include "binary/binary.h"
#include "binary/fatbin.h"
#include "binary/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNPACK_MAX = 1 << 20, OBJECTS_MAX = 4 };

static void fuzz_entries(const u8 *data, size_t size) {
    Fatbin fatbin = {0};
    Diag diag = {0};
    char text[256];
    Status status = fatbin_parse(&fatbin, data, size, &diag);
    (void)status;
    for (u32 i = 0; i < fatbin.entries.len && i < 64; i++) {
        const FatbinEntry *entry = &fatbin.entries.data[i];
        u8 *bytes = NULL;
        size_t length;
        if (entry->size > UNPACK_MAX && entry->size < FATBIN_MAX_SIZE) continue;
        if (fatbin_unpack(&fatbin, entry, &bytes, &length, &diag) == STATUS_OK && bytes[length]) __builtin_trap();
        mem_free(bytes);
        fatbin_describe(&fatbin, entry->object, text, sizeof text);
        fatbin_find_ptx(&fatbin, entry->object, 90);
    }
    fatbin_free(&fatbin);
    diag_free(&diag);
}

static void fuzz_link(const char *text, size_t size) {
    PtxObject objects[OBJECTS_MAX];
    u32 count = 0;
    const char *end = text + size;
    while (count < OBJECTS_MAX) {
        const char *cut = memmem(text, (size_t)(end - text), "//--", 4);
        const char *stop = cut && count + 1 < OBJECTS_MAX ? cut : end;
        objects[count++] = (PtxObject){{text, (size_t)(stop - text)}, NULL};
        if (stop == end) break;
        text = stop + 4;
    }
    LinkText out;
    Diag diag = {0};
    if (ptx_link(objects, count, &out, &diag) == STATUS_OK && out.data[out.len]) __builtin_trap();
    vec_free(&out);
    diag_free(&diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    BinaryImages images = {0};
    Diag diag = {0};
    fuzz_entries(data, size);
    fuzz_link((const char *)data, size);
    Status status = binary_ptx_from_memory(data, size, "fuzz", 90, &images, &diag);
    (void)status;
    binary_images_free(&images);
    diag_free(&diag);
    return 0;
}
