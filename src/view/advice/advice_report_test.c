// SPDX-License-Identifier: Apache-2.0
// A made-up list of advice in every format. The texts are golden (tests/advice/*.expect; --update rewrites them); JSON
// and SARIF are checked against their schemas where python3-jsonschema is installed.
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/golden_testing.h"
#include "store/sample_profile.h"
#include "store/store_testing.h"
#include "view/advice/advice_report.h"
#include "view/utf8.h"

// --- a list -------------------------------------------------------------------------------------------------------
static const AdviceRule unrolling = {
    .name = "loop-unrolling",
    .title = "Unroll the loop",
    .why = "A loop's iterations wait for one another although their loads do not depend on each other.",
    .how = "Put #pragma unroll with a factor before the loop, so that several loads are under way at once.",
    .before = "for (int i = 0; i < n; i++)\n    sum += a[i];",
    .after = "#pragma unroll 8\nfor (int i = 0; i < n; i++)\n    sum += a[i];",
    .kind = ADVICE_HIDE,
    .record = {0.9, 0.3, 3, 4},
    .simulated = {0.9, 0.3, 2, 2}};
static const AdviceRule blocks = {.name = "block-increase",
                                  .title = "Launch more blocks",
                                  .why = "Some SMs have nothing to do.",
                                  .how = "Split the work into more blocks.",
                                  .before = "",
                                  .after = "",
                                  .kind = ADVICE_PARALLEL};

enum { FORCE, SHADE, HELPER, FUNCTIONS };
static struct {
    char file[160];
    ProfileLaunch launch, elsewhere;  // elsewhere: without a stack
    const ProfileLaunch *launched[2], *others[2];
    ProfilePlace load, use, shade_place, ptx;
    KernelView views[FUNCTIONS];
    AdvicePlace places[3];
    AdviceFact facts[2];
    Advice rows[3];
    AdviceKernel kernels[2];
    u32 ranked[3];
    const char *notes[1];
    AdviceList list;
} made;

static void make_views(Profile *profile) {
    const ProfileFunction *functions;
    u32 count;
    assert_int_equal(profile_functions(profile, &functions, &count, NULL), STATUS_OK);
    assert_true(count >= FUNCTIONS);
    made.launch = (ProfileLaunch){.grid = {64, 1, 1}, .block = {256, 1, 1}};
    for (u32 i = 0; i < FUNCTIONS; i++)
        made.views[i] = (KernelView){
            .function = &functions[i], .provenance = "simulated", .total = 9310, .taken = 9310, .effective = 9310};
    made.launch.stack = 1;
    made.launched[0] = made.launched[1] = &made.launch;
    made.views[FORCE].launches = (ViewLaunches){.rows = made.launched,
                                                .count = 2,
                                                .typical = &made.launch,
                                                .shapes = 1,
                                                .alike = 1,
                                                .total_ns = 1.2e6,
                                                .share = 0.97};
    made.elsewhere = made.launch;
    made.elsewhere.stack = 0;
    made.others[0] = made.others[1] = &made.elsewhere;
    made.views[SHADE].launches = (ViewLaunches){.rows = made.others,
                                                .count = 2,
                                                .typical = &made.elsewhere,
                                                .shapes = 2,
                                                .alike = 0.6,
                                                .total_ns = 4e4,
                                                .share = 0.03};
}

