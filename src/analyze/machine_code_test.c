// SPDX-License-Identifier: Apache-2.0
// A profile as collected on a GPU: a cubin, samples by place in the machine code. nvdisasm is a script here.
#include "store/sample_profile.h"
#include "store/store_testing.h"

#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/blame.h"
#include "analyze/machine_code.h"
#include "base/file.h"
#include "sass/control.h"

enum { MM_INSNS = 104 };
static const char mm[] = "_Z2mmPKfS0_Pfi";

// --- nvdisasm ----------------------------------------------------------------------------------------------------
// A program of this name that prints what `body` says, alone on the PATH.
static void make_tool(const char *body) {
    char name[160];
    snprintf(name, sizeof name, "%s/nvdisasm", folder);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(name, 0755), 0);
}

static int only_this_path(void **state) {
    if (make_folder(state) != 0) return -1;
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    return setenv("PATH", folder, 1);
}

static int no_path(void **state) {
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    return remove_folder(state);
}

// --- the profile -------------------------------------------------------------------------------------------------
static size_t padding;  // behind the cubin

static void write_module(Sink *sink, u32 module) {
    FileData file;
    assert_int_equal(file_read("tests/sass/app.cubin", &file, NULL), STATUS_OK);
    RecordModule record = {.module = module, .kind = 1, .hash = 6 + module, .text_size = file.size + padding};
    char *tail = mem_zero(file.size + padding + 1, 1);
    memcpy(tail + 1, file.data, file.size);
    assert_int_equal(sink_write(sink, RECORD_MODULE, &record, tail, file.size + padding + 1), STATUS_OK);
    mem_free(tail);
    file_release(&file);
}

typedef struct Seen {
    u32 pc;
    StallReason reason;
    u64 samples;
} Seen;

static void write_samples(Sink *sink, u32 function, u32 source, const Seen *seen, u32 count) {
    RecordSample rows[16] = {0};
    for (u32 i = 0; i < count; i++)
        rows[i] = (RecordSample){
            .pc = seen[i].pc, .stall = seen[i].reason, .samples = seen[i].samples, .not_issued = seen[i].samples / 2};
    RecordSamples record = {.function = function, .source = source, .period = 1024, .count = count};
    assert_int_equal(sink_write(sink, RECORD_SAMPLES, &record, rows, count * sizeof *rows), STATUS_OK);
}

// What a collector writes: no instruction counts, no lines.
static void write_profile(const Seen *seen, u32 count) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[128];
    static const Provenance provenances[] = {PROVENANCE_COUNTED, PROVENANCE_SAMPLED, PROVENANCE_SAMPLED};
    size_t size;
    for (u32 i = 0; i < WL_COUNT(provenances); i++) {  // launches are counted by 1, samples of that device are 3's
        RecordSource source = {.source = i + 1, .provenance = provenances[i]};
        size = SAMPLE_TAIL(tail, "warplens", "NVIDIA H200", i == 1 ? "device 1" : "device 0");
        assert_int_equal(sink_write(sink, RECORD_SOURCE, &source, tail, size), STATUS_OK);
    }
    for (u32 r = 0; r < STALL_COUNT; r++) {
        RecordStallName name = {.source = 3, .stall = r};
        size = SAMPLE_TAIL(tail, stall_names[r], "");
        assert_int_equal(sink_write(sink, RECORD_STALL_NAME, &name, tail, size), STATUS_OK);
    }
    write_module(sink, 1);
    RecordFunction function = {.function = 1, .module = 1, .is_entry = 1};
    assert_int_equal(sink_write(sink, RECORD_FUNCTION, &function, mm, sizeof mm), STATUS_OK);
    assert_int_equal(sample_launch(sink, 1, 1), STATUS_OK);
    write_samples(sink, 1, 2, seen, 1);
    write_samples(sink, 1, 3, seen, count);
    assert_int_equal(store_close(writer), STATUS_OK);
}

typedef struct Opened {
    Profile *profile;
    KernelViews *views;
    const KernelView *view;
    Diag diag;
} Opened;

