// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/binary.h"
#include "binary/elf.h"
#include "binary/fatbin.h"

enum { WRAPPER_SIZE = 24, WRAPPER_VERSION_AT = 4 };

static void inspect_wrappers(const ElfFile *file, BinaryReport *report) {
    ElfSection section;
    if (!elf_file_find_section(file, ".nvFatBinSegment", &section) || !section.data) return;
    for (u64 at = 0; at + WRAPPER_SIZE <= section.size; at += WRAPPER_SIZE) {
        u32 version;
        memcpy(&version, section.data + at + WRAPPER_VERSION_AT, sizeof version);
        report->wrappers++;
        report->wrappers_rdc += version == 2;
    }
}

static Status inspect_code(const ElfFile *file, BinaryReport *report, Diag *diag) {
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    Fatbin fatbin = {.name = elf_file_name(file)};
    Status status = STATUS_OK;
    for (u32 i = 0; i < WL_COUNT(sections) && status == STATUS_OK; i++) {
        ElfSection section;
        if (!elf_file_find_section(file, sections[i], &section) || !section.data) continue;
        status = fatbin_parse(&fatbin, section.data, section.size, diag);
    }
    for (u32 i = 0; i < fatbin.entries.len; i++) {
        u32 kind = fatbin.entries.data[i].kind;
        report->ptx_entries += kind == FATBIN_PTX;
        report->cubin_entries += kind == FATBIN_ELF;
        report->lto_entries += kind == FATBIN_LTO_IR;
    }
    if (fatbin.entries.len) fatbin_describe(&fatbin, WL_NONE, report->targets, sizeof report->targets);
    fatbin_free(&fatbin);
    return status;
}

static bool inspect_needed(const ElfFile *file, BinaryReport *report) {
    static const char cudart[] = "libcudart.so", driver[] = "libcuda.so";
    bool found = false;
    const char *name;
    for (u32 i = 0; (name = elf_file_needed(file, i)); i++) {
        report->uses_driver |= strncmp(name, driver, strlen(driver)) == 0;
        if (strncmp(name, cudart, strlen(cudart))) continue;
        found = true;
        if (name[strlen(cudart)] == '.') report->cudart_major = (u32)strtoul(name + strlen(cudart) + 1, NULL, 10);
    }
    return found;
}

enum { CUDART_MAJOR = 13 };  // whose functions and structures we have

// Functions that only the static runtimes of older versions have: removed in 13 and in 12.
static u32 old_static_major(const ElfFile *file) {
    ElfSymbol symbol;
    if (elf_file_find_symbol(file, ELF_SYMTAB, "cudaBindTexture", &symbol) && symbol.section != SHN_UNDEF) return 11;
    bool twelve = elf_file_find_symbol(file, ELF_SYMTAB, "cudaGetDeviceProperties_v2", &symbol);
    return twelve && symbol.section != SHN_UNDEF ? 12 : 0;
}

static BinaryRuntime find_runtime(const ElfFile *file, BinaryReport *report) {
    if (inspect_needed(file, report))
        return report->cudart_major && report->cudart_major != CUDART_MAJOR ? RUNTIME_OTHER_VERSION : RUNTIME_SHARED;
    ElfSymbol symbol;
    u32 old = old_static_major(file);
    if (old) return report->cudart_major = old, RUNTIME_OTHER_VERSION;
    bool named = elf_file_find_symbol(file, ELF_SYMTAB, "__cudaRegisterFatBinary", &symbol);
    if (named && symbol.section != SHN_UNDEF) return RUNTIME_STATIC;
    if (report->wrappers && !report->is_relocatable) return RUNTIME_STATIC_HIDDEN;
    return report->uses_driver ? RUNTIME_DRIVER : RUNTIME_NONE;
}

static const char *find_remedy(const BinaryReport *report) {
    if (report->runtime == RUNTIME_OTHER_VERSION)
        return report->cudart_major < CUDART_MAJOR
                   ? "it was built with an older CUDA, whose runtime has other structures: rebuild it with CUDA 13"
                   : "it was built with a newer CUDA, whose runtime has other structures: rebuild it with CUDA 13";
    if (report->runtime == RUNTIME_STATIC_HIDDEN)
        return "the CUDA runtime is linked statically and the program is stripped: keep its symbols (no -s, no strip), "
               "or rebuild with -cudart shared";
    bool code = report->cubin_entries || report->lto_entries;
    if (code && !report->ptx_entries)
        return "there is no PTX in it: rebuild with -gencode arch=compute_XX,code=compute_XX (or -arch=sm_XX, which "
               "adds "
               "it by itself)";
    return "";
}

static Status inspect(const ElfFile *file, BinaryReport *report, Diag *diag) {
    u32 type = elf_file_type(file);
    report->is_elf = true;
    report->is_pie = elf_file_is_pie(file);
    report->is_executable = type == ET_EXEC || report->is_pie;
    report->is_shared_object = type == ET_DYN && !report->is_pie;
    report->is_relocatable = type == ET_REL;
    report->stripped = !elf_file_has_table(file, ELF_SYMTAB);
    elf_file_build_id(file, report->build_id, sizeof report->build_id);
    inspect_wrappers(file, report);
    report->runtime = find_runtime(file, report);
    Status status = inspect_code(file, report, diag);
    snprintf(report->remedy, sizeof report->remedy, "%s", find_remedy(report));
    return status;
}

Status binary_inspect_file(const char *path, BinaryReport *report, Diag *diag) {
    *report = (BinaryReport){0};
    ElfFile *file;
    TRY(elf_file_open(path, &file, diag));
    Status status = inspect(file, report, diag);
    elf_file_close(file);
    return status;
}
