// SPDX-License-Identifier: Apache-2.0
// What a collector has no time for while the program runs: the listing of each cubin, the source line of each
// instruction, the resources of each function.
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/machine_code.h"
#include "base/map.h"
#include "base/pool.h"
#include "sass/control.h"

enum { LISTING_THREADS = 4 };

typedef struct Adder {
    Profile *profile;
    Sink *sink;
    Diag *diag;
    Map files;  // hash of the path -> file id
    u32 file_count;
    struct ModuleWork *works;
    u64 end_ms;  // of nvdisasm's time
} Adder;

typedef struct RecordText {  // a fixed part, and texts behind it
    Vec(char) bytes;
} RecordText;

static Status add_text(RecordText *text, const char *data, size_t len) {
    TRY(vec_reserve(&text->bytes, (u32)len));
    if (len) memcpy(text->bytes.data + text->bytes.len, data, len);
    text->bytes.len += (u32)len;
    return STATUS_OK;
}

static Status write_listing(Adder *a, u32 module, const SassText *listing) {
    static const char format[] = "nvdisasm-json";
    RecordListing record = {.module = module, .text_size = listing->len};
    RecordText text = {0};
    Status status = add_text(&text, format, sizeof format);
    if (status == STATUS_OK) status = add_text(&text, listing->data, listing->len);
    if (status == STATUS_OK) status = sink_write(a->sink, RECORD_LISTING, &record, text.bytes.data, text.bytes.len);
    vec_free(&text.bytes);
    return status;
}

// --- lines -------------------------------------------------------------------------------------------------------
// Ids of files are given from 1 on; a profile with machine code has none of its own before.
static Status file_id(Adder *a, const char *path, u32 *id) {
    u64 hash = hash_bytes(path, strlen(path));
    const u64 *known = map_get(&a->files, hash);
    *id = known ? (u32)*known : a->file_count + 1;
    if (known) return STATUS_OK;
    RecordFileName record = {.file = ++a->file_count};
    TRY(map_put(&a->files, hash, *id));
    return sink_write(a->sink, RECORD_FILE_NAME, &record, path, strlen(path) + 1);
}

static Status write_lines(Adder *a, const MachineCode *code, const CubinFunction *function, u32 id) {
    u32 count = (u32)(function->code_size / SASS_INSN_BYTES);
    if (!function->line_count || !count) return STATUS_OK;
    RecordInsn *insns = mem_zero(count, sizeof *insns);
    if (!insns) return STATUS_NO_MEMORY;
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        const CubinLine *line = cubin_find_line(&code->cubin, function, (u64)i * SASS_INSN_BYTES);
        if (!line || line->file == WL_NONE) continue;
        status = file_id(a, code->cubin.files.data[line->file], &insns[i].file);
        insns[i].line = line->line;
        insns[i].column = line->column;
        if (!line->inlined || line->call_file == WL_NONE || status != STATUS_OK) continue;
        status = file_id(a, code->cubin.files.data[line->call_file], &insns[i].call_file);
        insns[i].call_line = line->call_line;
        insns[i].inlined = line->inlined;
    }
    RecordInsns record = {.function = id, .count = count};
    if (status == STATUS_OK) status = sink_write(a->sink, RECORD_INSN, &record, insns, (size_t)count * sizeof *insns);
    mem_free(insns);
    return status;
}

static Status write_function(Adder *a, const MachineCode *code, const ProfileFunction *known) {
    const CubinFunction *function = cubin_find_function(&code->cubin, (Str){known->name, strlen(known->name)});
    if (!function || known->insn_count) return STATUS_OK;  // not here, or the collector has said it
    RecordFunction record = {.function = known->id,
                             .module = known->module_id,
                             .is_entry = function->is_entry,
                             .insn_count = (u32)(function->code_size / SASS_INSN_BYTES),
                             .registers = function->registers,
                             .shared_bytes = function->shared_size,
                             .local_bytes = function->local_size,
                             .const_bytes = function->constant_size};
    TRY(sink_write(a->sink, RECORD_FUNCTION, &record, known->name, strlen(known->name) + 1));
    return write_lines(a, code, function, known->id);
}

// --- modules -----------------------------------------------------------------------------------------------------
// Those with the most samples come first: nvdisasm may not have time for all.
typedef struct ModuleWork {
    u32 module, first;  // of its functions, in the profile's list
    u64 samples;
    ListingPlan plan;
    MachineCode code;
    Status status;
    Diag diag;
} ModuleWork;
typedef Vec(ModuleWork) ModuleWorks;

