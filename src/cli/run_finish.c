// SPDX-License-Identifier: Apache-2.0
// What is done to a profile from a GPU after the program has ended, so that it costs the program nothing: functions get
// their size and resources, instructions their lines (from the cubins), frames of call stacks their names (from the
// symbol tables of the files that are still there, without debug information).
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/machine_code.h"
#include "binary/elf.h"
#include "cli/run.h"
#include "store/store.h"

enum { SYMBOL_SECONDS = 5 };  // what finding names may take altogether

typedef struct Finish {
    Profile *profile;
    Sink *sink;
} Finish;

// --- functions ---

// A launch names its kernel but not the module; where no sample told, it is one that has a kernel of this name.
static Status link_functions(Finish *f, const Cubin *cubin, u32 module, const ProfileFunction *functions, u32 count) {
    for (u32 i = 0; i < count; i++) {
        Str name = {functions[i].name, strlen(functions[i].name)};
        if (functions[i].module_id || !cubin_find_function(cubin, name)) continue;
        RecordFunction r = {.function = functions[i].id, .module = module, .is_entry = 1};
        TRY(sink_write(f->sink, RECORD_FUNCTION, &r, name.data, name.len + 1));
    }
    return STATUS_OK;
}

static Status finish_functions(Finish *f, Diag *diag) {
    const ProfileFunction *functions;
    ProfileSummary summary;
    u32 count, unknown = 0;
    TRY(profile_summary(f->profile, &summary, diag));
    TRY(profile_functions(f->profile, &functions, &count, diag));
    for (u32 i = 0; i < count; i++) unknown += !functions[i].module_id;
    for (u32 module = 1; module <= summary.modules && unknown; module++) {
        Str text;
        Cubin cubin = {0};
        TRY(profile_module_text(f->profile, module, &text, diag));
        if (!machine_code_is(text)) continue;
        if (cubin_open(&cubin, (const u8 *)text.data, text.len, "cubin", diag) != STATUS_OK) continue;
        Status status = link_functions(f, &cubin, module, functions, count);
        cubin_close(&cubin);
        TRY(status);
    }
    return STATUS_OK;
}

// --- call stacks ---

typedef struct Wanted {
    u64 address;  // as symbols have it
    const ProfileFrame *frame;
    const char *symbol;
} Wanted;
typedef Vec(Wanted) WantedFrames;

static int by_address(const void *a, const void *b) {
    u64 x = ((const Wanted *)a)->address, y = ((const Wanted *)b)->address;
    return (x > y) - (x < y);
}

// Each symbol is held against the frames, which are few, not the other way round.
static bool take_symbol(void *context, const ElfSymbol *symbol) {
    WantedFrames *wanted = context;
    if (symbol->type != STT_FUNC || !symbol->section || !symbol->size) return true;
    u32 low = 0, high = wanted->len;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (wanted->data[middle].address < symbol->address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < wanted->len && wanted->data[low].address - symbol->address < symbol->size; low++) {
        if (!wanted->data[low].symbol) wanted->data[low].symbol = symbol->name;
    }
    return true;
}

// File offset to address: by the section that lies there.
static u64 address_of(const ElfFile *file, u64 offset) {
    ElfSection section;
    for (u32 i = 1; i < elf_file_sections(file); i++)
        if (elf_file_section(file, i, &section) && section.data && section.flags & SHF_EXECINSTR &&
            offset - section.offset < section.size)
            return section.address + (offset - section.offset);
    return 0;
}

static Status write_symbols(Finish *f, WantedFrames *wanted, const char *path) {
    ElfFile *file;
    if (elf_file_open(path, &file, NULL) != STATUS_OK) return STATUS_OK;  // gone, or no file: addresses stay
    // The return address is behind the call, which may be the last of its function.
    for (u32 i = 0; i < wanted->len; i++) wanted->data[i].address = address_of(file, wanted->data[i].frame->offset - 1);
    qsort(wanted->data, wanted->len, sizeof *wanted->data, by_address);
    elf_file_visit_symbols(file, elf_file_has_table(file, ELF_SYMTAB) ? ELF_SYMTAB : ELF_DYNSYM, take_symbol, wanted);
    Status status = STATUS_OK;
    for (u32 i = 0; i < wanted->len && status == STATUS_OK; i++) {
        const Wanted *w = &wanted->data[i];
        char tail[4096];
        if (!w->symbol || strlen(w->symbol) + 2 > sizeof tail) continue;
        RecordFrame r = {.frame = w->frame->id, .object = w->frame->object_id, .offset = w->frame->offset};
        size_t length = strlen(w->symbol) + 1;
        memcpy(tail, w->symbol, length);
        tail[length] = 0;  // no file
        status = sink_write(f->sink, RECORD_FRAME, &r, tail, length + 1);
    }
    elf_file_close(file);
    return status;
}

static int by_object(const void *a, const void *b) {
    return strcmp((*(const ProfileFrame *const *)a)->object, (*(const ProfileFrame *const *)b)->object);
}

static Status finish_frames(Finish *f, Diag *diag) {
    const ProfileFrame *frames;
    u32 count;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    TRY(profile_frames(f->profile, &frames, &count, diag));
    const ProfileFrame **sorted = mem_zero(count + 1, sizeof *sorted);
    if (!sorted) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) sorted[i] = &frames[i];
    qsort(sorted, count, sizeof *sorted, by_object);
    Status status = STATUS_OK;
    WantedFrames wanted = {0};
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        if (!sorted[i]->object[0] || sorted[i]->symbol[0]) continue;
        status = vec_push(&wanted, (Wanted){.frame = sorted[i]});
        if (status != STATUS_OK || (i + 1 < count && strcmp(sorted[i + 1]->object, sorted[i]->object) == 0)) continue;
        status = write_symbols(f, &wanted, sorted[i]->object);
        wanted.len = 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec > SYMBOL_SECONDS) break;
    }
    vec_free(&wanted);
    mem_free(sorted);
    return status;
}

Status run_finish(const char *path, Diag *diag) {
    Finish f = {0};
    StoreWriter *writer;
    TRY(store_append(path, &writer, diag));
    f.sink = store_sink(writer);
    Status status = profile_open(path, &f.profile, diag);
    if (status == STATUS_OK) status = finish_functions(&f, diag);
    if (status == STATUS_OK) status = finish_frames(&f, diag);
    profile_close(f.profile);
    Status closed = store_close(writer);
    if (status == STATUS_OK) status = closed;
    return status == STATUS_OK ? profile_add_machine_code(path, diag) : status;
}
