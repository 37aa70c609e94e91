// SPDX-License-Identifier: Apache-2.0
// How long `warplens advise` takes on a large profile: advice_scale GPUS FOLDER [KERNELS]. It writes a made-up profile
// of KERNELS (1000) kernels with 100 instructions each, every one of them sampled, into FOLDER, and advises on all of
// it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "store/sample_profile.h"
#include "store/store.h"
#include "view/advice/advice_report.h"

enum { GROUPS = 21, HEAD = 8, TAIL = 8, INSNS = HEAD + 4 * GROUPS + TAIL };

static f64 now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (f64)t.tv_sec + 1e-9 * (f64)t.tv_nsec;
}

// --- the profile ----------------------------------------------------------------------------------------------------
static void print_kernel(FILE *out, u32 kernel) {
    fprintf(out,
            ".visible .entry kernel%u(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
            ".reg .b64 %%rd<8>;\n.reg .f32 %%f<4>;\n.reg .b32 %%r<8>;\n.reg .pred %%p<2>;\n"
            "ld.param.u64 %%rd1, [a];\nld.param.u64 %%rd2, [b];\nld.param.u32 %%r5, [n];\nmov.u32 %%r1, %%tid.x;\n"
            "mul.wide.u32 %%rd3, %%r1, 4;\nadd.s64 %%rd4, %%rd1, %%rd3;\nmov.f32 %%f2, 0f00000000;\nmov.u32 %%r2, 0;\n"
            "$L:\n",
            kernel);
    for (u32 i = 0; i < GROUPS; i++)
        fprintf(out,
                "ld.global.f32 %%f1, [%%rd4+%u];\nfma.rn.f32 %%f2, %%f1, %%f1, %%f2;\nmul.lo.s32 %%r3, %%r2, 3;\n"
                "add.s32 %%r4, %%r3, %%r1;\n",
                i * 128);
    fprintf(out,
            "add.s32 %%r2, %%r2, 1;\nadd.s64 %%rd4, %%rd4, 4096;\nsetp.lt.u32 %%p1, %%r2, %%r5;\n@%%p1 bra $L;\n"
            "add.s64 %%rd5, %%rd2, %%rd3;\nst.global.f32 [%%rd5], %%f2;\nst.global.u32 [%%rd5+4], %%r4;\nret;\n}\n");
}

// The name of the module and its text, as a record has them.
static char *make_module(u32 kernels, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    fputs("scale.ptx", out);
    fputc('\0', out);
    fputs(".version 8.0\n.target sm_90\n.address_size 64\n", out);
    for (u32 k = 1; k <= kernels; k++) print_kernel(out, k);
    fclose(out);
    return text;
}

static Status write_head(Sink *sink, u32 kernels) {
    char tail[256];
    size_t size = 0, name = sizeof "scale.ptx";
    RecordSource source = {.source = 1, .provenance = PROVENANCE_SIMULATED};
    TRY(sink_write(sink, RECORD_SOURCE, &source, tail, SAMPLE_TAIL(tail, "warplens", "NVIDIA H200", "")));
    char *module = make_module(kernels, &size);
    RecordModule record = {.module = 1, .hash = 1, .text_size = size - name};
    Status status = sink_write(sink, RECORD_MODULE, &record, module, size);
    free(module);
    TRY(status);
    TRY(sample_stall_names(sink));
    RecordStallName selected = {1, 2};
    TRY(sink_write(sink, RECORD_STALL_NAME, &selected, tail, SAMPLE_TAIL(tail, "selected", "the warp issued")));
    return sample_file(sink, 1, "src/app.cu");
}

static Status write_samples(Sink *sink, u32 kernel) {
    RecordSample rows[INSNS * 2];
    u32 count = 0;
    for (u32 pc = 0; pc < INSNS; pc++) {
        bool waits = pc > HEAD && pc % 4 == 1;
        u32 stall = waits ? SAMPLE_STALL_MEMORY : SAMPLE_STALL_WAIT;
        rows[count++] = (RecordSample){pc, stall, waits ? 400 + kernel % 7 : 10, waits ? 300 : 5};
        rows[count++] = (RecordSample){pc, 2, 20, 0};
    }
    RecordSamples record = {.function = kernel, .source = 1, .count = count, .period = 512};
    return sink_write(sink, RECORD_SAMPLES, &record, rows, count * sizeof *rows);
}

