// SPDX-License-Identifier: Apache-2.0
// `warplens run --what-if`: the best pieces of advice are tried. The program runs once more for each, timed by a model
// that is edited as the advice has it (docs/advice.md, "Experiments"), and what its kernel gained goes into the
// profile.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/advise.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cuda/config.h"
#include "store/store.h"

typedef struct KernelTime {
    f64 ns, executed;  // of all launches
    u32 launches, source;
} KernelTime;

typedef struct Trial {
    const char *rule, *edits, *kernel;
    u32 function;
    KernelTime before;
    pid_t child;
    bool ended;  // by itself
} Trial;

typedef struct Trials {
    const RunTry *run;
    Arena arena;
    char folder[PATH_MAX];
    Trial rows[RUN_MOST_TRIALS];
    u32 count;
} Trials;

// --- the signals that end a run ------------------------------------------------------------------------------------
static volatile sig_atomic_t stopped, children[RUN_MOST_TRIALS];

static void stop(int signal) {
    (void)signal;
    stopped = 1;
    for (u32 i = 0; i < RUN_MOST_TRIALS; i++)
        if (children[i] > 0) kill(children[i], SIGTERM);
}

static void watch_signals(void) {
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < WL_COUNT(signals); i++) {
        struct sigaction action;
        bool ignored = sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (ignored && signals[i] == SIGHUP) continue;  // nohup
        action = (struct sigaction){.sa_handler = stop};
        sigaction(signals[i], &action, NULL);
    }
}

// --- files -----------------------------------------------------------------------------------------------------------
static void file_of(const Trials *t, u32 trial, const char *ending, char path[PATH_MAX + 32]) {
    snprintf(path, PATH_MAX + 32, "%s/%u.%s", t->folder, trial, ending);
}

static bool write_edits(const Trials *t, u32 trial) {
    char path[PATH_MAX + 32];
    file_of(t, trial, "edits", path);
    FILE *file = fopen(path, "w");
    bool written = file && fputs(t->rows[trial].edits, file) >= 0;
    return file && fclose(file) == 0 && written;
}

// --- processes -------------------------------------------------------------------------------------------------------
static void set_escaped(ConfigVariable variable, const char *path) {
    char pattern[2 * PATH_MAX + 64], *to = pattern;
    for (; *path && to < pattern + sizeof pattern - 3; path++) {
        if (*path == '%') *to++ = '%';
        *to++ = *path;
    }
    *to = 0;
    setenv(config_name(variable), pattern, 1);
}

// In the child, which has what set_simulator said to the first run.
static void set_environment(const Trials *t, u32 trial, u32 threads) {
    char path[PATH_MAX + 32], number[16];
    file_of(t, trial, "wlp", path);
    set_escaped(CONFIG_OUTPUT, path);
    file_of(t, trial, "edits", path);
    setenv(config_name(CONFIG_EDITS), path, 1);
    snprintf(number, sizeof number, "%u", threads);
    setenv(config_name(CONFIG_THREADS), number, 1);
    setenv(config_name(CONFIG_QUIET), "1", 1);
    setenv(config_name(CONFIG_INTERVAL), "0", 1);
    unsetenv(config_name(CONFIG_PROGRESS));
    unsetenv(config_name(CONFIG_CHECK));
    unsetenv(config_name(CONFIG_LEAK_CHECK));
    unsetenv(config_name(CONFIG_CHECK_RESULT));
}

static void run_child(const Trials *t, u32 trial, u32 threads) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    int nothing = open("/dev/null", O_RDWR);
    for (int file = 0; file <= 2 && nothing >= 0; file++) dup2(nothing, file);
    if (nothing > 2) close(nothing);
    set_environment(t, trial, threads);
    execvp(t->run->argv[0], t->run->argv);
    _exit(EXIT_NOT_FOUND);
}

static void start(Trials *t, u32 trial, u32 threads) {
    t->rows[trial].child = stopped || !write_edits(t, trial) ? -1 : fork();
    if (t->rows[trial].child == 0) run_child(t, trial, threads);
    children[trial] = t->rows[trial].child;
}

static void await_one(Trials *t) {
    int status = 0;
    pid_t child = waitpid(-1, &status, 0);
    for (u32 i = 0; i < t->count; i++) {
        if (t->rows[i].child != child) continue;
        t->rows[i].ended = WIFEXITED(status);
        t->rows[i].child = children[i] = 0;
    }
}

static u32 running(const Trials *t) {
    u32 count = 0;
    for (u32 i = 0; i < t->count; i++) count += t->rows[i].child > 0;
    return count;
}

static void run_all(Trials *t) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    u32 most = processors > 0 ? (u32)processors : 1, beside = t->count < most ? t->count : most;
    for (u32 i = 0; i < t->count; i++) {
        while (running(t) >= beside) await_one(t);
        start(t, i, most / beside);
    }
    while (running(t)) await_one(t);
}

