// SPDX-License-Identifier: Apache-2.0
// The library that the driver loads into each process at cuInit (CUDA_INJECTION64_PATH): src/collect with a store
// behind it. In a process without CUDA it is never loaded.
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/thread.h"
#include "binary/kernel_name.h"
#include "collect/collect.h"
#include "cuda/config.h"
#include "store/store.h"

// The one context of this shared object.
static struct Injection {
    StoreWriter *store;
    pthread_t opening;  // the profile, beside CUPTI's beginning
    bool opens_beside;
    Log log;
    regex_t kernels;
    bool filtered, ended;
} injection;

static const char *text_of(ConfigVariable variable) {
    const char *value = getenv(config_name(variable));
    return value ? value : "";
}

static u64 number_of(ConfigVariable variable, u64 otherwise) {
    const char *text = text_of(variable);
    char *end;
    u64 number = strtoull(text, &end, 10);
    return *text && !*end ? number : otherwise;
}

static void tell(const Diag *diag) {
    char text[1024];
    for (u32 i = 0; i < diag->entries.len; i++) {
        diag_format(&diag->entries.data[i], text, sizeof text);
        log_printf(&injection.log, LOG_ERROR, "%s", text);
    }
}

// For `warplens run`, which completes the profiles when the program has ended.
static void note_profile(const char *path) {
    char line[4224], folder[4096] = "";
    const char *list = text_of(CONFIG_PROFILES);
    int file = *list ? open(list, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) return;
    bool absolute = *path == '/' || !getcwd(folder, sizeof folder);
    int length = snprintf(line, sizeof line, "%s%s%s\n", absolute ? "" : folder, absolute ? "" : "/", path);
    if (length > 0 && (size_t)length < sizeof line && write(file, line, (size_t)length) != length)
        log_printf(&injection.log, LOG_WARNING, "%s cannot be written", list);
    close(file);
}

static Status create(const char *path, bool overwrite, Diag *diag) {
    Status status = store_create(path, overwrite, &injection.store, diag);
    if (status == STATUS_OK) note_profile(path);
    return status;
}

// The first process of a run has the name, others add their process ids.
static Status open_profile(Diag *diag) {
    char path[4096], sibling[4096], problem[512];
    Status status = config_expand_path(text_of(CONFIG_OUTPUT), path, sizeof path, problem, sizeof problem);
    if (status != STATUS_OK) {
        diag_text(diag, DIAG_ERROR, NULL, 0, 0, "%s", *problem ? problem : "the profile's name is too long");
        return status;
    }
    struct stat info;
    u64 run = number_of(CONFIG_RUN, 0);
    bool older = number_of(CONFIG_OVERWRITE, 0) == 1 && stat(path, &info) == 0 &&
                 (u64)info.st_mtim.tv_sec * 1000000000ull + (u64)info.st_mtim.tv_nsec < run;
    Diag first = {0};
    status = create(path, older, &first);
    if (status != STATUS_EXISTS) tell(&first);
    diag_free(&first);
    if (status != STATUS_EXISTS) return status;
    TRY(config_sibling_path(path, (u64)getpid(), sibling, sizeof sibling));
    return create(sibling, false, diag);
}

static void write_command(Sink *sink) {
    char tail[4096] = "command";
    size_t used = 8;
    shell_command(tail + used, sizeof tail - used);
    Status ignored = sink_write(sink, RECORD_META, &(RecordMeta){0}, tail, used + strlen(tail + used) + 1);
    (void)ignored;
}

// Not through stderr's stream: a thread of the program may hold its lock.
static void write_message(void *context, LogLevel level, const char *text) {
    (void)context, (void)level;
    dprintf(STDERR_FILENO, "warplens: %s\n", text);
}

static void *open_store(void *unused) {
    Diag diag = {0};
    Status status = open_profile(&diag);
    tell(&diag);
    diag_free(&diag);
    if (status == STATUS_OK) write_command(store_sink(injection.store));
    return unused;
}

// Creating the profile takes 3 ms, as long as loading CUPTI.
static void begin_opening(void) {
    injection.opens_beside = thread_start(&injection.opening, open_store, NULL) == 0;
    if (!injection.opens_beside) open_store(NULL);
}

