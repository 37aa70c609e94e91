// SPDX-License-Identifier: Apache-2.0
// DWARF 4, section 6.2. nvcc writes version 2; its addresses are 0 and get their function through a relocation.
#include "binary/cubin_lines.h"

#include <elf.h>
#include <string.h>

#include "base/map.h"

enum {
    LINE_VERSION_MIN = 2,
    LINE_VERSION_MAX = 4,
    ROWS_MAX = 1 << 24,
    OPCODES_MAX = 64,
};

// Reads little-endian numbers until the end or the first thing that does not fit, which sets `bad`.
typedef struct Reader {
    const u8 *data;
    u64 at, end;
    bool bad;
} Reader;

static u64 read_fixed(Reader *r, u32 bytes) {
    u64 value = 0;
    if (bytes > 8 || bytes > r->end - r->at) {
        r->bad = true;
        r->at = r->end;
        return 0;
    }
    for (u32 i = 0; i < bytes; i++) value |= (u64)r->data[r->at++] << (8 * i);
    return value;
}

static u64 read_leb(Reader *r, bool is_signed) {
    u64 value = 0;
    u8 byte = 0x80;
    u32 shift = 0;
    for (; byte & 0x80; shift += 7) {
        if (r->at == r->end || shift > 63) {
            r->bad = true;
            return 0;
        }
        byte = r->data[r->at++];
        value |= (u64)(byte & 0x7f) << shift;
    }
    if (is_signed && byte & 0x40 && shift < 64) value |= ~(u64)0 << shift;
    return value;
}

static const char *read_text(Reader *r) {
    const u8 *start = r->data + r->at, *stop = memchr(start, 0, r->end - r->at);
    if (!stop) {
        r->bad = true;
        r->at = r->end;
        return "";
    }
    r->at += (u64)(stop - start) + 1;
    return (const char *)start;
}

typedef struct LineReader {
    Cubin *cubin;
    CubinRows *rows;
    Map relocations;  // offset in .debug_line -> section << 32 | offset in it
    Vec(const char *) dirs;
    Vec(u32) files;  // of this program, from 1 -> index in cubin->files
    Map known;       // hash of a path -> index in cubin->files
    u32 sequence;    // where the rows of this one begin
    u32 min_length, line_range, opcode_base;
    i32 line_base;
    u8 operands[OPCODES_MAX];
} LineReader;

static Status add_file(LineReader *l, const char *name, u64 dir) {
    const char *folder = dir && dir <= l->dirs.len && *name != '/' ? l->dirs.data[dir - 1] : "";
    const char *path = arena_printf(&l->cubin->arena, "%s%s%s", folder, *folder ? "/" : "", name);
    if (!path) return STATUS_NO_MEMORY;
    u64 hash = hash_bytes(path, strlen(path));
    u64 *known = map_get(&l->known, hash);
    if (known) return vec_push(&l->files, (u32)*known);
    TRY(map_put(&l->known, hash, l->cubin->files.len));
    TRY(vec_push(&l->files, l->cubin->files.len));
    return vec_push(&l->cubin->files, path);
}

static Status read_file_entry(LineReader *l, Reader *r, const char *name) {
    u64 dir = read_leb(r, false);
    read_leb(r, false);  // time
    read_leb(r, false);  // size
    return r->bad ? STATUS_OK : add_file(l, name, dir);
}

// Header of a line program; leaves `r` at its first opcode.
static Status read_header(LineReader *l, Reader *r, u32 offset_size) {
    u32 version = (u32)read_fixed(r, 2);
    u64 length = read_fixed(r, offset_size);
    u64 start = r->at;
    if (version < LINE_VERSION_MIN || version > LINE_VERSION_MAX || length > r->end - start) r->bad = true;
    l->min_length = (u32)read_fixed(r, 1);
    if (version >= 4) read_fixed(r, 1);  // operations per instruction: not VLIW
    read_fixed(r, 1);                    // default is_stmt
    l->line_base = (i8)read_fixed(r, 1);
    l->line_range = (u32)read_fixed(r, 1);
    l->opcode_base = (u32)read_fixed(r, 1);
    if (!l->line_range || !l->opcode_base || l->opcode_base > OPCODES_MAX) r->bad = true;
    if (r->bad) return STATUS_OK;
    for (u32 i = 1; i < l->opcode_base; i++) l->operands[i] = (u8)read_fixed(r, 1);
    l->dirs.len = l->files.len = 0;
    for (const char *dir = read_text(r); *dir && !r->bad; dir = read_text(r)) TRY(vec_push(&l->dirs, dir));
    for (const char *name = read_text(r); *name && !r->bad; name = read_text(r)) TRY(read_file_entry(l, r, name));
    r->at = start + length;
    return STATUS_OK;
}

