// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sample_profile.h"
#include "store/store_testing.h"
#include "view/columns.h"
#include "view/report.h"
#include "view/utf8.h"

// Two kernels: mm with three lines (one an atomic from a toolkit header), init without line information.
static void write_two_kernels(void) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    Status status = sample_head(sink);
    if (status == STATUS_OK) status = sample_function(sink, 1, "_Z4initPf", 1);
    if (status == STATUS_OK) status = sample_function(sink, 2, "_Z2mmPKfS0_Pfi", 3);
    RecordInsn init[] = {{.text_line = 2}};
    RecordInsn mm[] = {{.file = 1, .line = 10},
                       {.file = 1, .line = 20},
                       {.file = 2, .line = 9, .inlined = 1, .call_file = 1, .call_line = 20}};
    if (status == STATUS_OK) status = sample_insns(sink, 1, init, 1);
    if (status == STATUS_OK) status = sample_insns(sink, 2, mm, 3);
    RecordCount init_counts[] = {{METRIC_INST, 0, 16}, {METRIC_THREAD_INST, 0, 512}};
    RecordCount mm_counts[] = {{METRIC_INST, 0, 1000},
                               {METRIC_THREAD_INST, 0, 24000},
                               {METRIC_GLOBAL_LD_REQ, 0, 10},
                               {METRIC_GLOBAL_LD_SECT, 0, 320},
                               {METRIC_GLOBAL_RED_REQ, 0, 5}};
    RecordPcCount init_pcs[] = {{0, METRIC_INST, 16}};
    RecordPcCount mm_pcs[] = {{0, METRIC_INST, 400}, {0, METRIC_GLOBAL_LD_REQ, 10}, {0, METRIC_GLOBAL_LD_SECT, 320},
                              {1, METRIC_INST, 500}, {2, METRIC_INST, 100},         {2, METRIC_GLOBAL_RED_REQ, 5}};
    for (u32 i = 0; i < 3 && status == STATUS_OK; i++) {
        bool is_mm = i > 0;
        status = sample_launch(sink, i + 1, is_mm ? 2 : 1);
        if (status == STATUS_OK) status = sample_counts(sink, i + 1, is_mm ? mm_counts : init_counts, is_mm ? 5 : 2);
        if (status == STATUS_OK)
            status = sample_pc_counts(sink, is_mm ? 2 : 1, is_mm ? mm_pcs : init_pcs, is_mm ? 6 : 1);
        if (status == STATUS_OK) status = sample_launch_end(sink, i + 1);
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static const char *demangle(void *context, const char *mangled) {
    (void)context;
    return strstr(mangled, "init") ? "init(float*)" : "mm(float const*, float const*, float*, int)";
}

static Status write_stream(void *context, const char *data, size_t size) {
    return fwrite(data, 1, size, context) == size ? STATUS_OK : STATUS_IO;
}

static char *render_status(const char *format, ReportOptions options, Status expected) {
    char *text = NULL;
    size_t size;
    Profile *profile;
    Diag diag = {0};
    FILE *stream = open_memstream(&text, &size);
    Output out = {.write = write_stream, .context = stream};
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(report_write(profile, exporter_find(format), &options, &out, &diag), expected);
    assert_int_equal(diag.errors, expected != STATUS_OK);
    profile_close(profile);
    diag_free(&diag);
    fclose(stream);
    return text;
}

static char *render(const char *format, ReportOptions options) {
    options.demangle = options.demangle ? options.demangle : demangle;
    return render_status(format, options, STATUS_OK);
}

static json_t *parse(char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s at %d:%d", error.text, error.line, error.column);
    free(text);
    return root;
}

static f64 metric_of(json_t *row, const char *name) {
    return json_number_value(json_object_get(json_object_get(row, "metrics"), name));
}

static void json_has_the_promised_shape(void **state) {
    (void)state;
    write_two_kernels();
    json_t *root = parse(render("json", (ReportOptions){0}));
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "warplens-report/1");
    json_t *kernels = json_object_get(root, "kernels");
    assert_int_equal(json_array_size(kernels), 2);
    json_t *mm = json_array_get(kernels, 0);  // most thread instructions first
    assert_string_equal(json_string_value(json_object_get(mm, "name")), "mm");
    assert_string_equal(json_string_value(json_object_get(mm, "mangled")), "_Z2mmPKfS0_Pfi");
    assert_string_equal(json_string_value(json_object_get(mm, "signature")),
                        "mm(float const*, float const*, float*, int)");
    assert_string_equal(json_string_value(json_object_get(mm, "provenance")), "simulated");

    json_t *launch = json_array_get(json_object_get(mm, "launches"), 1);
    assert_int_equal(json_integer_value(json_object_get(launch, "index")), 2);
    json_t *grid = json_object_get(launch, "grid");
    assert_int_equal(json_array_size(grid), 3);
    assert_int_equal(json_integer_value(json_array_get(grid, 1)), 2);
    assert_true(metric_of(launch, "smsp__thread_inst_executed.sum") == 24000);
    assert_true(metric_of(launch, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio") == 32);

    json_t *lines = json_object_get(mm, "lines");
    assert_int_equal(json_array_size(lines), 2);
    json_t *line = json_array_get(lines, 1);
    assert_string_equal(json_string_value(json_object_get(line, "file")), "src/app.cu");
    assert_int_equal(json_integer_value(json_object_get(line, "line")), 20);
    assert_true(metric_of(line, "smsp__inst_executed.sum") == 1200);
    assert_true(metric_of(line, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum") == 10);

    json_t *ptx_line = json_array_get(json_object_get(json_array_get(kernels, 1), "lines"), 0);
    assert_true(json_is_null(json_object_get(ptx_line, "file")));
    assert_int_equal(json_integer_value(json_object_get(ptx_line, "line")), 2);
    json_decref(root);
}

static const char *same_name(void *context, const char *mangled) {
    (void)context;
    return mangled;
}

static void hostile_texts_stay_valid(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    assert_int_equal(sample_head(sink), STATUS_OK);
    assert_int_equal(sample_function(sink, 1, "k\x1b[31m\"\\\n\xff\xc0\xaf,\r\x7f", 1), STATUS_OK);
    assert_int_equal(sample_file(sink, 3, "dir\xe9/\x01\"a,b\".cu\n"), STATUS_OK);
    RecordInsn insn = {.file = 3, .line = 1};
    assert_int_equal(sample_insns(sink, 1, &insn, 1), STATUS_OK);
    RecordPcCount cell = {0, METRIC_INST, 1e300};
    assert_int_equal(sample_pc_counts(sink, 1, &cell, 1), STATUS_OK);
    assert_int_equal(sample_launch(sink, 1, 1), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);

    ReportOptions options = {.demangle = same_name};
    json_t *root = parse(render("json", options));
    json_t *kernel = json_array_get(json_object_get(root, "kernels"), 0);
    assert_string_equal(json_string_value(json_object_get(kernel, "mangled")),
                        "k\x1b[31m\"\\\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd,\r\x7f");
    json_decref(root);
    char *text = render("text", options);
    for (char *at = text; *at; at++) assert_true((u8)*at >= 0x20 || *at == '\n');
    free(text);
    text = render("csv", (ReportOptions){.demangle = same_name, .section = REPORT_LINES});
    assert_non_null(strstr(text, "\"dir\xef\xbf\xbd/\x01\"\"a,b\"\".cu\n\",1,1e+300,"));
    free(text);
}

// Splits one RFC 4180 table; returns the rows, and the fields of the first in `columns`. Fails when rows differ.
static u32 csv_rows(const char *text, u32 *columns) {
    u32 rows = 0, fields = 0;
    while (*text) {
        if (*text == '"') {
            for (text++; *text != '"' || text[1] == '"'; text += 1 + (*text == '"')) assert_true(*text);
            text++;
        } else {
            text += strcspn(text, ",\r");
        }
        fields++;
        if (*text++ == ',') continue;
        assert_int_equal(*text++, '\n');
        if (rows++ == 0) *columns = fields;
        assert_int_equal(fields, *columns);
        fields = 0;
    }
    return rows;
}

static void csv_is_one_table(void **state) {
    (void)state;
    write_two_kernels();
    static const struct {
        ReportSection section;
        u32 rows;
    } cases[] = {
        {REPORT_DEFAULT, 3}, {REPORT_KERNELS, 3}, {REPORT_LINES, 4}, {REPORT_LAUNCHES, 4}, {REPORT_SUMMARY, 13}};
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        u32 columns = 0;
        char *text = render("csv", (ReportOptions){.section = cases[i].section});
        assert_int_equal(csv_rows(text, &columns), cases[i].rows);
        assert_true(columns >= 2);
        free(text);
    }
}

static void text_reads_well(void **state) {
    (void)state;
    write_two_kernels();
    char *text = render("text", (ReportOptions){.section = REPORT_KERNELS});
    assert_string_equal(text, "Kernels\n"
                              "  kernel  calls  grid x block  warp inst  thread inst  lanes %  ld sect/req  atomics\n"
                              "  mm          2      4x2 x 64       2000       48.0 k     75.0         32.0       10\n"
                              "  init        1      4x2 x 64         16          512    100.0            -        -\n");
    free(text);
}

static void text_has_all_parts(void **state) {
    (void)state;
    write_two_kernels();
    char *text = render("text", (ReportOptions){.path = "run.wlp"});
    static const char *const parts[] = {
        "profile     run.wlp\n",
        "program     ./app --size 64\n",
        "device      Test GPU\n",
        "provenance  simulated\n",
        "launches    3 (2 kernels)\n",
        "state       complete\n",
        "    10     40.0",
        "Lines of mm in src/app.cu\n",
        "    20     60.0",
        "compile with nvcc -lineinfo",
        "Lines of init in PTX\n",
        ".target sm_75\n",
    };
    for (u32 i = 0; i < WL_COUNT(parts); i++) {
        if (!strstr(text, parts[i])) fail_msg("'%s' is missing in:\n%s", parts[i], text);
    }
    assert_null(strstr(text, "conflicts"));  // zero everywhere
    assert_null(strchr(text, '\033'));
    free(text);
    text = render("text", (ReportOptions){.color = true});
    assert_non_null(strstr(text, "\033[1m"));
    free(text);
}

static void text_fits_the_terminal(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    SampleSpec spec = {.functions = 2, .lines = 30, .launches = 1, .metrics = 100};
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    for (u32 width = 60; width <= 200; width += 10) {
        char *text = render("text", (ReportOptions){.width = width, .demangle = same_name, .section = REPORT_KERNELS});
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            if (!strstr(line, "widen the terminal")) assert_true(utf8_width(line) <= width);
        }
        free(text);
    }
}

static void kernels_are_filtered_and_sorted(void **state) {
    (void)state;
    write_two_kernels();
    static const struct {
        const char *regex, *sort;
        u32 kernels;
        const char *first;
    } cases[] = {
        {"^in", NULL, 1, "init"},
        {"Pfi$", NULL, 1, "mm"},
        {"float", NULL, 2, "mm"},
        {"nothing", NULL, 0, ""},
        {NULL, "lanes", 2, "init"},
        {NULL, "warp", 2, "mm"},
        {NULL, "-smsp__inst_executed.sum", 2, "init"},
        {NULL, "smsp__inst_executed.sum", 2, "mm"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        json_t *root = parse(render("json", (ReportOptions){.kernel_regex = cases[i].regex, .sort = cases[i].sort}));
        json_t *kernels = json_object_get(root, "kernels");
        assert_int_equal(json_array_size(kernels), cases[i].kernels);
        json_t *name = json_object_get(json_array_get(kernels, 0), "name");
        if (cases[i].kernels) assert_string_equal(json_string_value(name), cases[i].first);
        json_decref(root);
    }
    char *text = render("text", (ReportOptions){.kernel_regex = "nothing"});
    assert_non_null(strstr(text, "no kernel matches the filter; there are init, mm\n"));
    free(text);
    free(render_status("json", (ReportOptions){.kernel_regex = "("}, STATUS_INVALID));
    free(render_status("json", (ReportOptions){.sort = "beauty"}, STATUS_INVALID));
    free(render_status("csv", (ReportOptions){.section = REPORT_SECTION_COUNT}, STATUS_INVALID));
}

static Status refuse(void *context, const char *data, size_t size) {
    (void)data;
    (void)size;
    return ++*(u32 *)context > 3 ? STATUS_IO : STATUS_OK;
}

static void failing_output_ends_the_report(void **state) {
    (void)state;
    write_two_kernels();
    for (u32 i = 0; i < exporter_count; i++) {
        Profile *profile;
        u32 writes = 0;
        Diag diag = {0};
        Output out = {.write = refuse, .context = &writes};
        assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
        assert_int_equal(report_write(profile, &exporter_table[i], NULL, &out, &diag), STATUS_IO);
        assert_int_equal(writes, 4);
        assert_int_equal(diag.errors, 1);
        diag_free(&diag);
        profile_close(profile);
    }
}

static struct { u64 calls, fail_at; } memory;

static bool fail_once(void *context, size_t size) {
    (void)context;
    (void)size;
    return ++memory.calls != memory.fail_at;
}

static Status swallow(void *context, const char *data, size_t size) {
    (void)context;
    (void)data;
    (void)size;
    return STATUS_OK;
}

static void lack_of_memory_is_told(void **state) {
    (void)state;
    write_two_kernels();
    for (u32 i = 0; i < exporter_count; i++) {
        Status status = STATUS_NO_MEMORY;
        for (u64 at = 1; status != STATUS_OK || memory.calls >= at; at++) {
            Profile *profile;
            Output out = {.write = swallow};
            memory.calls = 0;
            memory.fail_at = at;
            mem_set_hook(fail_once, NULL);
            status = profile_open(path, &profile, NULL);
            if (status == STATUS_OK) {
                status = report_write(profile, &exporter_table[i], NULL, &out, NULL);
                profile_close(profile);
            }
            mem_set_hook(NULL, NULL);
            assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
            assert_true(at < 10000);
        }
    }
}

static void an_empty_profile_has_a_report(void **state) {
    (void)state;
    assert_int_equal(store_close(create_profile()), STATUS_OK);
    for (u32 i = 0; i < exporter_count; i++) free(render(exporter_table[i].name, (ReportOptions){0}));
    char *text = render("text", (ReportOptions){0});
    assert_non_null(strstr(text, "no launch was profiled"));
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_LINES});
    assert_string_equal(text, "Lines\n  nothing was counted by line\n");
    free(text);
}

static void what_was_lost_is_told(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    RecordDropped few = {.count = 3}, many = {.count = 500000};
    assert_int_equal(sample_head(sink), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_DROPPED, &few, "call stacks", 12), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_DROPPED, &many, "PC samples", 11), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    char *text = render("text", (ReportOptions){0});
    assert_non_null(strstr(text, "; 500003 records were lost\n"
                                 "  lost        500000 PC samples\n"
                                 "  lost        3 call stacks\n"));
    free(text);
    json_t *root = parse(render("json", (ReportOptions){0})), *losses = json_object_get(root, "losses");
    assert_int_equal(json_array_size(losses), 2);
    json_t *most = json_array_get(losses, 0);
    assert_string_equal(json_string_value(json_object_get(most, "what")), "PC samples");
    assert_int_equal(json_integer_value(json_object_get(most, "count")), 500000);
    json_decref(root);
}