static int by_samples(const void *left, const void *right) {
    const ModuleWork *a = left, *b = right;
    if (a->samples != b->samples) return a->samples < b->samples ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

// Of all sources: launches are counted by one and samples taken by another.
static Status count_samples(Adder *a, const ProfileFunction *function, u64 *sum) {
    const ProfileSource *sources;
    u32 source_count, count;
    TRY(profile_sources(a->profile, &sources, &source_count, a->diag));
    for (u32 s = 0; s < source_count; s++) {
        const ProfileSample *samples;
        ProfileFunction asked = *function;
        asked.source = sources[s].id;
        TRY(profile_samples(a->profile, &asked, &samples, &count, a->diag));
        for (u32 i = 0; i < count; i++) *sum += samples[i].samples * samples[i].period;
    }
    return STATUS_OK;
}

static Status find_works(Adder *a, const ProfileFunction *functions, u32 count, ModuleWorks *works) {
    Map known = {0};  // module -> index in works
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        u32 module = functions[i].module_id;
        const u64 *at = map_get(&known, module);
        u32 work = at ? (u32)*at : works->len;
        if (!at) status = map_put(&known, module, work);
        if (!at && status == STATUS_OK) status = vec_push(works, ((ModuleWork){.module = module, .first = i}));
        if (status == STATUS_OK) status = count_samples(a, &functions[i], &works->data[work].samples);
    }
    map_free(&known);
    if (works->len) qsort(works->data, works->len, sizeof *works->data, by_samples);
    return status;
}

static Status plan_work(Adder *a, ModuleWork *work) {
    Str bytes;
    TRY(profile_module_text(a->profile, work->module, &bytes, a->diag));
    if (!machine_code_is(bytes)) return STATUS_OK;
    return machine_code_plan(a->profile, work->module, bytes, &work->plan, &work->code, a->diag);
}

static u64 now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

// One that hangs may take half of the time that is left.
static void list_work(void *context, u32 part, u32 worker) {
    (void)worker;
    Adder *a = context;
    ModuleWork *work = &a->works[part];
    u64 now = now_ms();
    u32 left = now < a->end_ms ? (u32)(a->end_ms - now) : 0;
    work->status = machine_code_list(&work->plan, left / 2, &work->code, &work->diag);
}

// nvdisasm takes most of a second for a cubin of 14 MB, and some hundred MB of memory.
static Status list_works(Adder *a, u32 count) {
    cpu_set_t set;
    Pool *pool;
    u32 threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (u32)CPU_COUNT(&set) : 1;
    if (threads > LISTING_THREADS) threads = LISTING_THREADS;
    TRY(pool_create(&pool, threads < count ? threads : count));
    a->end_ms = now_ms() + MACHINE_CODE_MS;
    pool_run(pool, count, list_work, a);
    pool_destroy(pool);
    return STATUS_OK;
}

static Status write_work(Adder *a, const ModuleWork *work, const ProfileFunction *functions, u32 count) {
    const MachineCode *code = &work->code;
    if (!work->plan.bytes.len) return STATUS_OK;  // no machine code
    for (u32 i = 0; i < work->diag.entries.len; i++)
        diag_text(a->diag, work->diag.entries.data[i].severity, NULL, 0, 0, "%s", work->diag.entries.data[i].text);
    if (code->why) diag_text(a->diag, DIAG_NOTE, NULL, 0, 0, "%s: %s", functions[work->first].name, code->why);
    TRY(work->status);
    if (code->made.len && !code->why) TRY(write_listing(a, work->module, &code->made));
    for (u32 i = work->first; i < count; i++)
        if (functions[i].module_id == work->module) TRY(write_function(a, code, &functions[i]));
    return STATUS_OK;
}

static Status add_modules(Adder *a) {
    const ProfileFunction *functions;
    u32 count;
    ModuleWorks works = {0};
    TRY(profile_functions(a->profile, &functions, &count, a->diag));
    Status status = find_works(a, functions, count, &works);
    a->works = works.data;
    for (u32 i = 0; i < works.len && status == STATUS_OK; i++) status = plan_work(a, &works.data[i]);
    if (works.len && status == STATUS_OK) status = list_works(a, works.len);
    for (u32 i = 0; i < works.len && status == STATUS_OK; i++) status = write_work(a, &works.data[i], functions, count);
    for (u32 i = 0; i < works.len; i++) {
        machine_code_free(&works.data[i].code);
        listing_plan_free(&works.data[i].plan);
        diag_free(&works.data[i].diag);
    }
    vec_free(&works);
    return status;
}

static Status has_machine_code(const char *path, bool *has, Diag *diag) {
    Profile *profile;
    const ProfileFunction *functions;
    u32 count = 0;
    *has = false;
    TRY(profile_open(path, &profile, diag));
    Status status = profile_functions(profile, &functions, &count, diag);
    for (u32 i = 0; i < count && status == STATUS_OK && !*has; i++) {
        Str bytes;
        bool seen = i > 0 && functions[i].module_id == functions[i - 1].module_id;
        if (!seen) status = profile_module_text(profile, functions[i].module_id, &bytes, diag);
        *has = !seen && status == STATUS_OK && machine_code_is(bytes);
    }
    profile_close(profile);
    return status;
}

Status profile_add_machine_code(const char *path, Diag *diag) {
    StoreWriter *writer;
    bool has;
    TRY(has_machine_code(path, &has, diag));
    if (!has) return STATUS_OK;
    TRY(store_append(path, &writer, diag));
    Adder adder = {.sink = store_sink(writer), .diag = diag};
    Status status = profile_open(path, &adder.profile, diag);
    if (status == STATUS_OK) status = add_modules(&adder);
    profile_close(adder.profile);
    Status closed = store_close(writer);
    map_free(&adder.files);
    return status == STATUS_OK ? closed : status;
}