typedef struct LineState {
    u64 address;
    u32 section, file, line, column;
    u32 context;  // row of this sequence, from 1, that called what is inlined here; 0 = not inlined
} LineState;

enum { INLINED_CALL = 0x90 };  // DW_LNE of NVIDIA (LLVM: DW_LNE_NVIDIA_inlined_call)

static const LineState fresh_state = {.file = 1, .line = 1};

static void note_caller(const LineReader *l, u32 context, CubinLine *line) {
    if (!context || context > l->rows->len - l->sequence) return;
    const CubinLine *caller = &l->rows->data[l->sequence + context - 1].line;
    line->inlined = caller->inlined + 1;
    line->call_file = caller->inlined ? caller->call_file : caller->file;
    line->call_line = caller->inlined ? caller->call_line : caller->line;
}

static Status emit(LineReader *l, const LineState *state, bool end) {
    if (!state->section) return STATUS_OK;
    if (l->rows->len >= ROWS_MAX) return STATUS_LIMIT;
    u32 file = state->file && state->file <= l->files.len ? l->files.data[state->file - 1] : WL_NONE;
    CubinRow row = {.section = state->section, .order = l->rows->len};
    row.line = (CubinLine){.offset = state->address, .file = WL_NONE};
    if (!end) {
        row.line.file = file;
        row.line.line = state->line;
        row.line.column = state->column;
        note_caller(l, state->context, &row.line);
    }
    return vec_push(l->rows, row);
}

static Status extended(LineReader *l, Reader *r, LineState *state) {
    u64 length = read_leb(r, false), start = r->at;
    if (r->bad || length == 0 || length > r->end - start) {
        r->bad = true;
        return STATUS_OK;
    }
    u32 opcode = (u32)read_fixed(r, 1);
    if (opcode == 1) {  // end of the sequence
        TRY(emit(l, state, true));
        *state = fresh_state;
        l->sequence = l->rows->len;
    } else if (opcode == 2) {  // address, through its relocation
        const u64 *target = map_get(&l->relocations, r->at);
        state->section = target ? (u32)(*target >> 32) : 0;
        state->address = read_fixed(r, (u32)(length - 1)) + (target ? (u32)*target : 0);
    } else if (opcode == 3) {
        TRY(read_file_entry(l, r, read_text(r)));
    } else if (opcode == INLINED_CALL) {
        state->context = (u32)read_leb(r, false);  // then the function's name
    }
    r->at = start + length;  // others are passed over
    return STATUS_OK;
}

static Status standard(LineReader *l, Reader *r, LineState *state, u32 opcode) {
    switch (opcode) {
    case 1: return emit(l, state, false);
    case 2: state->address += read_leb(r, false) * l->min_length; return STATUS_OK;
    case 3: state->line += (u32)read_leb(r, true); return STATUS_OK;
    case 4: state->file = (u32)read_leb(r, false); return STATUS_OK;
    case 5: state->column = (u32)read_leb(r, false); return STATUS_OK;
    case 8: state->address += (u64)((255 - l->opcode_base) / l->line_range) * l->min_length; return STATUS_OK;
    case 9: state->address += read_fixed(r, 2); return STATUS_OK;
    }
    for (u32 i = 0; i < l->operands[opcode]; i++) read_leb(r, false);
    return STATUS_OK;
}

