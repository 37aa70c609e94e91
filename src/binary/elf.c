// SPDX-License-Identifier: Apache-2.0
#include "binary/elf.h"

#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

struct ElfFile {
    FileData bytes;  // owned; empty when made from memory
    const u8 *data;
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
    size_t sections, names;  // number of sections, index of their name table
    char *name;
};

static Status not_elf(const char *name, const char *text, Diag *diag) {
    diag_offset(diag, DIAG_ERROR, name, 0, "%s", text);
    return STATUS_FORMAT;
}

// elf_memory takes a char *, but writes only through elf_update, which is never called.
static Status attach(ElfFile *file, Diag *diag) {
    if (elf_version(EV_CURRENT) == EV_NONE) return STATUS_UNSUPPORTED;
    if (file->size < EI_NIDENT || memcmp(file->data, ELFMAG, SELFMAG))
        return not_elf(file->name, "not an ELF file", diag);
    if (file->data[EI_CLASS] != ELFCLASS64 || file->data[EI_DATA] != ELFDATA2LSB)
        return not_elf(file->name, "not a 64-bit little-endian ELF file", diag);
    file->elf = elf_memory((char *)(uintptr_t)file->data, file->size);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
        return not_elf(file->name, "damaged ELF file: its header does not add up", diag);
    if (elf_getshdrnum(file->elf, &file->sections)) file->sections = 0;
    if (elf_getshdrstrndx(file->elf, &file->names)) file->names = 0;
    return STATUS_OK;
}

static Status make(FileData bytes, const u8 *data, size_t size, const char *name, ElfFile **file, Diag *diag) {
    *file = NULL;
    ElfFile *made = mem_zero(1, sizeof *made);
    if (!made) {
        file_release(&bytes);
        return STATUS_NO_MEMORY;
    }
    *made = (ElfFile){.bytes = bytes, .data = data, .size = size};
    made->name = mem_copy_str((Str){name ? name : "", name ? strlen(name) : 0});
    Status status = made->name ? attach(made, diag) : STATUS_NO_MEMORY;
    if (status == STATUS_OK)
        *file = made;
    else
        elf_file_close(made);
    return status;
}

Status elf_file_from_memory(const u8 *data, size_t size, const char *name, ElfFile **file, Diag *diag) {
    return make((FileData){0}, data, size, name, file, diag);
}

Status elf_file_open(const char *path, ElfFile **file, Diag *diag) {
    FileData bytes;
    *file = NULL;
    TRY(file_read(path, &bytes, diag));
    return make(bytes, bytes.data, bytes.size, path, file, diag);
}

void elf_file_close(ElfFile *file) {
    if (!file) return;
    if (file->elf) elf_end(file->elf);
    if (file->bytes.data) file_release(&file->bytes);
    mem_free(file->name);
    mem_free(file);
}

u32 elf_file_type(const ElfFile *file) { return file->header.e_type; }
u32 elf_file_machine(const ElfFile *file) { return file->header.e_machine; }
u32 elf_file_flags(const ElfFile *file) { return file->header.e_flags; }
const char *elf_file_name(const ElfFile *file) { return file->name; }
u32 elf_file_sections(const ElfFile *file) { return (u32)file->sections; }

u32 elf_file_abi(const ElfFile *file, u32 *abi_version) {
    *abi_version = file->header.e_ident[EI_ABIVERSION];
    return file->header.e_ident[EI_OSABI];
}

bool elf_file_section(const ElfFile *file, u32 index, ElfSection *section) {
    GElf_Shdr header;
    Elf_Scn *scn = index < file->sections ? elf_getscn(file->elf, index) : NULL;
    if (!scn || !gelf_getshdr(scn, &header)) return false;
    bool has_data = header.sh_type != SHT_NOBITS;
    if (has_data && (header.sh_offset > file->size || header.sh_size > file->size - header.sh_offset)) return false;
    const char *name = file->names ? elf_strptr(file->elf, file->names, header.sh_name) : NULL;
    *section = (ElfSection){
        .name = name ? name : "",
        .index = index,
        .type = header.sh_type,
        .link = header.sh_link,
        .info = header.sh_info,
        .flags = header.sh_flags,
        .address = header.sh_addr,
        .entry_size = header.sh_entsize,
        .offset = header.sh_offset,
        .data = has_data ? file->data + header.sh_offset : NULL,
        .size = header.sh_size,
    };
    return true;
}

bool elf_file_find_section(const ElfFile *file, const char *name, ElfSection *section) {
    for (u32 i = 1; i < file->sections; i++)
        if (elf_file_section(file, i, section) && strcmp(section->name, name) == 0) return true;
    return false;
}

static bool find_type(const ElfFile *file, u32 type, ElfSection *section) {
    for (u32 i = 1; i < file->sections; i++)
        if (elf_file_section(file, i, section) && section->type == type) return true;
    return false;
}

static bool find_table(const ElfFile *file, ElfTable table, ElfSection *section) {
    return find_type(file, table == ELF_SYMTAB ? SHT_SYMTAB : SHT_DYNSYM, section);
}

bool elf_file_has_table(const ElfFile *file, ElfTable table) {
    ElfSection section;
    return find_table(file, table, &section) && section.size > sizeof(Elf64_Sym);
}

