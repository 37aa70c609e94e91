// SPDX-License-Identifier: Apache-2.0
// The rules themselves: what docs/advice.md and --list-rules show.
#include "view/advice/advice_data.h"
#include "view/export/json_value.h"
#include "view/number.h"
#include "view/table.h"

static json_t *record_value(const AdviceRecord *record) {
    json_t *object = json_object();
    json_object_set_new(object, "scale", json_figure(record->scale));
    json_object_set_new(object, "width", json_figure(record->width));
    json_object_set_new(object, "helped", json_count(record->helped));
    json_object_set_new(object, "tried", json_count(record->tried));
    return object;
}

static json_t *rule_value(Json *json, const AdviceRule *rule) {
    json_t *object = json_object();
    json_object_set_new(object, "name", json_text(json, rule->name));
    json_object_set_new(object, "title", json_text(json, rule->title));
    json_object_set_new(object, "kind", json_string(advice_kind_names[rule->kind]));
    json_object_set_new(object, "why", json_text(json, rule->why));
    json_object_set_new(object, "how", json_text(json, rule->how));
    json_object_set_new(object, "before", json_text(json, rule->before));
    json_object_set_new(object, "after", json_text(json, rule->after));
    json_object_set_new(object, "record", record_value(&rule->record));
    json_object_set_new(object, "simulated", record_value(&rule->simulated));
    return object;
}

static Status write_json(Output *out) {
    Json json = {.out = out};
    output_text(out, "{\"schema\":\"warplens-advice-rules/1\",\"rules\":[");
    for (u32 i = 0; i < advice_rule_count; i++) {
        output_text(out, i ? ",\n" : "\n");
        json_write(&json, rule_value(&json, &advice_rules[i]), false);
    }
    output_text(out, "]}\n");
    arena_free(&json.scratch);
    return out->status;
}

static void record_cell(Table *table, Arena *arena, const AdviceRecord *record) {
    table_cell(table, record->tried ? arena_printf(arena, "%u of %u", record->helped, record->tried) : "-");
}

static void rule_row(Table *table, Arena *arena, const AdviceRule *rule) {
    table_cell(table, rule->name);
    table_cell(table, advice_kind_names[rule->kind]);
    record_cell(table, arena, &rule->record);
    record_cell(table, arena, &rule->simulated);
    table_cell(table, rule->title);
}

Status advice_rules_write(const AdviceReportOptions *options, bool json, Output *out) {
    if (json) return write_json(out);
    Table table = {0};
    Arena arena = {0};
    table_column(&table, (TableColumn){.header = "rule", .align = TABLE_LEFT});
    table_column(&table, (TableColumn){.header = "kind", .align = TABLE_LEFT, .importance = 2});
    table_column(&table, (TableColumn){.header = "helped", .importance = 1});
    table_column(&table, (TableColumn){.header = "simulated", .importance = 3});
    table_column(&table, (TableColumn){.header = "advice", .align = TABLE_LEFT, .least = 24});
    for (u32 i = 0; i < advice_rule_count; i++) rule_row(&table, &arena, &advice_rules[i]);
    table_print(&table, out, options ? options->width : 0, options && options->color);
    output_text(out, "\nhelped: of known pairs (a program before and after the change), profiled on a GPU\n"
                     "simulated: of such pairs, profiled by the simulator\n");
    table_free(&table);
    arena_free(&arena);
    return out->status;
}
