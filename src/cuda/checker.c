// SPDX-License-Identifier: Apache-2.0
#include "cuda/checker.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binary/demangle.h"
#include "binary/elf.h"
#include "cuda/progress.h"

enum { STACK_DEPTH = 32, FINDING_TEXT = 8192 };

// --- printing
// ------------------------------------------------------------------------------------------------------------- One
// line per error, so that `warplens run` knows of them however the program ends.
static void note_result(const CudaContext *c) {
    int file = *c->config.check_result ? open(c->config.check_result, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) return;
    if (write(file, "error\n", 6) != 6) {}  // then the exit code stays the program's
    close(file);
}

static void show(void *context, const SimFinding *f) {
    CudaContext *c = context;
    char text[FINDING_TEXT];
    if (f->severity == FINDING_ERROR) note_result(c);
    bool leak = !strcmp(f->rule, "memory.leak");
    if (leak && !c->config.leak_check) return;  // one line in the summary
    if (c->findings_shown++ >= c->config.check_limit) return;
    sim_finding_text(f, demangle_short, isatty(2), text, sizeof text);
    progress_clear(c);
    fputs(text, stderr);
}

void checker_finish(CudaContext *c) {
    if (!c->config.checks || !c->sim) return;
    sim_check_finish(c->sim, c->config.leak_check);
    SimCheckTotals t = sim_check_totals(c->sim);
    progress_clear(c);
    if (c->findings_shown > c->config.check_limit)
        fprintf(stderr, "========= %llu more findings are not shown (--check-limit); the profile has them\n",
                (unsigned long long)c->findings_shown - c->config.check_limit);
    if (t.leaks && !c->config.leak_check && !c->config.quiet)
        fprintf(stderr, "========= %llu allocation%s of %llu bytes in all never freed (--leak-check tells each)\n",
                (unsigned long long)t.leaks, plural(t.leaks), (unsigned long long)t.leaked_bytes);
    if (c->config.quiet && !t.errors && !t.warnings) return;
    fprintf(stderr, "========= CHECK SUMMARY: %llu error%s", (unsigned long long)t.errors, plural(t.errors));
    if (t.occurrences > t.errors) fprintf(stderr, " (%llu times)", (unsigned long long)t.occurrences);
    if (t.warnings) fprintf(stderr, ", %llu warning%s", (unsigned long long)t.warnings, plural(t.warnings));
    fputs("\n", stderr);
}

// --- who called
// -----------------------------------------------------------------------------------------------------------
static const void *base_of(const void *address) {
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static void origin_now(void *context, SimOrigin *origin) {
    const CudaContext *c = context;
    void *frames[STACK_DEPTH];
    int count = backtrace(frames, STACK_DEPTH), first = 0;
    const void *own = base_of((const void *)(uintptr_t)origin_now);
    while (first < count && base_of(frames[first]) == own) first++;
    *origin = (SimOrigin){.api = c->api ? c->api : "the CUDA runtime"};
    for (; first < count && origin->depth < ORIGIN_FRAMES; first++)
        origin->frames[origin->depth++] = (uintptr_t)frames[first];
}

typedef struct Nearest {  // the function of the executable that holds an address
    u64 address;
    char *text;
    size_t size;
    bool found;
} Nearest;

static bool holds(void *context, const ElfSymbol *symbol) {
    enum { FUNCTION = 2 };  // STT_FUNC
    Nearest *n = context;
    if (symbol->type != FUNCTION || n->address - symbol->address >= symbol->size) return true;
    char *plain = demangle_short(symbol->name);
    snprintf(n->text, n->size, "%s", plain ? plain : symbol->name);
    mem_free(plain);
    n->found = true;
    return false;
}

static bool symbol_text(uintptr_t frame, char *text, size_t size) {
    ElfFile *file;
    u64 bias;
    if (elf_file_open_self(&file, &bias, NULL) != STATUS_OK) return false;
    Nearest n = {.address = frame - 1 - bias, .text = text, .size = size};  // -1: a return address may be past the end
    elf_file_visit_symbols(file, ELF_SYMTAB, holds, &n);
    elf_file_close(file);
    return n.found;
}

static bool frame_text(void *context, uintptr_t frame, char *text, size_t size) {
    (void)context;
    Dl_info info;
    if (symbol_text(frame, text, size)) return strncmp(text, "_start", 6) != 0;
    if (!dladdr((const void *)frame, &info) || !info.dli_sname) return false;
    const char *name = info.dli_fname ? info.dli_fname : "";
    if (strstr(name, "/libc.so") || strstr(name, "/ld-linux")) return false;
    char *plain = demangle_short(info.dli_sname);
    snprintf(text, size, "%s", plain ? plain : info.dli_sname);
    mem_free(plain);
    return true;
}

void checker_setup(CudaContext *c, SimConfig *config) {
    config->checks = c->config.checks;
    config->finding = show;
    config->finding_context = c;
    config->origin = origin_now;
    config->frame_text = frame_text;
}
