// SPDX-License-Identifier: Apache-2.0
// warplens sim: kernels of a PTX file, launched as a launch file says, checked against what it expects.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pool.h"
#include "binary/demangle.h"
#include "cli/cli.h"
#include "cli/launch_spec.h"
#include "cuda/config.h"
#include "ptx/ptx.h"
#include "sim/sim.h"
#include "store/store.h"

#define SOURCE_ID 1

typedef struct SimArgs {
    const char *ptx, *spec, *output, *gpu, *threads, *check, *interval, *sample;
    bool overwrite, quiet, timing, flush_caches;
} SimArgs;

enum { OPT_LAUNCH = 256, OPT_GPU, OPT_THREADS, OPT_CHECK, OPT_TIMING, OPT_CACHES, OPT_INTERVAL, OPT_SAMPLE };

static const struct argp_option options[] = {
    {"launch", OPT_LAUNCH, "SPEC", 0,
     "launch file: kernel, grid, block, buffers, parameters, expected results (docs/launch-files.md)", 0},
    {"gpu", OPT_GPU, "MODEL", 0, "GPU model to simulate (default h200)", 0},
    {"threads", OPT_THREADS, "N", 0, "host threads for a launch with --timing (default 1); results do not depend on it",
     0},
    {"check", OPT_CHECK, "memory,race,init,sync,strict|all", 0, "look for errors in the kernels (docs/checker.md)", 0},
    {"timing", OPT_TIMING, NULL, 0, "also how long kernels take, cycle by cycle (docs/simulator-model.md)", 0},
    {"cache-control", OPT_CACHES, "none|all", 0, "all: timed kernels begin with empty caches (default none)", 0},
    {"interval", OPT_INTERVAL, "N", 0, "cycles between two points of counters over time; 0: totals only (default 1000)",
     0},
    {"sample", OPT_SAMPLE, "N", OPTION_ARG_OPTIONAL,
     "large launches, and launches alike, in part: about one wave of blocks, or launch, of N (default 20) cycle by "
     "cycle, the others only executed and their time estimated, with an interval",
     0},
    {"output", 'o', "FILE", 0, "also write a profile", 0},
    {"force", 'f', NULL, 0, "replace an existing profile", 0},
    {"quiet", 'q', NULL, 0, "print only what fails", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    SimArgs *a = state->input;
    switch (key) {
    case OPT_LAUNCH: a->spec = arg; break;
    case OPT_GPU: a->gpu = arg; break;
    case OPT_THREADS: a->threads = arg; break;
    case OPT_CHECK:
        a->check = arg;
        if (!sim_checks_of(arg))
            argp_error(state, "--check takes memory, race, init, sync, strict or all, separated by commas, not `%s`",
                       arg);
        break;
    case OPT_TIMING: a->timing = true; break;
    case OPT_CACHES:
        a->flush_caches = strcmp(arg, "all") == 0;
        if (!a->flush_caches && strcmp(arg, "none"))
            argp_error(state, "--cache-control takes none or all, not `%s`", arg);
        break;
    case OPT_INTERVAL: a->interval = arg; break;
    case OPT_SAMPLE: a->sample = arg ? arg : CONFIG_DEFAULT_SAMPLE; break;
    case 'o': a->output = arg; break;
    case 'f': a->overwrite = true; break;
    case 'q': a->quiet = true; break;
    case ARGP_KEY_ARG:
        if (a->ptx) argp_error(state, "one PTX file at a time");
        a->ptx = arg;
        break;
    case ARGP_KEY_END:
        if (!a->ptx || !a->spec) argp_error(state, "needs a PTX file and --launch SPEC");
        if (a->sample && !a->timing) argp_error(state, "--sample needs --timing");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

typedef struct Run {
    const SimArgs *args;
    LaunchSpec spec;
    Sim *sim;
    SimModule *module;
    StoreWriter *writer;
    DevicePtr *buffers;
    Diag diag;
    u32 failures;
    bool found;  // by the checker
    u64 interval, sample;
} Run;

static Status load(Run *r, const GpuModel *gpu) {
    FileData file;
    Module *module;
    TRY(file_read(r->args->ptx, &file, &r->diag));
    Str text = {(const char *)file.data, file.size};
    Status status = ptx_load(text, r->args->ptx, &module, &r->diag);
    if (status != STATUS_OK) return file_release(&file), status;
    if (!r->args->quiet && module->target_sm > gpu->sm_version)
        fprintf(stderr, "warplens: %s could not run this PTX: it is for sm_%u, the GPU is an sm_%u\n", gpu->name,
                (unsigned)module->target_sm, (unsigned)gpu->sm_version);
    status = sim_load_module(r->sim, 0, module, &r->module, &r->diag);
    if (status != STATUS_OK) module_free(module);
    if (status == STATUS_OK) status = sim_keep_text(r->module, text);
    file_release(&file);
    return status;
}

typedef struct Fill {  // a part of a buffer that one thread fills
    const SpecBuffer *buffer;
    u64 first, count;
    u8 *to;
} Fill;

typedef Vec(Fill) Fills;

// Bytes of a part: a large page of the host's. Less than two of them are not worth threads.
enum { FILL_BYTES = 2 << 20 };

static Status plan_fills(const Run *r, Fills *fills) {
    for (u32 i = 0; i < r->spec.buffers.len; i++) {
        const SpecBuffer *b = &r->spec.buffers.data[i];
        u32 size = spec_type_size(b->type);
        u64 each = FILL_BYTES / size;
        u8 *to = sim_host_view(r->sim, r->buffers[i], b->count * size, NULL);
        for (u64 at = 0; at < b->count && b->init != SPEC_ZERO; at += each)
            TRY(vec_push(fills, ((Fill){b, at, b->count - at < each ? b->count - at : each, to + at * size})));
    }
    return STATUS_OK;
}

static void fill_part(void *context, u32 part, u32 worker) {
    const Fill *fill = &((const Fill *)context)[part];
    (void)worker;
    spec_fill(fill->buffer, fill->first, fill->count, fill->to);
}

static Status fill_buffers(const Run *r, u32 threads) {
    Fills fills = {0};
    Pool *pool = NULL;
    Status status = plan_fills(r, &fills);
    if (status == STATUS_OK) status = pool_create(&pool, fills.len < threads ? fills.len ? fills.len : 1 : threads);
    if (status == STATUS_OK) pool_run(pool, fills.len, fill_part, fills.data);
    pool_destroy(pool);
    vec_free(&fills);
    return status;
}

static Status make_buffers(Run *r) {
    r->buffers = mem_zero(r->spec.buffers.len + 1, sizeof *r->buffers);
    if (!r->buffers) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < r->spec.buffers.len; i++) {
        const SpecBuffer *b = &r->spec.buffers.data[i];
        u32 size = spec_type_size(b->type);
        TRY(sim_alloc(r->sim, 0, MEMORY_DEVICE, b->count * size, 256, &r->buffers[i]));
        if (b->written) sim_check_written(r->sim, r->buffers[i], b->written * size);
        sim_set_label(r->sim, r->buffers[i], b->name);
    }
    return STATUS_OK;
}

// A kernel by its mangled name, or by the plain one when that names exactly one.
static Status find_kernel(Run *r, const SpecLaunch *l, SimKernel **kernel) {
    if (sim_find_kernel(r->sim, r->module, l->kernel, kernel) == STATUS_OK) return STATUS_OK;
    const Module *m = sim_module_ptx(r->module);
    u32 found = 0;
    for (u32 i = 0; i < m->func_count; i++) {
        if (!m->funcs[i].is_entry) continue;
        char *plain = demangle_short(module_text(m, m->funcs[i].name));
        if (plain && !strcmp(plain, l->kernel) &&
            sim_find_kernel(r->sim, r->module, module_text(m, m->funcs[i].name), kernel) == STATUS_OK)
            found++;
        mem_free(plain);
    }
    if (found == 1) return STATUS_OK;
    diag_text(&r->diag, DIAG_ERROR, r->args->spec, l->line, 0,
              found ? "`%s` names several kernels; give the mangled name" : "there is no kernel `%s` in the PTX",
              l->kernel);
    return STATUS_NOT_FOUND;
}

static Status fill_params(Run *r, const SpecLaunch *l, const SimKernelInfo *info, u8 *block) {
    if (l->param_count != info->param_count) {
        diag_text(&r->diag, DIAG_ERROR, r->args->spec, l->line, 0, "`%s` has %u parameter%s, the launch gives %u",
                  info->name, info->param_count, plural(info->param_count), l->param_count);
        return STATUS_INVALID;
    }
    for (u32 i = 0; i < l->param_count; i++) {
        const SpecParam *p = &r->spec.params.data[l->params + i];
        u64 value = p->buffer == WL_NONE ? p->bits : r->buffers[p->buffer];
        u32 given = p->buffer == WL_NONE ? spec_type_size(p->type) : 8;
        if (given != info->params[i].size) {
            diag_text(&r->diag, DIAG_ERROR, r->args->spec, l->line, 0,
                      "parameter %u of `%s` has %u bytes, the launch gives %u", i + 1, info->name, info->params[i].size,
                      given);
            return STATUS_INVALID;
        }
        memcpy(block + info->params[i].offset, &value, given);
    }
    return STATUS_OK;
}

static Status launch(Run *r, const SpecLaunch *l) {
    SimLaunch s = {.dynamic_shared_bytes = l->shared, .cooperative = l->cooperative, .record = true};
    SimKernelInfo info;
    TRY(find_kernel(r, l, &s.kernel));
    TRY(sim_kernel_prepare(r->sim, s.kernel, &info, &r->diag));
    u8 *block = mem_zero(1, info.param_bytes + 16);
    if (!block) return STATUS_NO_MEMORY;
    Status status = fill_params(r, l, &info, block);
    memcpy(s.grid, l->grid, sizeof s.grid);
    memcpy(s.cluster, l->cluster, sizeof s.cluster);
    memcpy(s.block, l->block, sizeof s.block);
    s.params = block;
    SimLaunchResult result;
    if (status == STATUS_OK) status = sim_launch(r->sim, &s, &result, &r->diag);
    mem_free(block);
    char interval[128] = "";
    if (status == STATUS_OK && result.detail < 1)
        snprintf(interval, sizeof interval, " (estimated, %" PRIu64 " to %" PRIu64 "; %.1f %% in detail)",
                 result.low_cycles, result.high_cycles, 100 * result.detail);
    if (status == STATUS_OK && !r->args->quiet && r->args->timing)
        printf("%s <<<(%u,%u,%u), (%u,%u,%u)>>>: %" PRIu64 " cycles%s, simulated at %.1f thousand a second\n",
               l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], result.cycles,
               interval, (f64)result.cycles * 1e6 / (f64)(result.host_ns ? result.host_ns : 1));
    if (status == STATUS_OK && !r->args->quiet)
        printf("%s <<<(%u,%u,%u), (%u,%u,%u)>>>: %" PRIu64 " warp instructions, %" PRIu64
               " thread instructions, %.1f million of these a second\n",
               l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], result.warp_insts,
               result.thread_insts, (f64)result.thread_insts * 1e3 / (f64)(result.host_ns ? result.host_ns : 1));
    return status;
}