static void make_places(void) {
    snprintf(made.file, sizeof made.file, "%s/src/nbody.cu", folder);
    made.load = (ProfilePlace){made.file, 2};
    made.use = (ProfilePlace){made.file, 3};
    made.shade_place = (ProfilePlace){"/elsewhere/shade me.cu", 7};
    made.ptx = (ProfilePlace){NULL, 2};
    made.places[0] = (AdvicePlace){.kind = PLACE_LINE,
                                   .view = &made.views[HELPER],
                                   .pc = 9,
                                   .pc_end = 10,
                                   .line = &made.use,
                                   .cause_pc = 4,
                                   .cause_line = &made.load,
                                   .share = 0.41,
                                   .stall = STALL_LONG_SCOREBOARD};
    made.places[1] = (AdvicePlace){.kind = PLACE_LINE,
                                   .view = &made.views[FORCE],
                                   .pc = 12,
                                   .pc_end = 13,
                                   .line = &made.ptx,
                                   .cause_pc = WL_NONE,
                                   .share = 0.034,
                                   .stall = STALL_SELECTED};
    made.places[2] = (AdvicePlace){
        .kind = PLACE_LINE, .view = &made.views[SHADE], .line = &made.shade_place, .share = 0.5, .stall = STALL_WAIT};
    made.facts[0] = (AdviceFact){"loop_trip_count", "the loop at nbody.cu:2 makes 1024 turns each time", 1024, "turns"};
    made.facts[1] = (AdviceFact){"smsp__warps_active.avg", "a scheduler has 4.0 warps on average", 4, "warps"};
}

static void make_rows(void) {
    made.rows[0] = (Advice){.rule = &unrolling,
                            .kernel = &made.views[FORCE],
                            .what = "Unroll the loop at nbody.cu:2 of _Z7kernel1Pfi, not x_Z1f",
                            .caution = "More registers are used: 64 of 255 now.",
                            .scope = {.kind = PLACE_LOOP,
                                      .view = &made.views[HELPER],
                                      .pc = 3,
                                      .pc_end = 11,
                                      .line = &made.load,
                                      .cause_pc = WL_NONE},
                            .places = made.places,
                            .place_count = 2,
                            .facts = made.facts,
                            .fact_count = 2,
                            .estimate = {1.31, 1.12, 1.52, 1.3, 1.116, 1.497, 277000, CONFIDENCE_HIGH,
                                         "equation 5 over 3,817 of 9,310 samples", 1.34, 0.05, 4},
                            .group = 1};
    made.rows[1] = made.rows[0];
    made.rows[1].rule = &blocks;
    made.rows[1].what = "Launch more blocks: 64 blocks leave 68 of 132 SMs without work";
    made.rows[1].scope = (AdvicePlace){.kind = PLACE_KERNEL, .view = &made.views[FORCE], .cause_pc = WL_NONE};
    made.rows[1].place_count = 0;
    made.rows[1].caution = "";
    made.rows[1].estimate =
        (AdviceEstimate){1.1, 1.0, 12.25, 1.09, 1.0, 9, 1e5, CONFIDENCE_LOW, "equation 9", 1.1, 1, 64};
    made.rows[2] = made.rows[0];
    made.rows[2].kernel = &made.views[SHADE];
    made.rows[2].scope =
        (AdvicePlace){.kind = PLACE_LINE, .view = &made.views[SHADE], .line = &made.shade_place, .cause_pc = WL_NONE};
    made.rows[2].what = "Unroll the loop";
    made.rows[2].places = &made.places[2];
    made.rows[2].place_count = 1;
    made.rows[2].estimate =
        (AdviceEstimate){1.5, 1.2, 2, 1.01, 1.005, 1.015, 1.3e4, CONFIDENCE_MEDIUM, "equation 5", 1.5, 0.2, 4};
}

static void make_list(Profile *profile) {
    make_views(profile);
    make_places();
    make_rows();
    memcpy(made.ranked, (u32[]){0, 1, 2}, sizeof made.ranked);
    made.kernels[0] =
        (AdviceKernel){&made.views[FORCE], 0, 2, "waits for global memory (61 % of its warps' time)", 0.8};
    made.kernels[1] = (AdviceKernel){&made.views[SHADE], 2, 1, "issues instructions", 0.2};
    made.notes[0] = "The latencies of this GPU are not known.";
    made.list = (AdviceList){.rows = made.rows,
                             .count = 3,
                             .kernels = made.kernels,
                             .kernel_count = 2,
                             .ranked = made.ranked,
                             .provenance = "simulated",
                             .notes = made.notes,
                             .note_count = 1,
                             .kernel_ns = 1.24e6,
                             .copies = 3,
                             .gpu_ns = 1.25e6};
}

