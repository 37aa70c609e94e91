// SPDX-License-Identifier: Apache-2.0
// ELF files: sections, symbols, dynamic entries, cubins with their line tables, and the fat binaries of a program.
#include <string.h>

#include "binary/binary.h"
#include "binary/cubin.h"
#include "binary/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_file(const u8 *data, size_t size) {
    ElfFile *file;
    ElfSymbol symbol;
    ElfSection section;
    char id[65];
    if (elf_file_from_memory(data, size, "fuzz", &file, NULL) != STATUS_OK) return;
    for (u32 i = 0; i < elf_file_sections(file) && i < 1000; i++) {
        if (!elf_file_section(file, i, &section) || !section.data || !section.size) continue;
        volatile u8 last = section.data[section.size - 1];  // must be readable
        (void)last;
    }
    elf_file_find_symbol(file, ELF_SYMTAB, "none", &symbol);
    elf_file_find_symbol(file, ELF_DYNSYM, "none", &symbol);
    for (u32 i = 0; i < 8 && elf_file_needed(file, i); i++) {}
    elf_file_is_pie(file);
    elf_file_build_id(file, id, sizeof id);
    elf_file_close(file);
}

static void fuzz_cubin(const u8 *data, size_t size) {
    Cubin cubin;
    Diag diag = {0};
    if (cubin_open(&cubin, data, size, "fuzz", &diag) == STATUS_OK) {
        for (u32 i = 0; i < cubin.functions.len; i++) {
            const CubinLine *line = cubin_find_line(&cubin, &cubin.functions.data[i], 16);
            if (line && line->file != WL_NONE && line->file >= cubin.files.len) __builtin_trap();
        }
        cubin_close(&cubin);
    }
    diag_free(&diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    BinaryImages images = {0};
    Diag diag = {0};
    fuzz_file(data, size);
    fuzz_cubin(data, size);
    Status status = binary_ptx_from_memory(data, size, "fuzz", 90, &images, &diag);
    (void)status;
    binary_images_free(&images);
    diag_free(&diag);
    return 0;
}