static Status run_program(LineReader *l, Reader *r) {
    LineState state = fresh_state;
    l->sequence = l->rows->len;
    while (r->at < r->end && !r->bad) {
        u32 opcode = (u32)read_fixed(r, 1);
        if (opcode >= l->opcode_base) {
            u32 step = opcode - l->opcode_base;
            state.address += (u64)(step / l->line_range) * l->min_length;
            state.line += (u32)(l->line_base + (i32)(step % l->line_range));
            TRY(emit(l, &state, false));
        } else {
            TRY(opcode == 0 ? extended(l, r, &state) : standard(l, r, &state, opcode));
        }
    }
    return STATUS_OK;
}

typedef struct SymbolPlaces {
    Vec(u64) places;  // section << 32 | address, by index of the symbol table
} SymbolPlaces;

static Status read_symbols(const ElfFile *file, u32 table, SymbolPlaces *symbols) {
    ElfSection section;
    if (!elf_file_section(file, table, &section) || section.type != SHT_SYMTAB) return STATUS_OK;
    for (u64 at = 0; at + sizeof(Elf64_Sym) <= section.size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym raw;
        memcpy(&raw, section.data + at, sizeof raw);
        TRY(vec_push(&symbols->places, (u64)raw.st_shndx << 32 | (u32)raw.st_value));
    }
    return STATUS_OK;
}

static Status note_relocations(LineReader *l, const ElfSection *section, const SymbolPlaces *symbols) {
    bool addends = section->type == SHT_RELA;
    u64 step = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (u64 at = 0; at + step <= section->size; at += step) {
        Elf64_Rela raw = {0};
        memcpy(&raw, section->data + at, step);
        u64 symbol = ELF64_R_SYM(raw.r_info);
        if (symbol >= symbols->places.len) continue;
        u64 place = symbols->places.data[symbol];
        u64 target = (place & ~(u64)UINT32_MAX) | (u32)(place + (u64)raw.r_addend);
        TRY(map_put(&l->relocations, raw.r_offset, target));
    }
    return STATUS_OK;
}

static Status read_relocations(LineReader *l, const ElfFile *file, u32 debug_line) {
    for (u32 i = 1; i < elf_file_sections(file); i++) {
        ElfSection section;
        if (!elf_file_section(file, i, &section) || section.info != debug_line) continue;
        if (section.type != SHT_RELA && section.type != SHT_REL) continue;
        SymbolPlaces symbols = {0};
        Status status = read_symbols(file, section.link, &symbols);
        if (status == STATUS_OK) status = note_relocations(l, &section, &symbols);
        vec_free(&symbols.places);
        return status;
    }
    return STATUS_OK;
}

static Status read_programs(LineReader *l, const ElfSection *section, const char *name, Diag *diag) {
    for (Reader r = {section->data, 0, section->size, false}; r.at < r.end;) {
        u64 start = r.at;
        u64 length = read_fixed(&r, 4);
        u32 offset_size = length == UINT32_MAX ? 8 : 4;
        if (offset_size == 8) length = read_fixed(&r, 8);
        Reader program = {r.data, r.at, r.at + length, r.bad || length > r.end - r.at};
        if (!program.bad) TRY(read_header(l, &program, offset_size));
        if (!program.bad) TRY(run_program(l, &program));
        if (program.bad) {
            diag_offset(diag, DIAG_WARNING, name, section->offset + start, "line table not understood from here");
            return STATUS_OK;
        }
        r.at = program.end;
    }
    return STATUS_OK;
}

Status cubin_read_lines(Cubin *cubin, const ElfFile *file, CubinRows *rows, Diag *diag) {
    ElfSection section;
    if (!elf_file_find_section(file, ".debug_line", &section) || !section.data) return STATUS_OK;
    LineReader l = {.cubin = cubin, .rows = rows};
    Status status = read_relocations(&l, file, section.index);
    if (status == STATUS_OK) status = read_programs(&l, &section, elf_file_name(file), diag);
    map_free(&l.relocations);
    map_free(&l.known);
    vec_free(&l.dirs);
    vec_free(&l.files);
    return status;
}