// Older than the run, whenever that is.
static void write_source(void) {
    static const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char name[160];
    snprintf(name, sizeof name, "mkdir -p '%s/src'", folder);
    assert_int_equal(system(name), 0);
    snprintf(name, sizeof name, "%s/src/nbody.cu", folder);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs("float force(...) {\n    for (int i = 0; i < n; i++)\n        sum += a[i];  // \"quoted\" & <marked>\n}\n",
          file);
    fclose(file);
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

// As a collector writes it: the runtime's and the C library's frames around those of the program.
static void write_stack(Sink *sink) {
    static const struct {
        u32 object, line;
        const char *symbol, *file;
    } frames[] = {{2, 0, "", ""},
                  {1, 0, "cudaLaunchKernel", ""},
                  {1, 0, "_Z28__device_stub__Z5forcePfi", ""},
                  {1, 40, "_Z4stepi", "/elsewhere/app.cu"},
                  {1, 0, "main", ""},
                  {3, 0, "__libc_start_main", ""}};
    static const char *const objects[] = {"/home/me/app", "/usr/lib/libcuda.so.580.1", "/lib/libc.so.6"};
    u32 ids[WL_COUNT(frames)];
    char tail[128];
    for (u32 i = 0; i < WL_COUNT(objects); i++)
        assert_int_equal(sink_write(sink, RECORD_OBJECT, &(RecordObject){i + 1}, objects[i], strlen(objects[i]) + 1),
                         STATUS_OK);
    for (u32 i = 0; i < WL_COUNT(frames); i++) {
        RecordFrame frame = {.frame = ids[i] = i + 1, .object = frames[i].object, .offset = i, .line = frames[i].line};
        size_t size = SAMPLE_TAIL(tail, frames[i].symbol, frames[i].file);
        assert_int_equal(sink_write(sink, RECORD_FRAME, &frame, tail, size), STATUS_OK);
    }
    RecordStack stack = {.stack = 1, .count = WL_COUNT(ids)};
    assert_int_equal(sink_write(sink, RECORD_STACK, &stack, ids, sizeof ids), STATUS_OK);
}

static Profile *open_made(void) {
    StoreWriter *writer = create_profile();
    SampleSpec spec = {.functions = FUNCTIONS, .lines = 10, .launches = 1, .metrics = 5, .timing = true};
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    write_stack(store_sink(writer));
    assert_int_equal(store_close(writer), STATUS_OK);
    Profile *profile;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    write_source();
    make_list(profile);
    return profile;
}

static const char *demangle(void *context, const char *mangled) {
    (void)context;
    return strstr(mangled, "kernel1")   ? "void force<4>(float4*, int)"
           : strstr(mangled, "kernel2") ? "shade(int)"
           : strstr(mangled, "step")    ? "step(int)"
           : !strcmp(mangled, "main")   ? "main"
                                        : "void helper_of_many<float, std::array<int, 4>, cub::Max>(float*, int)";
}

static AdviceReportOptions options_of(u32 width, bool verbose) {
    return (AdviceReportOptions){
        .width = width, .verbose = verbose, .demangle = demangle, .path = "nbody.1.wlp", .root = folder};
}

static Status write_stream(void *context, const char *data, size_t size) {
    return fwrite(data, 1, size, context) == size ? STATUS_OK : STATUS_IO;
}

static char *render(Profile *profile, const char *format, AdviceReportOptions options) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    Output out = {.write = write_stream, .context = stream};
    const AdviceExporter *exporter = advice_exporter_find(format);
    Status status = exporter ? advice_report_write(profile, &made.list, exporter, &options, &out, NULL)
                             : advice_report_brief(profile, &made.list, &options, "warplens: ", &out, NULL);
    assert_int_equal(status, STATUS_OK);
    fclose(stream);
    return text;
}

