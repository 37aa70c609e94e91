// SPDX-License-Identifier: Apache-2.0
// Figures come from .nv.info and .nv.info.<function>: a list of attributes, each with a format, a code and a value.
// Checked against ptxas -v for sm_75 to sm_120 (CUDA 13.0).
#include "binary/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "binary/cubin_lines.h"
#include "binary/elf.h"

enum {
    MACHINE_CUDA = 190,
    ABI_CUDA_13 = 8,             // from this ABI version on, e_flags has the sm number in bits 8 to 15
    FLAG_ARCH_SPECIFIC = 0x800,  // e_flags of older ABIs: sm_90a
    STO_ENTRY = 0x10,            // st_other of kernels
    RESERVED_SHARED = 1024,      // sm_90 on: the first KiB of .nv.shared belongs to the system
    RESERVED_SHARED_SM = 90,
    INFO_VALUE = 4,  // attribute format: u16 size and that many bytes; others have 2 bytes of value
    INFO_MAX_THREADS = 0x05,
    INFO_PARAM_BANK = 0x0a,  // symbol, u16 offset and size in constant bank 0
    INFO_FRAME_SIZE = 0x11,
    INFO_PARAM = 0x17,  // index, u16 position and offset, size << 18 | ...
    INFO_PARAM_SIZE = 0x19,
    INFO_REGISTERS = 0x2f,
    INFO_JUMPS = 0x34,  // of each indirect branch: its offset, 0, how many cases, their offsets
    INFO_BARRIERS = 0x4c,
};

static u32 read_u16(const u8 *at) { return (u32)(at[0] | at[1] << 8); }
static u32 read_u32(const u8 *at) { return read_u16(at) | read_u16(at + 2) << 16; }

typedef struct CubinReader {
    Cubin *cubin;
    ElfFile *file;
    Map by_section;         // section -> function index + 1
    Vec(u32) sym_sections;  // by symbol index
} CubinReader;

static CubinFunction *function_of(CubinReader *r, u32 section) {
    const u64 *at = map_get(&r->by_section, section);
    return at ? &r->cubin->functions.data[*at - 1] : NULL;
}

static CubinFunction *function_of_symbol(CubinReader *r, u32 symbol) {
    return symbol < r->sym_sections.len ? function_of(r, r->sym_sections.data[symbol]) : NULL;
}