static Sink *opened(void *unused) {
    (void)unused;
    if (injection.opens_beside) pthread_join(injection.opening, NULL);
    injection.opens_beside = false;
    return injection.store ? store_sink(injection.store) : NULL;
}

static bool wants(void *unused, const char *kernel) {
    (void)unused;
    return kernel_matches(&injection.kernels, kernel);
}

static CollectSampling sampling_of(const char *text) {
    if (strcmp(text, "off") == 0) return COLLECT_SAMPLING_OFF;
    return strcmp(text, "serialized") == 0 ? COLLECT_SAMPLING_SERIALIZED : COLLECT_SAMPLING_CONTINUOUS;
}

static void end(int status, void *unused);

// Handlers run in reverse order.
static void loaded(void) { on_exit(end, NULL); }

static CollectHost make_host(void) {
    u64 period = number_of(CONFIG_SAMPLING_PERIOD, 0);
    if (period < COLLECT_LEAST_PERIOD || period > COLLECT_MOST_PERIOD) period = 0;
    CollectHost host = {
        .options = {.sampling = sampling_of(text_of(CONFIG_SAMPLING)),
                    .period = (u32)period,
                    .activities = number_of(CONFIG_ACTIVITIES, 1) != 0,
                    .allocations = number_of(CONFIG_ACTIVITIES, 1) != 0,
                    .all_times = number_of(CONFIG_ALL_TIMES, 0) != 0,
                    .stacks = number_of(CONFIG_STACKS, 1) != 0,
                    .arguments = number_of(CONFIG_ARGUMENTS, 1) != 0 && number_of(CONFIG_ACTIVITIES, 1) != 0,
                    .counters = *text_of(CONFIG_INTERVAL) != 0,
                    .interval_ns = number_of(CONFIG_INTERVAL, 0),
                    .end_seconds = (u32)number_of(CONFIG_END_SECONDS, 60),
                    .launch_skip = number_of(CONFIG_LAUNCH_SKIP, 0),
                    .launch_count = number_of(CONFIG_LAUNCH_COUNT, UINT64_MAX)},
        .sink = opened,
        .log = injection.log,
        .loaded = loaded};
    const char *regex = text_of(CONFIG_KERNEL_REGEX);
    char why[256];
    injection.filtered = *regex && kernel_filter_compile(&injection.kernels, regex, why, sizeof why);
    if (*regex && !injection.filtered)
        log_printf(&injection.log, LOG_ERROR, "kernel filter '%.200s': %s; every kernel is recorded", regex, why);
    if (injection.filtered) host.wants = wants;
    return host;
}

static void end(int status, void *unused) {
    (void)unused;
    if (injection.ended) return;
    injection.ended = true;
    if (!injection.store || !collect_end(status)) return;
    StoreWriter *store = injection.store;
    injection.store = NULL;
    if (store_close(store) != STATUS_OK) log_printf(&injection.log, LOG_ERROR, "the profile could not be completed");
}

static void after_fork(void) {
    collect_forget();
    if (injection.store) store_abandon(injection.store);
    injection.store = NULL;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

// Called by the driver, once. Its result only tells the driver that the library is content.
int InitializeInjection(void) {
    injection.log = (Log){.write = write_message, .level = number_of(CONFIG_QUIET, 0) ? LOG_ERROR : LOG_WARNING};
    if (injection.store || !*text_of(CONFIG_OUTPUT)) return 1;
    CollectHost host = make_host();
    pthread_atfork(NULL, NULL, after_fork);
    begin_opening();
    // Handlers run in reverse order: what CUPTI and the driver registered while they were loaded comes after ours.
    if (collect_begin(&host) != STATUS_OK) {
        Status ignored = store_close(injection.store);
        (void)ignored;
        injection.store = NULL;
        return 1;
    }
    on_exit(end, NULL);
    return 1;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void *table);

// Called by the program's copies of NVTX at their first range (NVTX_INJECTION64_PATH).
int InitializeInjectionNvtx2(void *table) { return collect_nvtx(table); }