// --- text ---------------------------------------------------------------------------------------------------------
TEST(text_is_as_expected) {
    static const struct {
        const char *name;
        u32 width;
        bool verbose;
    } cases[] = {{"tests/advice/list_80.txt", 80, false},
                 {"tests/advice/list_120.txt", 120, false},
                 {"tests/advice/verbose_80.txt", 80, true},
                 {"tests/advice/verbose_120.txt", 120, true}};
    Profile *profile = open_made();
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char *text = render(profile, "text", options_of(cases[i].width, cases[i].verbose));
        golden_compare(cases[i].name, ".txt", text, strlen(text));
        free(text);
    }
    char *text = render(profile, "brief", options_of(0, false));
    golden_compare("tests/advice/brief.txt", ".txt", text, strlen(text));
    free(text);
    profile_close(profile);
}

TEST(text_fits_the_terminal) {
    Profile *profile = open_made();
    for (u32 width = 80; width <= 160; width += 7) {
        char *text = render(profile, "text", options_of(width, true));
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (utf8_width(line) > width) fail_msg("%u columns: %s", width, line);
        free(text);
    }
    profile_close(profile);
}

TEST(an_empty_list_says_why) {
    Profile *profile = open_made();
    made.list = (AdviceList){.provenance = "", .notes = made.notes, .note_count = 1};
    char *text = render(profile, "text", options_of(80, false));
    assert_non_null(strstr(text, "No advice"));
    assert_non_null(strstr(text, made.notes[0]));
    free(text);
    text = render(profile, "brief", options_of(80, false));
    assert_string_equal(text, "");
    free(text);
    profile_close(profile);
}

TEST(kernels_that_could_not_be_analysed_are_no_good_kernels) {
    Profile *profile = open_made();
    made.list.count = 0;
    made.kernels[0].limit = made.kernels[1].limit = "";
    char *text = render(profile, "text", options_of(200, false));
    assert_non_null(strstr(text, "no kernel could be analysed"));
    assert_non_null(strstr(text, "not known"));
    free(text);
    profile_close(profile);
}

TEST(kernels_of_libraries_are_not_said_to_be_good) {
    Profile *profile = open_made();
    made.list.count = 0;
    made.kernels[0].of_library = made.kernels[1].of_library = true;
    char *text = render(profile, "text", options_of(200, false));
    assert_non_null(strstr(text, "the kernels are those of libraries"));
    free(text);
    made.kernels[1].of_library = false;
    text = render(profile, "text", options_of(200, false));
    assert_non_null(strstr(text, "No rule found a change"));
    free(text);
    profile_close(profile);
}

TEST(few_samples_are_told) {
    Profile *profile = open_made();
    made.views[SHADE].basis = VIEW_SAMPLES;
    made.views[SHADE].total = 37 << 8;  // at a longer period than others
    made.views[SHADE].taken = made.views[SHADE].effective = 37;
    char *text = render(profile, "text", options_of(200, false));
    assert_non_null(strstr(text, "few samples of shade (37)"));
    assert_null(strstr(text, "sampling-period"));
    free(text);
    made.views[SHADE].provenance = "sampled";
    made.views[SHADE].launches.total_ns = 2e6;  // 500 periods of 2^12 cycles, with 1,500 MHz
    text = render(profile, "text", options_of(200, false));
    assert_non_null(strstr(text, "or sample more often (`run --sampling-period 2^12`)"));
    free(text);
    profile_close(profile);
}

TEST(without_advice_the_limit_is_told) {
    Profile *profile = open_made();
    made.list.count = 0;
    char *text = render(profile, "brief", options_of(80, false));
    assert_string_equal(text,
                        "warplens: nothing to advise; force<4> (97 % of the kernels' time): waits for global memory "
                        "(61 % of its warps' time) (simulated)\n");
    free(text);
    profile_close(profile);
}

TEST(top_is_the_best_ones) {
    Profile *profile = open_made();
    AdviceReportOptions options = options_of(100, true);
    options.top = 1;
    char *text = render(profile, "text", options);
    assert_non_null(strstr(text, "and 2 more: --top 3"));
    assert_null(strstr(text, "Launch more blocks"));
    free(text);
    profile_close(profile);
}

