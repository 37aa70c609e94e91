// SPDX-License-Identifier: Apache-2.0
// Call stacks in the profile: addresses as offsets in the files that are mapped there. Names are found afterwards, by
// whoever has time (cli/run_finish.c).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect_inside.h"

static int by_begin(const void *a, const void *b) {
    u64 x = ((const Mapping *)a)->begin, y = ((const Mapping *)b)->begin;
    return (x > y) - (x < y);
}

// The file's id, written when it is new.
static u32 object_of(Collector *c, const char *path) {
    Objects *o = &c->objects;
    u64 hash = hash_bytes(path, strlen(path));
    u64 *known = map_get(&o->by_path, hash);
    if (known) return (u32)*known;
    RecordObject r = {.object = ++o->count};
    if (map_put(&o->by_path, hash, r.object) != STATUS_OK) return 0;
    collect_write(c, RECORD_OBJECT, &r, path, strlen(path) + 1);
    return r.object;
}

// Code as it is mapped now. A file's segments are one object: offsets are those of the file.
static void read_mappings(Collector *c) {
    Objects *o = &c->objects;
    FILE *file = fopen("/proc/self/maps", "re");
    char line[4352], rights[8], path[4096];
    o->mappings.len = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long begin, end, offset;
        *path = 0;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %4095[^\n]", &begin, &end, rights, &offset, path) < 4 ||
            rights[2] != 'x')
            continue;
        Mapping mapping = {.begin = begin, .end = end, .offset = *path == '/' ? offset : begin};
        mapping.object = *path == '/' ? object_of(c, path) : 0;
        if (vec_push(&o->mappings, mapping) != STATUS_OK) break;
    }
    if (file) fclose(file);
    if (o->mappings.len) qsort(o->mappings.data, o->mappings.len, sizeof *o->mappings.data, by_begin);
}

static const Mapping *mapping_of(const Objects *o, u64 address) {
    u32 low = 0, high = o->mappings.len;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (o->mappings.data[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->mappings.len && o->mappings.data[low].begin <= address ? &o->mappings.data[low] : NULL;
}

static u32 frame_of(Collector *c, u64 address) {
    Objects *o = &c->objects;
    u64 *known = map_get(&o->by_address, address);
    if (known) return (u32)*known;
    const Mapping *mapping = mapping_of(o, address);
    if (!mapping) {
        read_mappings(c);
        mapping = mapping_of(o, address);
    }
    RecordFrame r = {.frame = ++o->frames, .offset = address};
    if (mapping && mapping->object) r.object = mapping->object, r.offset = address - mapping->begin + mapping->offset;
    if (map_put(&o->by_address, address, r.frame) != STATUS_OK) return 0;
    collect_write(c, RECORD_FRAME, &r, "\0\0", 2);
    return r.frame;
}

u32 objects_write_stack(Collector *c, const u64 *addresses, u32 count) {
    u32 frames[STACK_FRAMES];
    for (u32 i = 0; i < count; i++) frames[i] = frame_of(c, addresses[i]);
    RecordStack r = {.stack = ++c->objects.stacks, .count = count};
    collect_write(c, RECORD_STACK, &r, frames, count * sizeof *frames);
    return r.stack;
}

void objects_free(Objects *o) {
    vec_free(&o->mappings);
    map_free(&o->by_path);
    map_free(&o->by_address);
}