static Status write_kernel(Sink *sink, u32 kernel) {
    char name[32];
    RecordInsn insns[INSNS];
    RecordPcCount counts[INSNS];
    snprintf(name, sizeof name, "kernel%u", kernel);
    TRY(sample_function(sink, kernel, name, INSNS));
    for (u32 pc = 0; pc < INSNS; pc++) {
        insns[pc] = (RecordInsn){.file = 1, .line = kernel * 10 + pc / 12, .text_line = pc + 1};
        counts[pc] = (RecordPcCount){pc, METRIC_INST, 1000};
    }
    TRY(sample_insns(sink, kernel, insns, INSNS));
    TRY(sample_launch(sink, kernel, kernel));
    TRY(sample_pc_counts(sink, kernel, counts, INSNS));
    TRY(sample_time(sink, kernel));
    TRY(write_samples(sink, kernel));
    return sample_launch_end(sink, kernel);
}

static Status write_profile(const char *path, u32 kernels, Diag *diag) {
    StoreWriter *writer;
    TRY(store_create(path, true, &writer, diag));
    Status status = write_head(store_sink(writer), kernels);
    for (u32 k = 1; k <= kernels && status == STATUS_OK; k++) status = write_kernel(store_sink(writer), k);
    Status closed = store_close(writer);
    return status == STATUS_OK ? closed : status;
}

// --- the advice -----------------------------------------------------------------------------------------------------
static Status count_bytes(void *context, const char *data, size_t size) {
    (void)data;
    *(size_t *)context += size;
    return STATUS_OK;
}

static Status advise(const char *path, const char *gpus, u32 kernels, Arena *arena, AdviceList **list, Diag *diag) {
    Profile *profile;
    KernelViews *views;
    size_t bytes = 0;
    Output out = {.write = count_bytes, .context = &bytes};
    KernelViewOptions view_options = {.gpu_folder = gpus};
    AdviceOptions options = {.most_kernels = kernels, .least = 1e-9};
    TRY(profile_open(path, &profile, diag));
    TRY(kernel_views_open(profile, &view_options, &views, diag));
    TRY(advice_make(profile, views, &options, arena, list, diag));
    TRY(advice_report_write(profile, *list, advice_exporter_find("json"), NULL, &out, diag));
    kernel_views_close(views);
    profile_close(profile);
    return STATUS_OK;
}

int main(int argc, char **argv) {
    char path[4096], line[512];
    if (argc < 3) return fputs("usage: advice_scale GPUS FOLDER [KERNELS]\n", stderr), 2;
    u32 kernels = argc > 3 ? (u32)strtoul(argv[3], NULL, 10) : 1000;
    snprintf(path, sizeof path, "%s/advice_scale.wlp", argv[2]);
    Diag diag = {0};
    Arena arena = {0};
    AdviceList *list = NULL;
    struct rusage usage;
    Status status = write_profile(path, kernels, &diag);
    f64 begin = now();
    if (status == STATUS_OK) status = advise(path, argv[1], kernels, &arena, &list, &diag);
    f64 seconds = now() - begin;
    getrusage(RUSAGE_SELF, &usage);
    for (u32 i = 0; i < diag.entries.len; i++) {
        diag_format(&diag.entries.data[i], line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    if (status == STATUS_OK)
        printf("%u kernels, %u instructions with samples: %u pieces of advice in %.2f s, %.0f MB\n", kernels,
               kernels * INSNS, list->count, seconds, (f64)usage.ru_maxrss / 1024);
    arena_free(&arena);
    diag_free(&diag);
    remove(path);
    return status != STATUS_OK;
}
