// SPDX-License-Identifier: Apache-2.0
// Findings: each is made once for a rule and a place (two places, where two parties are involved), and counted from
// then on. Texts live as long as the checker, since modules may be unloaded before the last count.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"

enum { MOST_FINDINGS = 20000 };

static const struct {
    const char *name, *headline;
    SimSeverity severity;
} rules[RULE_COUNT] = {
#define RULE(id, name, severity, check, headline) {name, headline, FINDING_##severity},
#include "sim/check/rules.def"
#undef RULE
};
static const u32 rule_checks[RULE_COUNT] = {
#define RULE(id, name, severity, check, headline) CHECK_##check,
#include "sim/check/rules.def"
#undef RULE
};

static const char *keep(Check *c, const char *text) {
    return text ? arena_copy_str(&c->arena, (Str){text, strlen(text)}) : NULL;
}

static SimFinding *make(Check *c, CheckRule rule, const char *what) {
    if (c->findings.len >= MOST_FINDINGS || vec_reserve(&c->findings, 1) != STATUS_OK) return c->dropped++, NULL;
    SimFinding *f = ARENA_NEW(&c->arena, SimFinding);
    if (!f) return c->dropped++, NULL;
    char headline[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(headline, sizeof headline, rules[rule].headline, what);  // the formats are those of rules.def
#pragma GCC diagnostic pop
    f->id = c->findings.len + 1;
    f->rule = rules[rule].name;
    f->severity = rules[rule].severity;
    f->headline = keep(c, headline);
    f->launch = c->grid ? c->launch : 0;
    f->count = 1;
    c->findings.data[c->findings.len++] = f;
    return f;
}

static SimFinding *find(Check *c, CheckRule rule, u64 key, bool *is_new, const char *what) {
    const u64 *known = map_get(&c->index, key);
    *is_new = !known;
    if (known) {
        SimFinding *f = c->findings.data[*known];
        f->count++;
        return f;
    }
    SimFinding *f = make(c, rule, what);
    if (f && map_put(&c->index, key, f->id - 1) != STATUS_OK) c->dropped++;  // it may be told twice
    return f;
}

// What tells an access from others: form of the instruction, source place and the calls it was inlined by, so that the
// copies that unrolling makes of one access are one; without line information the instruction itself.
static u64 access_key(const Check *c, u32 pc) {
    const SimProgram *p = c->grid->program;
    const Module *m = p->module;
    const Function *func = &m->funcs[program_func_at(p, pc)->func];
    const Insn *insn = func->insn_count ? &m->insns[func->insns + p->insns[pc].insn] : NULL;
    if (!insn || !insn->loc) return hash_u64(pc);
    u64 key = insn->form;
    for (LocRef at = insn->loc; at; at = m->locs[at].inlined_at) {
        const Loc *loc = &m->locs[at];
        key = hash_u64(hash_u64(key ^ loc->file) ^ ((u64)loc->line << 32 | loc->column));
    }
    return key;
}

SimFinding *check_find(Check *c, CheckRule rule, u32 pc, u32 other, bool *is_new, const char *what) {
    *is_new = false;
    if (!(c->checks & rule_checks[rule])) return NULL;
    CheckPc *p = &c->grid->program->check[pc];
    if (p->finding != WL_NONE && p->rule == rule && p->other == other) {
        SimFinding *f = c->findings.data[p->finding];
        f->count++;
        return f;
    }
    const char *kernel = c->grid->kernel->info.name;
    u64 key = hash_u64(hash_u64(hash_bytes(kernel, strlen(kernel)) ^ access_key(c, pc)) ^ access_key(c, other) ^
                       hash_u64(rule + 1));
    SimFinding *f = find(c, rule, key, is_new, what);
    if (!f) return NULL;
    p->finding = f->id - 1;
    p->rule = (u8)rule;
    p->other = other;
    if (*is_new) f->place = check_place(c, pc);
    return f;
}

SimFinding *check_find_access(Exec *x, CheckRule rule, u32 pc, const CheckAccess *access) {
    char what[96];
    bool is_new;
    SimFinding *f = check_find(x->check, rule, pc, 0, &is_new, check_access_text(what, sizeof what, access));
    if (!f || !is_new) return NULL;
    check_place_lane(&f->place, x->warp, access->lane);
    f->address = access->address;
    return f;
}

SimFinding *check_find_api(Check *c, CheckRule rule, const char *api, u64 key, bool *is_new, const char *what) {
    *is_new = false;
    if (!(c->checks & rule_checks[rule])) return NULL;
    key = hash_u64(hash_bytes(api, strlen(api)) ^ hash_u64(key) ^ hash_u64(rule + 1000));
    return find(c, rule, key, is_new, what);
}

void check_note(Check *c, SimFinding *f, const char *format, ...) {
    char text[1024];
    if (f->note_count == FINDING_NOTES) return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = keep(c, text);
    if (kept) f->notes[f->note_count++] = kept;
}

// --- where ----------------------------------------------------------------------------------------------------------
SimPlace check_place(Check *c, u32 pc) {
    const Grid *g = c->grid;
    const SimProgram *p = g->program;
    const Module *m = p->module;
    const SimFunc *f = program_func_at(p, pc);
    const Function *func = &m->funcs[f->func];
    const u32 *ids = g->kernel->module->function_ids;
    SimPlace place = {.kernel = keep(c, g->kernel->info.name),
                      .function = keep(c, module_text(m, func->name)),
                      .function_id = ids ? ids[f->func] : 0,
                      .pc = p->insns[pc].insn};
    const Insn *insn = func->insn_count ? &m->insns[func->insns + p->insns[pc].insn] : NULL;
    LocRef loc = insn ? insn->loc : 0;
    const File *file = loc ? module_file(m, m->locs[loc].file) : NULL;
    place.line = file ? m->locs[loc].line : insn ? insn->line : 0;
    if (!file) return place;
    place.file = module_text(m, file->path);
    for (LocRef up = m->locs[loc].inlined_at; up; up = m->locs[up].inlined_at) {
        const File *caller = module_file(m, m->locs[up].file);
        if (!caller) continue;
        if (record_is_system_file(place.file)) {  // an atomicAdd belongs to the line that calls it
            place.file = module_text(m, caller->path);
            place.line = m->locs[up].line;
            continue;
        }
        place.call_file = module_text(m, caller->path);
        place.call_line = m->locs[up].line;
    }
    place.file = keep(c, place.file);
    place.call_file = keep(c, place.call_file);
    return place;
}

void check_place_thread(SimPlace *place, const Cta *cta, u32 thread) {
    const u32 *block = cta->grid->block;
    memcpy(place->block, cta->id, sizeof place->block);
    place->thread[0] = thread % block[0];
    place->thread[1] = thread / block[0] % block[1];
    place->thread[2] = thread / block[0] / block[1];
    place->has_thread = true;
}

void check_place_lane(SimPlace *place, const Warp *w, u32 lane) {
    check_place_thread(place, w->cta, w->index * LANES + lane);
}

const char *check_access_text(char *buffer, size_t size, const CheckAccess *a) {
    static const char *const spaces[SPACE_COUNT] = {[SPACE_CONST] = "__constant__",
                                                    [SPACE_GLOBAL] = "__global__",
                                                    [SPACE_LOCAL] = "local",
                                                    [SPACE_PARAM] = "parameter",
                                                    [SPACE_SHARED] = "__shared__"};
    const char *space = a->space < SPACE_COUNT && spaces[a->space] ? spaces[a->space] : "generic";
    snprintf(buffer, size, "%s %s of %u byte%s", space,
             a->atomic  ? "atomic"
             : a->store ? "write"
                        : "read",
             a->bytes, plural(a->bytes));
    return buffer;
}

// --- who allocated, who freed
// ------------------------------------------------------------------------------------------ Callers in words,
// innermost first, as far as they are known: "make_buffers < main".
static void callers(const Check *c, const SimOrigin *origin, char *text, size_t size) {
    size_t used = 0;
    *text = 0;
    for (u32 i = 0; i < origin->depth && c->sim->config.frame_text; i++) {
        char frame[256];
        if (!c->sim->config.frame_text(c->sim->config.finding_context, origin->frames[i], frame, sizeof frame))
            continue;
        int n = snprintf(text + used, size - used, "%s%s", used ? " < " : "", frame);
        if (n < 0 || (size_t)n >= size - used) return;
        used += (size_t)n;
    }
}

void check_note_origin(Check *c, SimFinding *f, const char *verb, const SimOrigin *origin) {
    char text[512];
    if (!origin->api) return;
    callers(c, origin, text, sizeof text);
    check_note(c, f, "%s by %s%s%s", verb, origin->api, *text ? " in " : "", text);
}

static const char *ordinal_suffix(u32 n) {
    if (n % 100 / 10 == 1) return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

void check_note_alloc(Check *c, SimFinding *f, const CheckAlloc *a) {
    char text[512];
    callers(c, &a->made, text, sizeof text);
    if (a->label) check_note(c, f, "It is `%s`", a->label);
    if (!a->made.api) return;
    check_note(c, f, "Allocated by the %u%s %s%s%s", a->ordinal, ordinal_suffix(a->ordinal), a->made.api,
               *text ? ", in " : "", text);
}

// --- to the outside
// ------------------------------------------------------------------------------------------------------
SimCheckTotals sim_check_totals(const Sim *sim) {
    SimCheckTotals totals = {0};
    if (!sim->check) return totals;
    totals.leaks = sim->check->leaks;
    totals.leaked_bytes = sim->check->leaked_bytes;
    for (u32 i = 0; i < sim->check->findings.len; i++) {
        const SimFinding *f = sim->check->findings.data[i];
        bool leak = !strcmp(f->rule, rules[RULE_LEAK].name);
        if (f->dropped) continue;
        if (f->severity == FINDING_ERROR)
            totals.errors++, totals.occurrences += f->count;
        else if (!leak)
            totals.warnings++;
    }
    totals.errors += sim->check->dropped;
    return totals;
}
