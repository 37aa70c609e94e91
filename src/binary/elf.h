// SPDX-License-Identifier: Apache-2.0
// Reading ELF files (executables, shared objects, cubins), 64-bit little-endian, over elfutils' libelf.
// An ElfFile owns its bytes unless it was made from memory; names and section data point into it.
// Read-only after opening; one thread at a time.
#ifndef WL_BINARY_ELF_H
#define WL_BINARY_ELF_H

#include "base/diag.h"
#include "base/vec.h"

typedef struct ElfFile ElfFile;

typedef struct ElfSection {
    const char *name;
    u32 index, type, link, info;
    u64 flags, address, entry_size;
    u64 offset;      // in the file
    const u8 *data;  // NULL for SHT_NOBITS
    u64 size;
} ElfSection;

typedef struct ElfSymbol {
    const char *name;
    u64 address;  // as in the file: add the load bias of a running process; section offset in a relocatable file
    u64 size;
    u32 section;  // index; 0 = undefined
    u8 type;      // STT_FUNC, STT_OBJECT, ...
    u8 binding;   // STB_LOCAL, STB_GLOBAL, STB_WEAK
    u8 other;
} ElfSymbol;

typedef enum ElfTable { ELF_SYMTAB, ELF_DYNSYM } ElfTable;

WL_MUST_USE Status elf_file_open(const char *path, ElfFile **file, Diag *diag);
// `data` is borrowed, `name` (for messages) is copied.
WL_MUST_USE Status elf_file_from_memory(const u8 *data, size_t size, const char *name, ElfFile **file, Diag *diag);
void elf_file_close(ElfFile *file);

u32 elf_file_type(const ElfFile *file);     // ET_EXEC, ET_DYN, ET_REL
u32 elf_file_machine(const ElfFile *file);  // EM_X86_64, 190 = EM_CUDA
u32 elf_file_flags(const ElfFile *file);
u32 elf_file_abi(const ElfFile *file, u32 *abi_version);
const char *elf_file_name(const ElfFile *file);

u32 elf_file_sections(const ElfFile *file);  // number of sections, the null section included
// False when there is no such section or its header or data lie outside the file.
bool elf_file_section(const ElfFile *file, u32 index, ElfSection *section);
bool elf_file_find_section(const ElfFile *file, const char *name, ElfSection *section);

bool elf_file_has_table(const ElfFile *file, ElfTable table);
// Calls `visit` for every named symbol, in file order, until it returns false.
typedef bool (*ElfVisit)(void *context, const ElfSymbol *symbol);
void elf_file_visit_symbols(const ElfFile *file, ElfTable table, ElfVisit visit, void *context);
bool elf_file_find_symbol(const ElfFile *file, ElfTable table, const char *name, ElfSymbol *symbol);

// The `nth` DT_NEEDED name, NULL past the last.
const char *elf_file_needed(const ElfFile *file, u32 nth);
bool elf_file_is_pie(const ElfFile *file);
// Lower-case hex of the build id into `text`; false (and "") when there is none.
bool elf_file_build_id(const ElfFile *file, char *text, size_t size);

// The main program of this process: /proc/self/exe, and what to add to a symbol's address to get a pointer.
WL_MUST_USE Status elf_file_open_self(ElfFile **file, u64 *load_bias, Diag *diag);

// For patching a statically linked cudart: run-time addresses of the functions of `.symtab` whose names `want` accepts.
typedef struct ElfTarget {
    const char *name;  // points into the ElfFile
    void *address;
    u64 size;
} ElfTarget;
typedef bool (*ElfWant)(void *context, const char *name);
typedef Vec(ElfTarget) ElfTargets;
WL_MUST_USE Status elf_file_find_targets(const ElfFile *file, u64 load_bias, ElfWant want, void *context,
                                         ElfTargets *targets);

#endif