static Opened open_view(void) {
    Opened o = {0};
    const ProfileFunction *functions;
    const KernelViewOptions options = {.gpu_folder = "gpus"};
    u32 count;
    assert_int_equal(profile_open(path, &o.profile, &o.diag), STATUS_OK);
    assert_int_equal(kernel_views_open(o.profile, &options, &o.views, &o.diag), STATUS_OK);
    assert_int_equal(profile_functions(o.profile, &functions, &count, &o.diag), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(kernel_views_get(o.views, &functions[0], &o.view, &o.diag), STATUS_OK);
    return o;
}

static void close_view(Opened *o) {
    kernel_views_close(o->views);
    profile_close(o->profile);
    diag_free(&o->diag);
}

// --- tests -------------------------------------------------------------------------------------------------------
static const char print_listing[] =
    "while IFS= read -r line; do printf '%s' \"$line\"; done < tests/sass/app.json; printf '%s' \"$line\"";
static const Seen some[] = {{60, STALL_SHORT_SCOREBOARD, 1000}, {48, STALL_LONG_SCOREBOARD, 500}};

TEST(listing_is_made_on_demand) {
    make_tool(print_listing);
    write_profile(some, 2);
    Opened o = open_view();
    assert_int_equal(o.view->kind, VIEW_SASS);
    assert_null(o.view->no_code);
    assert_int_equal(o.view->insn_count, MM_INSNS);
    assert_int_equal(o.view->basis, VIEW_SAMPLES);
    assert_true(o.view->latency_known);
    assert_string_equal(o.view->provenance, "sampled");
    assert_int_equal(o.view->launches.count, 1);
    assert_non_null(o.view->gpu);
    assert_non_null(o.view->flow.code->issue);
    assert_int_equal(o.view->flow.loops->loop_count, 1);
    assert_int_equal(o.view->samples[60].all[STALL_SHORT_SCOREBOARD], 1000);
    close_view(&o);
}

// mm's symbol is the only one that is asked for.
TEST(large_cubins_are_read_in_part) {
    char body[512];
    FileData file;
    Cubin cubin;
    assert_int_equal(file_read("tests/sass/app.cubin", &file, NULL), STATUS_OK);
    assert_int_equal(cubin_open(&cubin, file.data, file.size, "app", NULL), STATUS_OK);
    u32 symbol = cubin_find_function(&cubin, STR("_Z2mmPKfS0_Pfi"))->symbol;
    cubin_close(&cubin);
    file_release(&file);
    snprintf(body, sizeof body, "test \"$3 $4\" = \"-fun %u\" || exit 1\n%s", symbol, print_listing);
    make_tool(body);
    padding = 1 << 20;
    write_profile(some, 2);
    padding = 0;
    Opened o = open_view();
    assert_int_equal(o.view->kind, VIEW_SASS);
    close_view(&o);
    snprintf(body, sizeof body, "test $# = 2 || exit 1\n%s", print_listing);  // one that does not know -fun
    make_tool(body);
    o = open_view();
    assert_int_equal(o.view->kind, VIEW_SASS);
    close_view(&o);
}

TEST(without_nvdisasm_it_says_so) {
    write_profile(some, 2);
    Opened o = open_view();
    assert_int_equal(o.view->kind, VIEW_NO_CODE);
    assert_non_null(strstr(o.view->no_code, "nvdisasm"));
    assert_int_equal(o.view->samples[60].all[STALL_SHORT_SCOREBOARD], 1000);
    close_view(&o);
}

TEST(nvdisasm_that_fails_is_no_failure) {
    static const char *const bodies[] = {"exit 1", "echo nonsense", "exec /nowhere/at/all"};
    for (u32 i = 0; i < WL_COUNT(bodies); i++) {
        make_tool(bodies[i]);
        write_profile(some, 2);
        Opened o = open_view();
        assert_int_equal(o.view->kind, VIEW_NO_CODE);
        assert_non_null(o.view->no_code);
        close_view(&o);
    }
}

TEST(completed_profiles_need_no_nvdisasm) {
    Diag diag = {0};
    make_tool(print_listing);
    write_profile(some, 2);
    assert_int_equal(profile_add_machine_code(path, &diag), STATUS_OK);
    make_tool("exit 1");
    Opened o = open_view();
    assert_int_equal(o.view->kind, VIEW_SASS);
    assert_int_equal(o.view->function->insn_count, MM_INSNS);
    assert_int_equal(o.view->function->registers, 32);
    assert_int_equal(o.view->function->shared_bytes, 2048);
    close_view(&o);
    assert_int_equal(profile_add_machine_code(path, &diag), STATUS_OK);  // again: nothing is there twice
    o = open_view();
    assert_int_equal(o.view->kind, VIEW_SASS);
    close_view(&o);
    assert_int_equal(diag.errors, 0);
    diag_free(&diag);
}

static bool has_listing(u32 module) {
    Profile *profile;
    Str listing;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_module_listing(profile, module, &listing, NULL), STATUS_OK);
    bool has = listing.len > 0;
    profile_close(profile);
    return has;
}

