// SPDX-License-Identifier: Apache-2.0
// Findings for people and for the profile.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"

// --- text
// ---------------------------------------------------------------------------------------------------------------
typedef struct Writer {
    char *to;
    size_t size, used;
} Writer;

static void say(Writer *w, const char *format, ...) WL_PRINTF(2, 3);
static void say(Writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t left = w->used < w->size ? w->size - w->used : 0;
    int n = vsnprintf(left ? w->to + w->used : NULL, left, format, args);
    va_end(args);
    if (n > 0) w->used += (size_t)n;
}

#define MARGIN "========= "

static void say_function(Writer *w, const SimPlace *p, char *(*demangle)(const char *)) {
    char *plain = demangle ? demangle(p->function) : NULL;
    say(w, "%s", plain ? plain : p->function);
    mem_free(plain);
}

static void say_place(Writer *w, const SimPlace *p, const char *role, char *(*demangle)(const char *)) {
    if (!p->function) return;
    say(w, MARGIN "    %s ", role);
    if (p->file)
        say(w, "%s:%u", p->file, p->line);
    else
        say(w, "line %u of the PTX", p->line);
    say(w, " in ");
    say_function(w, p, demangle);
    if (p->call_file) say(w, ", inlined at %s:%u", p->call_file, p->call_line);
    say(w, "\n");
    if (!p->has_thread) return;
    say(w, MARGIN "        by thread (%u,%u,%u) of block (%u,%u,%u)\n", p->thread[0], p->thread[1], p->thread[2],
        p->block[0], p->block[1], p->block[2]);
}

size_t sim_finding_text(const SimFinding *f, char *(*demangle)(const char *), bool color, char *text, size_t size) {
    Writer w = {.to = text, .size = size};
    const char *on = !color ? "" : f->severity == FINDING_ERROR ? "\033[1;31m" : "\033[1;33m";
    if (size) *text = 0;
    say(&w, MARGIN "%s%s%s%s [%s]\n", on, f->severity == FINDING_ERROR ? "" : "Warning: ", f->headline,
        color ? "\033[0m" : "", f->rule);
    say_place(&w, &f->place, "at", demangle);
    if (f->other_role) {
        char role[96];
        snprintf(role, sizeof role, "%s at", f->other_role);
        say_place(&w, &f->other, role, demangle);
    }
    for (u32 i = 0; i < f->note_count; i++) say(&w, MARGIN "    %s\n", f->notes[i]);
    if (f->count > 1) say(&w, MARGIN "    %llu times so far\n", (unsigned long long)f->count);
    say(&w, MARGIN "\n");
    return w.used;
}

// --- the profile
// -----------------------------------------------------------------------------------------------------------
static void say_json_text(Writer *w, const char *text) {
    say(w, "\"");
    for (; *text; text++) {
        u8 c = (u8)*text;
        if (c == '"' || c == '\\')
            say(w, "\\%c", c);
        else if (c < 0x20)
            say(w, "\\u%04x", c);
        else
            say(w, "%c", c);
    }
    say(w, "\"");
}

static void say_json_place(Writer *w, const SimPlace *p) {
    say(w, "{\"function\":");
    say_json_text(w, p->function ? p->function : "");
    say(w, ",\"file\":");
    say_json_text(w, p->file ? p->file : "");
    say(w, ",\"line\":%u,\"pc\":%u", p->line, p->pc);
    if (p->has_thread)
        say(w, ",\"block\":[%u,%u,%u],\"thread\":[%u,%u,%u]", p->block[0], p->block[1], p->block[2], p->thread[0],
            p->thread[1], p->thread[2]);
    say(w, "}");
}

static void say_evidence(Writer *w, const SimFinding *f) {
    say(w, "{\"count\":%llu,\"launch\":%u,\"address\":%llu", (unsigned long long)f->count, f->launch,
        (unsigned long long)f->address);
    if (f->place.function) {
        say(w, ",\"place\":");
        say_json_place(w, &f->place);
    }
    if (f->other_role) {
        say(w, ",\"other_role\":");
        say_json_text(w, f->other_role);
        say(w, ",\"other\":");
        say_json_place(w, &f->other);
    }
    say(w, ",\"notes\":[");
    for (u32 i = 0; i < f->note_count; i++) {
        if (i) say(w, ",");
        say_json_text(w, f->notes[i]);
    }
    say(w, "]}");
}

static void append(Writer *w, const char *text) {
    size_t length = strlen(text) + 1;
    if (w->used + length <= w->size) memcpy(w->to + w->used, text, length), w->used += length;
}

static void record(const Check *c, const SimFinding *f) {
    char tail[16384], evidence[8192];
    Writer w = {.to = evidence, .size = sizeof evidence};
    say_evidence(&w, f);
    if (w.used >= sizeof evidence)
        snprintf(evidence, sizeof evidence, "{\"count\":%llu}", (unsigned long long)f->count);
    Writer t = {.to = tail, .size = sizeof tail};
    append(&t, f->rule);
    append(&t, f->headline);
    append(&t, f->place.file ? f->place.file : "");
    append(&t, evidence);
    RecordFinding r = {.finding = f->id,
                       .function = f->place.function_id,
                       .pc = f->place.pc,
                       .line = f->place.line,
                       .severity = f->severity == FINDING_ERROR ? LOG_ERROR : LOG_WARNING};
    if (sink_write(c->sim->config.sink, RECORD_FINDING, &r, tail, t.used) != STATUS_OK)
        log_printf(&c->sim->config.log, LOG_ERROR, "a finding could not be recorded");
}

static bool same_place(const SimPlace *a, const SimPlace *b) {
    return a->function && b->function && a->pc == b->pc && !strcmp(a->function, b->function);
}

// What keeps a kernel from going on was found already where it waits.
static bool is_known_wait(const Check *c, const SimFinding *f) {
    for (u32 k = 0; k < c->findings.len; k++) {
        const SimFinding *cause = c->findings.data[k];
        if (cause != f && !strncmp(cause->rule, "sync.", 5) && same_place(&f->place, &cause->place)) return true;
    }
    return false;
}

// Shared memory that is read too early, because of a race, was not written yet either: that is one error, not two.
static void drop_explained(Check *c) {
    for (u32 i = c->announced; i < c->findings.len; i++) {
        SimFinding *f = c->findings.data[i];
        if (!strcmp(f->rule, "sync.no_progress")) f->dropped = is_known_wait(c, f);
        if (strcmp(f->rule, "init.shared")) continue;
        for (u32 k = c->announced; k < c->findings.len && !f->dropped; k++) {
            const SimFinding *race = c->findings.data[k];
            if (race->other_role && !strncmp(race->rule, "race.", 5))
                f->dropped = same_place(&f->place, &race->place) || same_place(&f->place, &race->other);
        }
    }
}

void check_launch_end(Check *c) {
    c->grid = NULL;
    if (c->announced < c->findings.len) drop_explained(c);
    for (; c->announced < c->findings.len; c->announced++) {
        const SimFinding *f = c->findings.data[c->announced];
        if (f->dropped) continue;
        record(c, f);
        if (c->sim->config.finding) c->sim->config.finding(c->sim->config.finding_context, f);
    }
}

void sim_check_finish(Sim *sim, bool leaks_are_errors) {
    Check *c = sim->check;
    if (!c) return;
    check_launch_end(c);
    u32 before = c->findings.len;
    for (u32 i = 0; i < before; i++)
        if (c->findings.data[i]->count > 1 && !c->findings.data[i]->dropped)
            record(c, c->findings.data[i]);  // with its last count
    check_leaks(c, leaks_are_errors);
    check_launch_end(c);
}