static bool matches(const SpecExpect *e, u8 type, const u8 *data, u64 i) {
    u32 size = spec_type_size(type);
    if (e->tolerance == 0 || !spec_is_float(type)) return memcmp(data + (e->first + i) * size, &e->bits[i], size) == 0;
    f64 got = spec_element(type, data, e->first + i), wanted = spec_element(type, (const u8 *)&e->bits[i], 0);
    return fabs(got - wanted) <= e->tolerance;
}

static void check(Run *r, const SpecExpect *e) {
    const SpecBuffer *b = &r->spec.buffers.data[e->buffer];
    const u8 *data = sim_host_view(r->sim, r->buffers[e->buffer], b->count * spec_type_size(b->type), NULL);
    u64 wrong = 0;
    for (u64 i = 0; i < e->count; i++) {
        if (matches(e, b->type, data, i) || wrong++) continue;
        diag_text(&r->diag, DIAG_ERROR, r->args->spec, e->line, 0, "%s[%" PRIu64 "] is %.9g, expected %.9g", b->name,
                  e->first + i, spec_element(b->type, data, e->first + i),
                  spec_element(b->type, (const u8 *)&e->bits[i], 0));
    }
    if (wrong) r->failures++;
}

static void show_finding(void *context, const SimFinding *finding) {
    (void)context;
    char text[8192];
    sim_finding_text(finding, demangle_short, isatty(STDERR_FILENO), text, sizeof text);
    fputs(text, stderr);
}