// Two modules, and an nvdisasm that works once.
TEST(the_code_with_the_most_samples_is_listed_first) {
    static const Seen most[] = {{60, STALL_SHORT_SCOREBOARD, 5000}};
    char body[512];
    Diag diag = {0};
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);  // one after the other
    write_profile(some, 2);
    StoreWriter *writer;
    assert_int_equal(store_append(path, &writer, &diag), STATUS_OK);
    write_module(store_sink(writer), 2);
    RecordFunction function = {.function = 2, .module = 2, .is_entry = 1};
    assert_int_equal(sink_write(store_sink(writer), RECORD_FUNCTION, &function, mm, sizeof mm), STATUS_OK);
    write_samples(store_sink(writer), 2, 3, most, 1);
    assert_int_equal(store_close(writer), STATUS_OK);
    snprintf(body, sizeof body, "test ! -e %s/once || exit 1\n: > %s/once\n%s", folder, folder, print_listing);
    make_tool(body);
    assert_int_equal(profile_add_machine_code(path, &diag), STATUS_OK);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_true(has_listing(2));
    assert_false(has_listing(1));
    make_tool(print_listing);
    assert_int_equal(profile_add_machine_code(path, &diag), STATUS_OK);
    assert_true(has_listing(1));
    diag_free(&diag);
}

TEST(profiles_without_machine_code_stay_as_they_are) {
    Diag diag = {0};
    assert_int_equal(store_close(create_profile()), STATUS_OK);
    assert_int_equal(profile_add_machine_code(path, &diag), STATUS_OK);
    FILE *file = fopen(path, "w");
    fputs("something else", file);
    fclose(file);
    assert_true(profile_add_machine_code(path, &diag) != STATUS_OK);
    StoreWriter *writer;
    assert_int_equal(store_append(path, &writer, &diag), STATUS_INVALID);
    assert_null(writer);
    diag_free(&diag);
}

static f64 blamed_on(const Blame *blame, u32 use, StallReason reason, u32 def) {
    for (u32 i = blame->first[use]; i < blame->first[use + 1]; i++)
        if (blame->edges[i].reason == reason && blame->edges[i].def == def) return blame->edges[i].samples;
    return 0;
}

// mm: the loads of the tiles (40, 42) are waited for by the stores to shared memory (49, 48) over barriers 2 and 3;
// FFMA (60) waits over barrier 0 for LDS.128 (52), FFMA (83) over barrier 0 for LDS.128 (75), whose registers are
// several uses away; FFMA (82) for FFMA (81) by its stall count.
TEST(stalls_are_blamed_by_barriers) {
    static const Seen seen[] = {{60, STALL_SHORT_SCOREBOARD, 1000},
                                {48, STALL_LONG_SCOREBOARD, 500},
                                {49, STALL_LONG_SCOREBOARD, 300},
                                {83, STALL_SHORT_SCOREBOARD, 200},
                                {82, STALL_WAIT, 100},
                                {46, STALL_LONG_SCOREBOARD, 50},
                                {88, STALL_WAIT, 40},
                                {3, STALL_IMC_MISS, 30}};
    Arena arena = {0};
    Blame *blame;
    make_tool(print_listing);
    write_profile(seen, WL_COUNT(seen));
    Opened o = open_view();
    assert_int_equal(blame_kernel(o.view, NULL, &arena, &blame), STATUS_OK);
    assert_true(blamed_on(blame, 60, STALL_SHORT_SCOREBOARD, 52) > 999);
    assert_true(blamed_on(blame, 48, STALL_LONG_SCOREBOARD, 42) > 499);
    assert_true(blamed_on(blame, 49, STALL_LONG_SCOREBOARD, 40) > 299);
    assert_true(blamed_on(blame, 83, STALL_SHORT_SCOREBOARD, 75) > 199);
    assert_true(blamed_on(blame, 82, STALL_WAIT, 81) > 99);
    // BRA (88): its predicate is ready since long (ISETP, 44), the stall count is that of the barrier before it.
    assert_true(blamed_on(blame, 88, STALL_WAIT, 87) > 39);
    assert_true(blamed_on(blame, 3, STALL_IMC_MISS, 3) > 29);  // ULDC: its own constant
    const BlameEdge *war = &blame->edges[blame->first[46]];    // R2 may be overwritten once LDG 40 has read it
    assert_int_equal(war->def, 40);
    assert_int_equal(war->class, BLAME_WAR);
    assert_true(blame->unattributed < 1e-9);
    arena_free(&arena);
    close_view(&o);
}

#define WITH_TOOL(test) cmocka_unit_test_setup_teardown(test, only_this_path, no_path)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TOOL(listing_is_made_on_demand),
        WITH_TOOL(large_cubins_are_read_in_part),
        WITH_TOOL(without_nvdisasm_it_says_so),
        WITH_TOOL(nvdisasm_that_fails_is_no_failure),
        WITH_TOOL(completed_profiles_need_no_nvdisasm),
        WITH_TOOL(profiles_without_machine_code_stay_as_they_are),
        WITH_TOOL(the_code_with_the_most_samples_is_listed_first),
        WITH_TOOL(stalls_are_blamed_by_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