// --- what came out ---------------------------------------------------------------------------------------------------
static Status kernel_time(Profile *profile, u32 id, const char *name, KernelTime *time, Diag *diag) {
    const ProfileFunction *functions;
    const ProfileLaunch *launches;
    MetricSet metrics;
    u32 count, at = 0;
    *time = (KernelTime){0};
    TRY(profile_functions(profile, &functions, &count, diag));
    while (at < count && (functions[at].id != id || strcmp(functions[at].name, name) != 0)) at++;
    if (at == count) return STATUS_OK;
    time->source = functions[at].source;
    TRY(profile_launches(profile, id, &launches, &time->launches, diag));
    TRY(profile_function_metrics(profile, id, &metrics, diag));
    for (u32 i = 0; i < time->launches; i++) time->ns += profile_launch_ns(&launches[i]);
    time->executed = metrics.value[METRIC_THREAD_INST];
    return STATUS_OK;
}

#define ALIKE 0.01  // part of the instructions by which runs may differ that depend on time, and be compared

static bool is_same_work(const KernelTime *a, const KernelTime *b) {
    return a->launches == b->launches && a->ns > 0 && b->ns > 0 &&
           fabs(a->executed - b->executed) <= ALIKE * a->executed;
}

static Status read_time(const Trials *t, u32 trial, KernelTime *time) {
    char path[PATH_MAX + 32];
    Profile *profile;
    file_of(t, trial, "wlp", path);
    TRY(profile_open(path, &profile, NULL));
    Status status = kernel_time(profile, t->rows[trial].function, t->rows[trial].kernel, time, NULL);
    profile_close(profile);
    return status;
}

static Status keep_one(const Trial *trial, const KernelTime *after, Sink *sink) {
    RecordExperiment record = {.function = trial->function,
                               .source = trial->before.source,
                               .before_ns = trial->before.ns,
                               .after_ns = after->ns};
    size_t rule = strlen(trial->rule) + 1, edits = strlen(trial->edits) + 1;
    char *tail = mem_alloc(rule + edits);
    if (!tail) return STATUS_NO_MEMORY;
    memcpy(tail, trial->rule, rule);
    memcpy(tail + rule, trial->edits, edits);
    Status status = sink_write(sink, RECORD_EXPERIMENT, &record, tail, rule + edits);
    mem_free(tail);
    return status;
}

static Status keep(const Trials *t, u32 *kept, Diag *diag) {
    StoreWriter *writer;
    TRY(store_append(t->run->output, &writer, diag));
    Status status = STATUS_OK;
    for (u32 i = 0; i < t->count && status == STATUS_OK; i++) {
        KernelTime after;
        if (!t->rows[i].ended || read_time(t, i, &after) != STATUS_OK) continue;
        if (!is_same_work(&t->rows[i].before, &after)) continue;
        status = keep_one(&t->rows[i], &after, store_sink(writer));
        *kept += status == STATUS_OK;
    }
    Status closed = store_close(writer);
    return status == STATUS_OK ? closed : status;
}

// --- what is tried ---------------------------------------------------------------------------------------------------
static Status choose(Profile *profile, const AdviceList *list, void *context, Diag *diag) {
    Trials *t = context;
    for (u32 i = 0; i < list->count && t->count < t->run->most; i++) {
        const Advice *advice = &list->rows[i];
        const ProfileFunction *kernel = advice->kernel->function;
        if (!*advice->edits) continue;
        Trial *trial = &t->rows[t->count++];
        *trial = (Trial){.rule = advice->rule->name,
                         .edits = arena_printf(&t->arena, "%s", advice->edits),
                         .kernel = arena_printf(&t->arena, "%s", kernel->name),
                         .function = kernel->id};
        if (!trial->edits || !trial->kernel) return STATUS_NO_MEMORY;
        TRY(kernel_time(profile, kernel->id, kernel->name, &trial->before, diag));
    }
    return STATUS_OK;
}

static Status try_all(Trials *t, Diag *diag) {
    u32 kept = 0;
    if (!cli_make_scratch(t->folder, sizeof t->folder)) {
        diag_text(diag, DIAG_ERROR, NULL, 0, 0, "cannot make a temporary folder: %s; TMPDIR names another place",
                  strerror(errno));
        return STATUS_IO;
    }
    watch_signals();
    run_all(t);
    Status status = stopped ? STATUS_OK : keep(t, &kept, diag);
    cli_remove_scratch(t->folder);
    if (kept < t->count && status == STATUS_OK && !t->run->quiet)
        fprintf(stderr, "warplens: %u of %u could not be tried: %s\n", t->count - kept, t->count,
                stopped ? "interrupted" : "the program did not do the same work again");
    return status;
}

static void say_what(const Trials *t) {
    if (t->run->quiet) return;
    if (!t->count)
        fprintf(stderr, "warplens: nothing is tried: no advice here has an experiment (docs/advice.md)\n");
    else
        fprintf(stderr, "warplens: trying %u piece%s of advice: the program runs again for each\n", t->count,
                t->count > 1 ? "s" : "");
}

void run_try(const RunTry *run) {
    Diag diag = {0};
    Trials t = {.run = run};
    Status status = advise_each(run->output, choose, &t, &diag);
    if (status == STATUS_OK) say_what(&t);
    if (status == STATUS_OK && t.count) status = try_all(&t, &diag);
    if (status != STATUS_OK && !diag.errors)
        diag_text(&diag, DIAG_ERROR, NULL, 0, 0, "no advice was tried: %s", status_text(status));
    cli_diag(&diag);
    diag_free(&diag);
    arena_free(&t.arena);
}