// What the checker found makes a check of its own.
static Status finish_checks(Run *r) {
    if (!r->args->check) return STATUS_OK;
    sim_check_finish(r->sim, false);
    SimCheckTotals t = sim_check_totals(r->sim);
    if (!r->args->quiet || t.errors || t.warnings)
        fprintf(stderr, "========= CHECK SUMMARY: %" PRIu64 " error%s, %" PRIu64 " warning%s\n", t.errors,
                plural(t.errors), t.warnings, plural(t.warnings));
    r->found = t.errors != 0;
    return t.errors ? STATUS_INVALID : STATUS_OK;
}

static Status run(Run *r, const GpuModel *gpu) {
    SimConfig config = {.gpu = gpu,
                        .devices = 1,
                        .threads = r->args->threads ? (u32)strtoul(r->args->threads, NULL, 10) : 1,
                        .source = SOURCE_ID,
                        .timing = r->args->timing,
                        .flush_caches = r->args->flush_caches,
                        .interval = r->interval,
                        .sample = (u32)r->sample,
                        .checks = r->args->check ? sim_checks_of(r->args->check) : 0,
                        .finding = show_finding,
                        .log = {.write = log_to_stderr, .level = LOG_WARNING}};
    if (r->args->output) {
        TRY(store_create(r->args->output, r->args->overwrite, &r->writer, &r->diag));
        config.sink = store_sink(r->writer);
        char text[256];
        int n = snprintf(text, sizeof text, "warplens sim%c%s%c%c", 0, gpu->name, 0, 0);
        TRY(sink_write(config.sink, RECORD_SOURCE, &(RecordSource){SOURCE_ID, PROVENANCE_SIMULATED}, text, (size_t)n));
    }
    TRY(sim_create(&config, &r->sim));
    TRY(load(r, gpu));
    TRY(make_buffers(r));
    TRY(fill_buffers(r, config.threads));
    for (u32 i = 0; i < r->spec.launches.len; i++) TRY(launch(r, &r->spec.launches.data[i]));
    for (u32 i = 0; i < r->spec.expects.len; i++) check(r, &r->spec.expects.data[i]);
    return r->failures ? STATUS_INVALID : STATUS_OK;
}