// --- JSON and SARIF -----------------------------------------------------------------------------------------------
static json_t *parse(char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s at %d:%d", error.text, error.line, error.column);
    free(text);
    return root;
}

// The value at "runs.0.results.1.level"; fails when there is none.
static json_t *at(json_t *value, const char *keys) {
    char copy[256], *save = NULL;
    snprintf(copy, sizeof copy, "%s", keys);
    for (char *key = strtok_r(copy, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10)) : json_object_get(value, key);
        if (!value) fail_msg("no %s", keys);
    }
    return value;
}
static const char *text_at(json_t *value, const char *keys) {
    const char *text = json_string_value(at(value, keys));
    return text ? text : "(no text)";
}

// Of both schemas; nothing where no validator is installed.
static void validate(Profile *profile, const char *format, const char *schema) {
    char name[160], command[512];
    snprintf(name, sizeof name, "%s/%s", folder, format);
    FILE *file = fopen(name, "w");
    char *text = render(profile, format, options_of(0, false));
    fputs(text, file);
    fclose(file);
    free(text);
    if (system("python3 -c 'import jsonschema' 2>/dev/null") != 0) return;
    snprintf(command, sizeof command, "python3 tests/e2e/check_schema.py '%s' '%s'", schema, name);
    assert_int_equal(system(command), 0);
}

TEST(json_has_the_promised_shape) {
    Profile *profile = open_made();
    json_t *root = parse(render(profile, "json", options_of(0, false)));
    assert_string_equal(text_at(root, "schema"), "warplens-advice/1");
    assert_string_equal(text_at(root, "provenance"), "simulated");
    assert_int_equal(json_array_size(at(root, "advice")), 3);
    assert_string_equal(text_at(root, "advice.0.rule"), "loop-unrolling");
    assert_string_equal(text_at(root, "advice.0.kernel"), "force<4>");
    assert_true(json_number_value(at(root, "advice.0.estimate.high")) == 1.52);
    assert_true(json_number_value(at(root, "advice.0.estimate.model.limit")) == 4);
    assert_string_equal(text_at(root, "advice.0.scope.file"), "src/nbody.cu");
    assert_string_equal(text_at(root, "advice.0.places.0.stall"), "long_scoreboard");
    assert_int_equal(json_integer_value(at(root, "advice.0.places.0.cause_line")), 2);
    assert_true(json_is_null(at(root, "advice.0.places.1.stall")));
    assert_true(json_number_value(at(root, "advice.0.facts.0.value")) == 1024);
    assert_int_equal(json_integer_value(at(root, "kernels.1.advice.0")), 3);
    assert_string_equal(text_at(root, "kernels.0.limit"), made.kernels[0].limit);
    assert_int_equal(json_integer_value(at(root, "kernels.0.launched_by.launches")), 2);
    assert_int_equal(json_array_size(at(root, "kernels.0.launched_by.frames")), 2);
    assert_string_equal(text_at(root, "kernels.0.launched_by.frames.0.function"), "step");
    assert_string_equal(text_at(root, "kernels.0.launched_by.frames.1.object"), "app");
    assert_int_equal(json_array_size(at(root, "kernels.1.launched_by.frames")), 0);
    json_decref(root);
    validate(profile, "json", "docs/advice.schema.json");
    profile_close(profile);
}