void elf_file_visit_symbols(const ElfFile *file, ElfTable table, ElfVisit visit, void *context) {
    ElfSection section;
    if (!find_table(file, table, &section)) return;
    for (u64 at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= section.size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym raw;
        memcpy(&raw, section.data + at, sizeof raw);
        const char *name = raw.st_name ? elf_strptr(file->elf, section.link, raw.st_name) : NULL;
        if (!name || !*name) continue;
        ElfSymbol symbol = {
            .name = name,
            .address = raw.st_value,
            .size = raw.st_size,
            .section = raw.st_shndx,
            .type = ELF64_ST_TYPE(raw.st_info),
            .binding = ELF64_ST_BIND(raw.st_info),
            .other = raw.st_other,
        };
        if (!visit(context, &symbol)) return;
    }
}

typedef struct FindSymbol {
    const char *name;
    ElfSymbol *symbol;
    bool found;
} FindSymbol;

static bool match_symbol(void *context, const ElfSymbol *symbol) {
    FindSymbol *find = context;
    if (strcmp(symbol->name, find->name)) return true;
    *find->symbol = *symbol;
    find->found = true;
    return false;
}

bool elf_file_find_symbol(const ElfFile *file, ElfTable table, const char *name, ElfSymbol *symbol) {
    FindSymbol find = {name, symbol, false};
    elf_file_visit_symbols(file, table, match_symbol, &find);
    return find.found;
}

// The nth entry of the dynamic section with this tag.
static bool find_dynamic(const ElfFile *file, i64 tag, u32 nth, u64 *value, u32 *strings) {
    ElfSection section;
    if (!find_type(file, SHT_DYNAMIC, &section)) return false;
    *strings = section.link;
    for (u64 at = 0; at + sizeof(Elf64_Dyn) <= section.size; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn raw;
        memcpy(&raw, section.data + at, sizeof raw);
        if (raw.d_tag == DT_NULL) return false;
        if (raw.d_tag != tag || nth--) continue;
        *value = raw.d_un.d_val;
        return true;
    }
    return false;
}

const char *elf_file_needed(const ElfFile *file, u32 nth) {
    u64 offset = 0;
    u32 strings = 0;
    if (!find_dynamic(file, DT_NEEDED, nth, &offset, &strings)) return NULL;
    const char *name = elf_strptr(file->elf, strings, offset);
    return name ? name : "";
}

bool elf_file_is_pie(const ElfFile *file) {
    u64 flags = 0;
    u32 strings = 0;
    if (file->header.e_type != ET_DYN) return false;
    if (find_dynamic(file, DT_FLAGS_1, 0, &flags, &strings) && flags & DF_1_PIE) return true;
    size_t count = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(file->elf, &count)) return false;
    for (size_t i = 0; i < count && i < UINT16_MAX && gelf_getphdr(file->elf, (int)i, &header); i++)
        if (header.p_type == PT_INTERP) return true;
    return false;
}

static void put_hex(const u8 *bytes, u64 count, char *text, size_t size) {
    for (u64 i = 0; i < count && 2 * i + 2 < size; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

bool elf_file_build_id(const ElfFile *file, char *text, size_t size) {
    static const char section_name[] = ".note.gnu.build-id";
    ElfSection section;
    Elf64_Nhdr note;
    text[0] = 0;
    if (!elf_file_find_section(file, section_name, &section) || !section.data || section.size < sizeof note)
        return false;
    memcpy(&note, section.data, sizeof note);
    u64 start = sizeof note + (((u64)note.n_namesz + 3) & ~(u64)3);
    if (note.n_type != NT_GNU_BUILD_ID || start > section.size || note.n_descsz > section.size - start) return false;
    put_hex(section.data + start, note.n_descsz, text, size);
    return text[0] != 0;
}

// ---- this process ----

// The first object that the dynamic linker lists is the main program.
static int first_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    *(u64 *)context = info->dlpi_addr;
    return 1;
}

Status elf_file_open_self(ElfFile **file, u64 *load_bias, Diag *diag) {
    *load_bias = 0;
    dl_iterate_phdr(first_object, load_bias);
    return elf_file_open("/proc/self/exe", file, diag);
}

typedef struct FindTargets {
    ElfWant want;
    void *context;
    u64 load_bias;
    ElfTargets *targets;
    Status status;
} FindTargets;

static bool note_target(void *context, const ElfSymbol *symbol) {
    FindTargets *find = context;
    if (symbol->type != STT_FUNC || symbol->section == SHN_UNDEF || !find->want(find->context, symbol->name))
        return true;
    ElfTarget target = {symbol->name, (void *)(uintptr_t)(symbol->address + find->load_bias), symbol->size};
    find->status = vec_push(find->targets, target);
    return find->status == STATUS_OK;
}

Status elf_file_find_targets(const ElfFile *file, u64 load_bias, ElfWant want, void *context, ElfTargets *targets) {
    FindTargets find = {want, context, load_bias, targets, STATUS_OK};
    elf_file_visit_symbols(file, ELF_SYMTAB, note_target, &find);
    return find.status;
}