// The text behind `prefix`, NULL when `name` does not start with it.
static const char *behind(const char *name, const char *prefix) {
    size_t len = strlen(prefix);
    return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static Status add_function(CubinReader *r, const ElfSection *section, const char *name) {
    CubinFunction function = {.code = section->data, .code_size = section->size, .section = section->index};
    function.registers = section->info >> 24;  // until sm_89; later ones say it in .nv.info only
    function.name = arena_copy_str(&r->cubin->arena, (Str){name, strlen(name)});
    if (!function.name) return STATUS_NO_MEMORY;
    TRY(vec_push(&r->cubin->functions, function));
    return map_put(&r->by_section, section->index, r->cubin->functions.len);
}

static Status find_functions(CubinReader *r) {
    for (u32 i = 1; i < elf_file_sections(r->file); i++) {
        ElfSection section;
        if (!elf_file_section(r->file, i, &section)) continue;
        const char *name = behind(section.name, ".text.");
        if (name && section.data) TRY(add_function(r, &section, name));
    }
    return STATUS_OK;
}

static Status read_symbols(CubinReader *r) {
    ElfSection section = {0};
    for (u32 i = 1; i < elf_file_sections(r->file); i++)
        if (elf_file_section(r->file, i, &section) && section.type == SHT_SYMTAB) break;
    if (section.type != SHT_SYMTAB) return STATUS_OK;
    for (u64 at = 0; at + sizeof(Elf64_Sym) <= section.size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym raw;
        memcpy(&raw, section.data + at, sizeof raw);
        TRY(vec_push(&r->sym_sections, raw.st_shndx));
        CubinFunction *function = function_of(r, raw.st_shndx);
        bool begins = ELF64_ST_TYPE(raw.st_info) == STT_FUNC && raw.st_value == 0;
        if (function && begins && !function->symbol) function->symbol = (u32)(at / sizeof raw);
        if (function && ELF64_ST_TYPE(raw.st_info) == STT_FUNC && raw.st_other & STO_ENTRY) function->is_entry = true;
    }
    return STATUS_OK;
}

static u32 clip(u64 size) { return size > UINT32_MAX ? UINT32_MAX : (u32)size; }

// .nv.shared.<function> and .nv.constant0.<function> name their function's section in sh_info.
static void note_size(CubinReader *r, const ElfSection *section) {
    Cubin *cubin = r->cubin;
    CubinFunction *function = function_of(r, section->info);
    if (behind(section->name, ".nv.shared.") && function) {
        bool reserved = cubin->sm >= RESERVED_SHARED_SM && section->size >= RESERVED_SHARED;
        function->shared_size = clip(section->size - (reserved ? RESERVED_SHARED : 0));
    }
    if (behind(section->name, ".nv.constant0.") && function) function->constant_size = clip(section->size);
    if (strcmp(section->name, ".nv.constant3") == 0) cubin->global_constant_size = clip(section->size);
    if (strcmp(section->name, ".nv.global") == 0 || strcmp(section->name, ".nv.global.init") == 0)
        cubin->global_size = clip((u64)cubin->global_size + section->size);
}

// Of the whole module: values are pairs of symbol index and number.
static void note_module(CubinReader *r, u32 code, const u8 *value, u32 size) {
    if (size < 8) return;
    CubinFunction *function = function_of_symbol(r, read_u32(value));
    if (!function) return;
    if (code == INFO_REGISTERS) function->registers = read_u32(value + 4);
    if (code == INFO_FRAME_SIZE) function->local_size = read_u32(value + 4);
}

static Status note_param(CubinReader *r, CubinFunction *function, const u8 *value) {
    CubinParam param = {.function = (u32)(function - r->cubin->functions.data),
                        .position = read_u16(value + 4),
                        .offset = read_u16(value + 6),
                        .size = read_u32(value + 8) >> 18};
    return vec_push(&r->cubin->params, param);
}

static Status note_jumps(CubinReader *r, CubinFunction *function, const u8 *value, u32 size) {
    Cubin *cubin = r->cubin;
    if (!function->jump_count) function->first_jump = cubin->jumps.len;
    for (u32 at = 0; at + 12 <= size;) {
        u32 from = read_u32(value + at), count = read_u32(value + at + 8);
        at += 12;
        for (; count && at + 4 <= size; count--, at += 4) {
            TRY(vec_push(&cubin->jumps, ((CubinJump){from, read_u32(value + at)})));
            function->jump_count++;
        }
    }
    return STATUS_OK;
}

static void note_function(CubinFunction *function, u32 code, const u8 *value, u32 size) {
    if (code == INFO_PARAM_BANK && size >= 8) function->param_base = read_u16(value + 4);
    if (code == INFO_BARRIERS) function->barriers = value[0];
    if (code == INFO_PARAM_SIZE) function->param_size = read_u16(value);
    if (code == INFO_MAX_THREADS && size >= 12) {
        u64 threads = (u64)read_u32(value) * read_u32(value + 4);
        function->max_threads = clip(threads > UINT32_MAX ? threads : threads * read_u32(value + 8));
    }
}

static Status read_attributes(CubinReader *r, const ElfSection *section, CubinFunction *function) {
    for (u64 at = 0; section->data && at + 4 <= section->size;) {
        const u8 *head = section->data + at;
        u32 size = head[0] == INFO_VALUE ? read_u16(head + 2) : 0;
        if (size > section->size - at - 4) return STATUS_OK;
        const u8 *value = head[0] == INFO_VALUE ? head + 4 : head + 2;
        u32 room = head[0] == INFO_VALUE ? size : 2;
        if (room < 2) room = 0;
        if (room && function)
            note_function(function, head[1], value, room);
        else if (room)
            note_module(r, head[1], value, room);
        if (function && head[1] == INFO_PARAM && size >= 12) TRY(note_param(r, function, value));
        if (function && head[1] == INFO_JUMPS && size) TRY(note_jumps(r, function, value, size));
        at += 4 + size;
    }
    return STATUS_OK;
}

static int by_position(const void *a, const void *b) {
    const CubinParam *x = a, *y = b;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static void sort_params(Cubin *cubin) {
    if (cubin->params.len) qsort(cubin->params.data, cubin->params.len, sizeof(CubinParam), by_position);
    for (u32 i = cubin->params.len; i-- > 0;) {
        CubinFunction *function = &cubin->functions.data[cubin->params.data[i].function];
        function->first_param = i;
        function->param_count++;
    }
}

static Status read_figures(CubinReader *r) {
    for (u32 i = 1; i < elf_file_sections(r->file); i++) {
        ElfSection section;
        if (!elf_file_section(r->file, i, &section)) continue;
        note_size(r, &section);
        CubinFunction *function = function_of(r, section.info);
        bool module = strcmp(section.name, ".nv.info") == 0;
        if (module || (function && behind(section.name, ".nv.info.")))
            TRY(read_attributes(r, &section, module ? NULL : function));
    }
    sort_params(r->cubin);
    return STATUS_OK;
}

static int by_place(const void *a, const void *b) {
    const CubinRow *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->line.offset != y->line.offset) return x->line.offset < y->line.offset ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static Status take_rows(CubinReader *r, const CubinRows *rows) {
    Cubin *cubin = r->cubin;
    for (u32 i = 0; i < rows->len; i++) {
        CubinFunction *function = function_of(r, rows->data[i].section);
        if (!function) continue;
        if (!function->line_count) function->first_line = cubin->lines.len;
        CubinLine *last = function->line_count ? &cubin->lines.data[cubin->lines.len - 1] : NULL;
        if (last && last->offset == rows->data[i].line.offset) {  // the last of equals counts
            if (rows->data[i].line.line) *last = rows->data[i].line;
            continue;
        }
        TRY(vec_push(&cubin->lines, rows->data[i].line));
        function->line_count++;
    }
    return STATUS_OK;
}

static Status read_lines(CubinReader *r, Diag *diag) {
    CubinRows rows = {0};
    Status status = cubin_read_lines(r->cubin, r->file, &rows, diag);
    if (status == STATUS_OK && rows.len) {
        qsort(rows.data, rows.len, sizeof *rows.data, by_place);
        status = take_rows(r, &rows);
    }
    vec_free(&rows);
    return status;
}

static void read_target(Cubin *cubin, const ElfFile *file) {
    u32 abi = 0;
    elf_file_abi(file, &abi);
    cubin->flags = elf_file_flags(file);
    cubin->sm = abi >= ABI_CUDA_13 ? cubin->flags >> 8 & 0xff : cubin->flags & 0xff;
    if (abi < ABI_CUDA_13 && cubin->flags & FLAG_ARCH_SPECIFIC) cubin->variant = 'a';
}

static Status read_cubin(CubinReader *r, Diag *diag) {
    if (elf_file_machine(r->file) != MACHINE_CUDA) {
        diag_offset(diag, DIAG_ERROR, elf_file_name(r->file), 18, "an ELF file, but not GPU code");
        return STATUS_INVALID;
    }
    read_target(r->cubin, r->file);
    TRY(find_functions(r));
    TRY(read_symbols(r));
    TRY(read_figures(r));
    return read_lines(r, diag);
}

Status cubin_open(Cubin *cubin, const u8 *data, size_t size, const char *name, Diag *diag) {
    *cubin = (Cubin){0};
    CubinReader reader = {.cubin = cubin};
    TRY(elf_file_from_memory(data, size, name, &reader.file, diag));
    Status status = read_cubin(&reader, diag);
    map_free(&reader.by_section);
    vec_free(&reader.sym_sections);
    elf_file_close(reader.file);
    if (status != STATUS_OK) cubin_close(cubin);
    return status;
}

void cubin_close(Cubin *cubin) {
    vec_free(&cubin->functions);
    vec_free(&cubin->lines);
    vec_free(&cubin->params);
    vec_free(&cubin->jumps);
    vec_free(&cubin->files);
    arena_free(&cubin->arena);
    *cubin = (Cubin){0};
}

const CubinFunction *cubin_find_function(const Cubin *cubin, Str name) {
    for (u32 i = 0; i < cubin->functions.len; i++) {
        const CubinFunction *function = &cubin->functions.data[i];
        if (strlen(function->name) == name.len && !memcmp(function->name, name.data, name.len)) return function;
    }
    return NULL;
}

u32 cubin_local_accesses(const Cubin *cubin, const CubinFunction *function) {
    enum { BYTES = 16, OPCODE = 0xFFF, LDL = 0x983, STL = 0x387, VOLTA = 70 };  // [L] nvdisasm of sm_70 to sm_90
    u32 count = 0;
    if (cubin->sm < VOLTA) return 0;
    for (u64 at = 0; at + BYTES <= function->code_size; at += BYTES) {
        u32 opcode = (function->code[at] | (u32)function->code[at + 1] << 8) & OPCODE;
        count += opcode == LDL || opcode == STL;
    }
    return count;
}

const CubinLine *cubin_find_line(const Cubin *cubin, const CubinFunction *function, u64 offset) {
    const CubinLine *found = NULL;
    u32 low = function->first_line, high = low + function->line_count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        const CubinLine *line = &cubin->lines.data[middle];
        if (line->offset > offset) {
            high = middle;
        } else {
            found = line;
            low = middle + 1;
        }
    }
    return found && found->line ? found : NULL;
}