static void tables_are_sound(void **state) {
    (void)state;
    for (u32 i = 0; i < column_count; i++) {
        Formula formula;
        assert_int_equal(formula_compile(column_table[i].formula, &formula, NULL), STATUS_OK);
        assert_true(column_table[i].tables[0]);
    }
    assert_null(exporter_find("papyrus"));
    assert_string_equal(exporter_find("csv")->extension, "csv");
    assert_int_equal(report_section("lines"), REPORT_LINES);
    assert_int_equal(report_section("poems"), REPORT_SECTION_COUNT);
}

// One kernel with a name that no line can hold, and lines in several files.
static const char *demangle_long(void *context, const char *mangled) {
    static char name[512];
    (void)mangled;
    if (!*name) {
        strcpy(name, "void outer::kernel<");
        while (strlen(name) < 300) strcat(name, "space::type, ");
        strcat(name, "space::the_last>(int)");
    }
    return context ? context : name;
}

static void names_and_places_stay_short(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    RecordInsn insns[] = {{.file = 11, .line = 1}, {.file = 12, .line = 2}, {.file = 13, .line = 3}, {.file = 11}};
    RecordPcCount pcs[] = {{0, METRIC_INST, 1}, {1, METRIC_INST, 2}, {2, METRIC_INST, 3}, {3, METRIC_INST, 1}};
    RecordCount counts[] = {{METRIC_INST, 0, 7}};
    Status status = sample_head(sink);
    if (status == STATUS_OK) status = sample_file(sink, 11, "/home/me/src/main.cu");
    if (status == STATUS_OK) status = sample_file(sink, 12, "/home/me/a/part.cuh");
    if (status == STATUS_OK) status = sample_file(sink, 13, "/proc/self/cwd/b/part.cuh");
    if (status == STATUS_OK) status = sample_function(sink, 1, "_Z1kv", 4);
    if (status == STATUS_OK) status = sample_insns(sink, 1, insns, 4);
    if (status == STATUS_OK) status = sample_launch(sink, 1, 1);
    if (status == STATUS_OK) status = sample_counts(sink, 1, counts, 1);
    if (status == STATUS_OK) status = sample_pc_counts(sink, 1, pcs, 4);
    if (status == STATUS_OK) status = sample_launch_end(sink, 1);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    char *text = render("text", (ReportOptions){.demangle = demangle_long});
    static const char *const parts[] = {
        "\n  outer::kernel<space::type, space::type, space::type, space::type, space::type..> ",
        "\n  main.cu:1 ",              // the only one of its name
        "\n  /home/me/a/part.cuh:2 ",  // there is another part.cuh
        " in b/part.cuh\n",            // where most is executed: its lines need no name
        "\n  3  ",
        "\n  main.cu:? ",  // an instruction without a line
        "\n  no source to show: b/part.cuh is not found; call it from the folder of the sources\n",
    };
    for (u32 i = 0; i < WL_COUNT(parts); i++)
        if (!strstr(text, parts[i])) fail_msg("'%s' is missing in:\n%s", parts[i], text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(json_has_the_promised_shape),
        IN_FOLDER(hostile_texts_stay_valid),
        IN_FOLDER(csv_is_one_table),
        IN_FOLDER(text_reads_well),
        IN_FOLDER(text_has_all_parts),
        IN_FOLDER(names_and_places_stay_short),
        IN_FOLDER(text_fits_the_terminal),
        IN_FOLDER(kernels_are_filtered_and_sorted),
        IN_FOLDER(failing_output_ends_the_report),
        IN_FOLDER(lack_of_memory_is_told),
        IN_FOLDER(an_empty_profile_has_a_report),
        IN_FOLDER(what_was_lost_is_told),
        cmocka_unit_test(tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
