// SPDX-License-Identifier: Apache-2.0
// Modules and functions as the profile names them. Activities know a kernel by its name, samples by name and the
// checksum of the cubin: the first module in which a name is sampled is taken for that of its launches too.
#include <string.h>

#include "collect/collect_inside.h"

static u64 crc_of(Collector *c, const Loaded *loaded) {
    CuptiCubinCrc crc = {.size = sizeof crc, .cubin_size = loaded->size, .cubin = loaded->cubin};
    return c->cupti.cuptiGetCubinCrc && c->cupti.cuptiGetCubinCrc(&crc) == CUPTI_OK ? crc.crc : 0;
}

static Status add_module(Collector *c, const Loaded *loaded, u64 hash) {
    Names *n = &c->names;
    CollectModule module = {.hash = hash, .crc = crc_of(c, loaded), .id = n->modules.len + 1};
    TRY(vec_push(&n->modules, module));
    TRY(map_put(&n->by_hash, hash, n->modules.len - 1));
    TRY(map_put(&n->by_crc, module.crc, n->modules.len - 1));
    RecordModule r = {.module = module.id, .kind = 1, .hash = hash, .text_size = loaded->size};
    const u8 *tail = (const u8 *)loaded + offsetof(Loaded, no_path);
    collect_write(c, RECORD_MODULE, &r, tail, loaded->size + 1);
    return STATUS_OK;
}

static void take_module(Collector *c, Loaded *loaded) {
    u64 hash = hash_bytes(loaded->cubin, loaded->size);
    if (!map_get(&c->names.by_hash, hash) && add_module(c, loaded, hash) != STATUS_OK) collect_dropped(c, "modules", 1);
    modules_free(&c->modules, loaded);
}

void names_take_modules(Collector *c) {
    for (Loaded *loaded = modules_take(&c->modules), *next; loaded; loaded = next) {
        next = loaded->next;
        take_module(c, loaded);
    }
}

static void write_function(Collector *c, const CollectFunction *function) {
    RecordFunction r = {.function = function->id, .module = function->module, .is_entry = 1};
    collect_write(c, RECORD_FUNCTION, &r, function->name, strlen(function->name) + 1);
}

static CollectFunction *add_function(Collector *c, const char *name, u32 module) {
    Names *n = &c->names;
    u64 hash = hash_bytes(name, strlen(name));
    u64 *first = map_get(&n->by_name, hash);
    CollectFunction function = {.id = n->functions.len + 1, .module = module, .next = first ? (u32)*first : WL_NONE};
    function.wanted = !c->host.wants || c->host.wants(c->host.context, name);
    function.name = mem_copy_str((Str){name, strlen(name)});
    if (!function.name || vec_push(&n->functions, function) != STATUS_OK) return mem_free(function.name), NULL;
    if (map_put(&n->by_name, hash, n->functions.len - 1) != STATUS_OK) return NULL;
    if (function.wanted) write_function(c, &function);
    return &n->functions.data[n->functions.len - 1];
}

// The function of this name that `module` has; 0: of any module, the one known first.
static CollectFunction *find_function(Names *n, const char *name, u32 module) {
    u64 *first = map_get(&n->by_name, hash_bytes(name, strlen(name)));
    CollectFunction *found = NULL;
    for (u32 at = first ? (u32)*first : WL_NONE; at != WL_NONE; at = n->functions.data[at].next) {
        CollectFunction *function = &n->functions.data[at];
        if (strcmp(function->name, name) == 0 && (!module || function->module == module || !function->module))
            found = function;
    }
    return found;
}

CollectFunction *names_function(Collector *c, const char *name) {
    Names *n = &c->names;
    if (!name) name = "(unknown)";
    NamePointer *known = &n->pointers[hash_u64((u64)(uintptr_t)name) % NAME_POINTERS];
    if (known->pointer == name && strcmp(n->functions.data[known->function].name, name) == 0)
        return &n->functions.data[known->function];
    CollectFunction *function = find_function(n, name, 0);
    if (!function) function = add_function(c, name, 0);
    if (function) *known = (NamePointer){name, (u32)(function - n->functions.data)};
    return function;
}

CollectFunction *names_sampled(Collector *c, u64 crc, const char *name) {
    Names *n = &c->names;
    u64 *at = map_get(&n->by_crc, crc);
    u32 module = at ? n->modules.data[*at].id : 0;
    if (!name) name = "(unknown)";
    CollectFunction *function = find_function(n, name, module);
    if (!function) return add_function(c, name, module);
    if (module && !function->module) {
        function->module = module;
        if (function->wanted) write_function(c, function);
    }
    return function;
}

void names_free(Names *n) {
    for (u32 i = 0; i < n->functions.len; i++) mem_free(n->functions.data[i].name);
    vec_free(&n->functions);
    vec_free(&n->modules);
    map_free(&n->by_crc);
    map_free(&n->by_hash);
    map_free(&n->by_name);
}