int cmd_sim(int argc, char **argv) {
    static const struct argp argp = {options,
                                     parse,
                                     "KERNEL.ptx --launch SPEC",
                                     "Runs kernels from PTX on the simulator and checks their results.",
                                     NULL,
                                     NULL,
                                     NULL};
    SimArgs args = {.gpu = "h200"};
    int code = cli_parse(&argp, argc, argv, 0, NULL, &args);
    if (code != EXIT_OK) return code;
    if (args.threads && !cli_number("--threads", args.threads, 1, 4096, NULL)) return EXIT_USAGE;
    Run r = {.args = &args, .interval = CONFIG_DEFAULT_INTERVAL};
    if (args.interval && !cli_number("--interval", args.interval, 0, CONFIG_MOST_INTERVAL, &r.interval))
        return EXIT_USAGE;
    if (args.sample && !cli_number("--sample", args.sample, CONFIG_LEAST_SAMPLE, CONFIG_MOST_SAMPLE, &r.sample))
        return EXIT_USAGE;
    GpuModel gpu;
    Status status = cli_load_gpu(args.gpu, &gpu, &r.diag);
    if (status == STATUS_OK && args.timing) status = gpu_need_timing(&gpu, args.gpu, &r.diag);
    if (status == STATUS_OK) status = launch_spec_read(args.spec, &r.spec, &r.diag);
    if (status == STATUS_OK) status = run(&r, &gpu);
    Status checked = r.sim ? finish_checks(&r) : STATUS_OK;
    if (status == STATUS_OK) status = checked;
    if (status == STATUS_OK && !args.quiet)
        printf("RESULT PASS: %u launch%s, %u expectation%s\n", r.spec.launches.len,
               r.spec.launches.len == 1 ? "" : "es", r.spec.expects.len, plural(r.spec.expects.len));
    if (status != STATUS_OK && r.diag.errors == 0 && !r.found)
        cli_fail(EXIT_INPUT, "%s: %s", args.ptx, status_text(status));
    if (r.failures && !args.quiet)
        printf("RESULT FAIL: %u of %u expectation%s not met\n", r.failures, r.spec.expects.len,
               plural(r.spec.expects.len));
    cli_diag_readable(&r.diag);
    sim_destroy(r.sim);
    Status closed = store_close(r.writer);
    if (closed != STATUS_OK) cli_fail(EXIT_INPUT, "%s could not be written: %s", args.output, status_text(closed));
    mem_free(r.buffers);
    launch_spec_free(&r.spec);
    diag_free(&r.diag);
    return status == STATUS_OK && closed == STATUS_OK ? EXIT_OK : EXIT_INPUT;
}