TEST(sarif_has_what_code_hosts_show) {
    Profile *profile = open_made();
    json_t *root = parse(render(profile, "sarif", options_of(0, false)));
    json_t *run = at(root, "runs.0");
    assert_int_equal(json_array_size(at(run, "tool.driver.rules")), 2);
    assert_int_equal(json_integer_value(at(run, "results.2.ruleIndex")), 0);
    assert_string_equal(text_at(run, "results.0.level"), "warning");
    assert_string_equal(text_at(run, "results.1.level"), "note");
    assert_string_equal(text_at(run, "results.0.locations.0.physicalLocation.artifactLocation.uri"), "src/nbody.cu");
    assert_string_equal(text_at(run, "results.0.locations.0.physicalLocation.artifactLocation.uriBaseId"), "SRCROOT");
    assert_int_equal(json_integer_value(at(run, "results.0.locations.0.physicalLocation.region.startLine")), 2);
    assert_string_equal(text_at(run, "results.0.relatedLocations.0.physicalLocation.region.snippet.text"),
                        "sum += a[i];  // \"quoted\" & <marked>");
    assert_int_equal(json_array_size(at(run, "results.0.relatedLocations")), 2);  // the line and its cause, not the PTX
    assert_string_equal(text_at(run, "results.2.locations.0.physicalLocation.artifactLocation.uri"),
                        "file:///elsewhere/shade%20me.cu");
    // The hottest place: from the host through the advice's place to the cause and to the line that waits.
    const char *flow = "results.0.codeFlows.0.threadFlows.0.locations";
    size_t steps = json_array_size(at(run, flow));
    assert_true(steps >= 3);
    assert_non_null(
        strstr(text_at(json_array_get(at(run, flow), steps - 1), "location.message.text"), "warps wait here"));
    assert_string_equal(text_at(json_array_get(at(run, flow), steps - 2), "location.message.text"),
                        "what is waited for begins here");
    assert_string_equal(text_at(json_array_get(at(run, flow), 0), "location.logicalLocations.0.name"), "main");
    assert_int_equal(json_array_size(at(run, "artifacts")), 3);  // the third: where the host launches
    assert_string_equal(text_at(run, "invocations.0.toolExecutionNotifications.0.message.text"), made.notes[0]);
    const char *one = text_at(run, "results.0.partialFingerprints.warplensAdvice/v1");
    assert_string_not_equal(one, text_at(run, "results.1.partialFingerprints.warplensAdvice/v1"));
    json_decref(root);
    validate(profile, "sarif", "tests/advice/sarif-2.1.0-rtm.5.json.xz");
    profile_close(profile);
}

// --- trouble ------------------------------------------------------------------------------------------------------
static Status refuse(void *context, const char *data, size_t size) {
    (void)context;
    (void)data;
    (void)size;
    return STATUS_IO;
}

TEST(failing_output_is_told) {
    Profile *profile = open_made();
    AdviceReportOptions options = options_of(80, true);
    for (u32 i = 0; i < advice_exporter_count; i++) {
        Diag diag = {0};
        Output out = {.write = refuse};
        assert_int_equal(advice_report_write(profile, &made.list, &advice_exporter_table[i], &options, &out, &diag),
                         STATUS_IO);
        assert_int_equal(diag.errors, 1);
        diag_free(&diag);
    }
    profile_close(profile);
}

static Status swallow(void *context, const char *data, size_t size) {
    (void)context;
    (void)data;
    (void)size;
    return STATUS_OK;
}

TEST(lack_of_memory_is_told) {
    Profile *profile = open_made();
    AdviceReportOptions options = options_of(80, true);
    for (u32 i = 0; i < advice_exporter_count; i++) {
        Status status = STATUS_NO_MEMORY;
        for (u64 after = 0; status != STATUS_OK && after < 10000; after++) {
            u64 left = after;
            Output out = {.write = swallow};
            testing_memory_out_after(&left);
            status = advice_report_write(profile, &made.list, &advice_exporter_table[i], &options, &out, NULL);
            testing_memory_back();
            assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        }
        assert_int_equal(status, STATUS_OK);
    }
    profile_close(profile);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(text_is_as_expected),
        IN_FOLDER(text_fits_the_terminal),
        IN_FOLDER(an_empty_list_says_why),
        IN_FOLDER(kernels_that_could_not_be_analysed_are_no_good_kernels),
        IN_FOLDER(kernels_of_libraries_are_not_said_to_be_good),
        IN_FOLDER(few_samples_are_told),
        IN_FOLDER(without_advice_the_limit_is_told),
        IN_FOLDER(top_is_the_best_ones),
        IN_FOLDER(json_has_the_promised_shape),
        IN_FOLDER(sarif_has_what_code_hosts_show),
        IN_FOLDER(failing_output_is_told),
        IN_FOLDER(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
