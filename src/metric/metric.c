// SPDX-License-Identifier: Apache-2.0
#include "metric/metric.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "metric/formula.h"

const MetricInfo metric_table[METRIC_COUNT] = {
#define COUNTER(id, name, unit, scopes, text) [METRIC_##id] = {name, unit, scopes, NULL, text, false},
#define LEVEL(id, name, unit, scopes, text) [METRIC_##id] = {name, unit, scopes, NULL, text, true},
#define FORMULA(id, name, unit, scopes, formula, text) [METRIC_##id] = {name, unit, scopes, formula, text, false},
#include "metric/metrics.def"
#undef COUNTER
#undef LEVEL
#undef FORMULA
};

enum {
#define COUNTER(id, name, unit, scopes, text)
#define LEVEL(id, name, unit, scopes, text)
#define FORMULA(id, name, unit, scopes, formula, text) FORMULA_INDEX_##id,
#include "metric/metrics.def"
#undef COUNTER
#undef LEVEL
#undef FORMULA
    FORMULA_COUNT
};

struct MetricProgram {
    MetricId target[FORMULA_COUNT];
    Formula formulas[FORMULA_COUNT];
};

MetricId metric_find(const char *name) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (strcmp(metric_table[i].name, name) == 0) return (MetricId)i;
    }
    return METRIC_COUNT;
}

void metric_merge(MetricSet *into, const MetricSet *from) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (metric_table[i].formula) {
            into->present[i] = false;
        } else if (from->present[i]) {
            metric_add(into, (MetricId)i, from->value[i]);
        }
    }
}

static void set_formula(MetricSet *set, MetricId metric, const Formula *formula) {
    f64 value = formula_run(formula, set);
    set->present[metric] = !isnan(value);
    set->value[metric] = isnan(value) ? 0 : value;
}

void metric_evaluate(MetricSet *set) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        Formula formula;
        if (!metric_table[i].formula) continue;
        if (formula_compile(metric_table[i].formula, &formula, NULL) != STATUS_OK) formula.count = 0;
        set_formula(set, (MetricId)i, &formula);
    }
}

Status metric_compile(MetricProgram **program) {
    MetricProgram *made = mem_zero(1, sizeof *made);
    if (!made) return STATUS_NO_MEMORY;
    u32 count = 0;
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (!metric_table[i].formula) continue;
        made->target[count] = (MetricId)i;
        Status status = formula_compile(metric_table[i].formula, &made->formulas[count++], NULL);
        if (status != STATUS_OK) {
            mem_free(made);
            return status;
        }
    }
    *program = made;
    return STATUS_OK;
}

void metric_run(const MetricProgram *program, MetricSet *set) {
    for (u32 i = 0; i < FORMULA_COUNT; i++) set_formula(set, program->target[i], &program->formulas[i]);
}

static bool is_complete(const Formula *formula, const MetricSet *set) {
    for (u32 i = 0; i < formula->count; i++)
        if (formula->steps[i].op == FORMULA_METRIC && !set->present[formula->steps[i].metric]) return false;
    return true;
}

void metric_run_complete(const MetricProgram *program, MetricSet *set) {
    for (u32 i = 0; i < FORMULA_COUNT; i++) {
        set->present[program->target[i]] = false;
        if (is_complete(&program->formulas[i], set)) set_formula(set, program->target[i], &program->formulas[i]);
    }
}

static bool known_unit(const char *unit) {
    static const char *const units[] = {"inst", "thread", "request", "sector", "wavefront", "byte", "flit",
                                        "ns",   "cycle",  "percent", "ratio",  "warp",      "count"};
    for (u32 i = 0; i < WL_COUNT(units); i++) {
        if (strcmp(units[i], unit) == 0) return true;
    }
    return false;
}

u32 metric_pc_limit(void) {
    u32 limit = METRIC_COUNT;
    while (limit && !metric_has_scope((MetricId)(limit - 1), 'P')) limit--;
    return limit;
}

// What is known of the whole GPU over time may be known on a GPU.
static bool is_known_where(MetricId metric, char scope) {
    return metric_has_scope(metric, scope) || (scope == 'G' && metric_has_scope(metric, 'T'));
}

// A formula may use rows above it only, so one pass from the top evaluates all; and only rows known wherever it is.
static bool formula_is_sound(u32 row) {
    Formula formula;
    if (formula_compile(metric_table[row].formula, &formula, NULL) != STATUS_OK) return false;
    for (u32 i = 0; i < formula.count; i++) {
        if (formula.steps[i].op != FORMULA_METRIC) continue;
        if (formula.steps[i].metric >= row) return false;
        for (const char *scope = metric_table[row].scopes; *scope; scope++) {
            if (!is_known_where((MetricId)formula.steps[i].metric, *scope)) return false;
        }
    }
    return true;
}

Status metric_check(const char **bad_name) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        const MetricInfo *info = &metric_table[i];
        bool good = metric_find(info->name) == (MetricId)i && known_unit(info->unit) && info->scopes[0] &&
                    strspn(info->scopes, "LPTSNCDBHG") == strlen(info->scopes) &&
                    (!info->formula || formula_is_sound(i));
        if (good) continue;
        *bad_name = info->name;
        return STATUS_INVALID;
    }
    return STATUS_OK;
}
