// SPDX-License-Identifier: Apache-2.0
#include "binary/fatbin.h"

#include <lz4.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

enum {
    CONTAINER_HEADER = 16,
    CONTAINER_VERSION = 1,
    ENTRY_HEADER = 64,
    WRAPPER_OBJECTS_MAX = 1 << 16,  // a NULL-terminated array longer than this is not one
};
#define CONTAINER_MAX ((u64)1 << 32)  // of this process, taken at its own word

typedef struct Wrapper {  // struct __fatBinC_Wrapper_t of fatbinary_section.h
    u32 magic, version;
    const void *data;
    const void *const *extra;  // version 2: per-object containers; version 1: unused
} Wrapper;

static u16 read_u16(const u8 *at) { return (u16)(at[0] | at[1] << 8); }
static u32 read_u32(const u8 *at) { return read_u16(at) | (u32)read_u16(at + 2) << 16; }
static u64 read_u64(const u8 *at) { return read_u32(at) | (u64)read_u32(at + 4) << 32; }

static Status damaged(const Fatbin *fatbin, Diag *diag, u64 offset, const char *text) {
    diag_offset(diag, DIAG_ERROR, fatbin->name, offset, "damaged fat binary: %s", text);
    return STATUS_FORMAT;
}

static FatbinCodec codec_of(u64 flags) {
    if (flags & FATBIN_FLAG_ZSTD) return FATBIN_ZSTD;
    return flags & FATBIN_FLAG_LZ4 ? FATBIN_LZ4 : FATBIN_STORED;
}

static char variant_of(u64 flags) {
    if (flags & FATBIN_ARCH_SPECIFIC) return 'a';
    return flags & FATBIN_FAMILY_SPECIFIC ? 'f' : 0;
}

// One entry at data[0..room); `offset` is where that is for messages. *length is what it takes up.
static Status parse_entry(Fatbin *fatbin, const u8 *data, u64 room, u64 offset, u64 *length, Diag *diag) {
    if (room < ENTRY_HEADER) return damaged(fatbin, diag, offset, "entry header cut off");
    u32 header = read_u32(data + 0x04);
    u64 padded = read_u64(data + 0x08);
    u32 packed = read_u32(data + 0x10);
    u32 name_at = read_u32(data + 0x20), name_size = read_u32(data + 0x24);
    u64 flags = read_u64(data + 0x28);
    if (header < ENTRY_HEADER || header > room) return damaged(fatbin, diag, offset + 0x04, "entry header size");
    if (padded > room - header) return damaged(fatbin, diag, offset + 0x08, "entry larger than its container");
    if (packed > padded) return damaged(fatbin, diag, offset + 0x10, "compressed size larger than the entry");
    if (name_size && (name_at > header || name_size > header - name_at))
        return damaged(fatbin, diag, offset + 0x20, "identifier outside the entry header");
    FatbinCodec codec = packed ? codec_of(flags) : FATBIN_STORED;
    FatbinEntry entry = {
        .kind = read_u16(data),
        .codec = codec,
        .sm = read_u32(data + 0x1c),
        .variant = variant_of(flags),
        .isa = read_u16(data + 0x1a) * 10u + read_u16(data + 0x18),
        .flags = flags,
        .identifier = {name_size ? (const char *)data + name_at : "", name_size},
        .payload = data + header,
        .packed_size = packed ? packed : padded,
        .size = codec == FATBIN_STORED ? (packed ? packed : padded) : read_u64(data + 0x38),
        .offset = offset,
        .object = fatbin->objects,
    };
    *length = header + padded;
    return vec_push(&fatbin->entries, entry);
}

// One container at data[0..room). *length is what it takes up.
static Status parse_container(Fatbin *fatbin, const u8 *data, u64 room, u64 offset, u64 *length, Diag *diag) {
    if (room < CONTAINER_HEADER) return damaged(fatbin, diag, offset, "container header cut off");
    if (read_u32(data) != FATBIN_MAGIC) return damaged(fatbin, diag, offset, "no container here");
    u16 version = read_u16(data + 4), header = read_u16(data + 6);
    u64 size = read_u64(data + 8);
    if (version != CONTAINER_VERSION) {
        diag_offset(diag, DIAG_ERROR, fatbin->name, offset + 4, "fat binary version %u is not known", version);
        return STATUS_UNSUPPORTED;
    }
    if (header < CONTAINER_HEADER || header > room) return damaged(fatbin, diag, offset + 6, "container header size");
    if (size > room - header) return damaged(fatbin, diag, offset + 8, "container longer than the data");
    *length = header + size;
    for (u64 at = header, step = 0; at < *length; at += step)
        TRY(parse_entry(fatbin, data + at, *length - at, offset + at, &step, diag));
    fatbin->objects++;
    return STATUS_OK;
}

Status fatbin_parse(Fatbin *fatbin, const u8 *data, size_t size, Diag *diag) {
    for (u64 at = 0; at < size;) {
        if (!data[at]) {  // padding between containers
            at++;
            continue;
        }
        u64 length = 0;
        TRY(parse_container(fatbin, data + at, size - at, at, &length, diag));
        at += length;
    }
    return STATUS_OK;
}

Status fatbin_parse_container(Fatbin *fatbin, const void *container, Diag *diag) {
    const u8 *data = container;
    if (read_u32(data) != FATBIN_MAGIC) return damaged(fatbin, diag, 0, "no container here");
    u64 header = read_u16(data + 6), size = read_u64(data + 8), length = 0;
    if (size > CONTAINER_MAX) return damaged(fatbin, diag, 8, "container size");
    return parse_container(fatbin, data, header + size, 0, &length, diag);
}

static Status read_wrapper(Fatbin *fatbin, const void *wrapper, Wrapper *head, Diag *diag) {
    memcpy(head, wrapper, sizeof *head);
    if (head->magic != FATBIN_WRAPPER_MAGIC) return damaged(fatbin, diag, 0, "no wrapper here");
    if (head->version != 1 && head->version != 2) {
        diag_offset(diag, DIAG_ERROR, fatbin->name, 4, "fat binary wrapper version %u is not known", head->version);
        return STATUS_UNSUPPORTED;
    }
    fatbin->wrapper = head->version;
    return STATUS_OK;
}

Status fatbin_parse_linked(Fatbin *fatbin, const void *wrapper, Diag *diag) {
    Wrapper head;
    TRY(read_wrapper(fatbin, wrapper, &head, diag));
    if (!head.data) return damaged(fatbin, diag, 8, "wrapper without data");
    return fatbin_parse_container(fatbin, head.data, diag);
}

Status fatbin_parse_wrapper(Fatbin *fatbin, const void *wrapper, Diag *diag) {
    Wrapper head;
    TRY(read_wrapper(fatbin, wrapper, &head, diag));
    u32 before = fatbin->objects;
    for (u32 i = 0; head.version == 2 && head.extra && head.extra[i]; i++) {
        if (i == WRAPPER_OBJECTS_MAX) return damaged(fatbin, diag, 16, "list of objects without an end");
        TRY(fatbin_parse_container(fatbin, head.extra[i], diag));
    }
    return fatbin->objects > before ? STATUS_OK : fatbin_parse_linked(fatbin, wrapper, diag);
}

void fatbin_free(Fatbin *fatbin) {
    vec_free(&fatbin->entries);
    *fatbin = (Fatbin){0};
}

static Status check_size(const Fatbin *fatbin, const FatbinEntry *entry, Diag *diag) {
    bool bomb = entry->size > FATBIN_FREE_SIZE && entry->size / FATBIN_MAX_RATIO > entry->packed_size;
    if (!bomb && entry->size <= FATBIN_MAX_SIZE) return STATUS_OK;
    diag_offset(diag, DIAG_ERROR, fatbin->name, entry->offset,
                "entry claims to unpack from %llu to %llu bytes: more than is allowed",
                (unsigned long long)entry->packed_size, (unsigned long long)entry->size);
    return STATUS_LIMIT;
}

// True when exactly entry->size bytes came out.
static bool unpack_payload(const FatbinEntry *entry, u8 *data) {
    switch (entry->codec) {
    case FATBIN_ZSTD: return ZSTD_decompress(data, entry->size, entry->payload, entry->packed_size) == entry->size;
    case FATBIN_LZ4:
        return entry->packed_size <= INT32_MAX &&
               LZ4_decompress_safe((const char *)entry->payload, (char *)data, (int)entry->packed_size,
                                   (int)entry->size) == (int)entry->size;
    case FATBIN_STORED: memcpy(data, entry->payload, entry->size); return true;
    }
    return false;
}

Status fatbin_unpack(const Fatbin *fatbin, const FatbinEntry *entry, u8 **data, size_t *size, Diag *diag) {
    *data = NULL;
    *size = 0;
    TRY(check_size(fatbin, entry, diag));
    u8 *bytes = mem_alloc(entry->size + 1);
    if (!bytes) return STATUS_NO_MEMORY;
    if (!unpack_payload(entry, bytes)) {
        mem_free(bytes);
        return damaged(fatbin, diag, entry->offset, "an entry does not unpack to the size it names");
    }
    bytes[entry->size] = 0;
    *data = bytes;
    *size = entry->size;
    return STATUS_OK;
}

// sm_100 and sm_103 are one family; sm_101 is the old name of sm_110.
static u32 family(u32 sm) { return sm == 101 ? 11 : sm / 10; }

static bool same_family(u32 sm, u32 device_sm) { return family(sm) == family(device_sm) && sm <= device_sm; }

bool fatbin_ptx_fits(u32 sm, char variant, u32 device_sm) {
    if (device_sm < FATBIN_OLDEST_SM) return true;
    if (variant == 'a') return sm == device_sm;
    return variant == 'f' ? same_family(sm, device_sm) : sm <= device_sm;
}

bool fatbin_cubin_fits(u32 sm, char variant, u32 device_sm) {
    return variant == 'a' ? sm == device_sm : same_family(sm, device_sm);
}

static u64 rank(const FatbinEntry *entry) {
    return (u64)entry->sm * 4 + (entry->variant == 'a' ? 2 : entry->variant == 'f' ? 1 : 0);
}

// Entries lie in the order of their objects.
static u32 first_entry(const Fatbin *fatbin, u32 object) {
    u32 low = 0, high = fatbin->entries.len;
    while (object != WL_NONE && low < high) {
        u32 middle = low + (high - low) / 2;
        if (fatbin->entries.data[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool in_object(const Fatbin *fatbin, u32 index, u32 object) {
    return index < fatbin->entries.len && (object == WL_NONE || fatbin->entries.data[index].object == object);
}

static const FatbinEntry *find_best(const Fatbin *fatbin, u32 object, u32 kind, u32 device_sm) {
    bool (*fits)(u32, char, u32) = kind == FATBIN_PTX ? fatbin_ptx_fits : fatbin_cubin_fits;
    const FatbinEntry *best = NULL;
    for (u32 i = first_entry(fatbin, object); in_object(fatbin, i, object); i++) {
        const FatbinEntry *entry = &fatbin->entries.data[i];
        if (entry->kind != kind || !fits(entry->sm, entry->variant, device_sm)) continue;
        bool lower = kind == FATBIN_PTX && device_sm < FATBIN_OLDEST_SM;  // the oldest code is the nearest to it
        if (!best || (lower ? rank(entry) < rank(best) : rank(entry) > rank(best))) best = entry;
    }
    return best;
}

const FatbinEntry *fatbin_find_ptx(const Fatbin *fatbin, u32 object, u32 device_sm) {
    return find_best(fatbin, object, FATBIN_PTX, device_sm);
}

const FatbinEntry *fatbin_find_cubin(const Fatbin *fatbin, u32 object, u32 device_sm) {
    return find_best(fatbin, object, FATBIN_ELF, device_sm);
}

#define NVCC_13_OLDEST_SM 75  // CUDA 13.0 release notes: Maxwell, Pascal and Volta are no longer compiled for

Status fatbin_choose_ptx(const Fatbin *fatbin, u32 object, u32 device_sm, const FatbinEntry **entry, Diag *diag) {
    *entry = fatbin_find_ptx(fatbin, object, device_sm);
    if (*entry) return STATUS_OK;
    char has[256];
    fatbin_describe(fatbin, object, has, sizeof has);
    diag_offset(diag, DIAG_ERROR, fatbin->name, UINT64_MAX,
                "no PTX that an sm_%u device can use (there is: %s); rebuild with -gencode "
                "arch=compute_%u,code=compute_%u%s",
                device_sm, has, device_sm, device_sm,
                device_sm < NVCC_13_OLDEST_SM ? " (by nvcc 12 or older: that of CUDA 13 begins with compute_75)" : "");
    return STATUS_NOT_FOUND;
}

static void describe_entry(const FatbinEntry *entry, char *text, size_t size) {
    const char *prefix = entry->kind == FATBIN_PTX ? "compute_" : entry->kind == FATBIN_LTO_IR ? "lto_" : "sm_";
    const char *what = entry->kind == FATBIN_PTX      ? "PTX"
                       : entry->kind == FATBIN_ELF    ? "SASS"
                       : entry->kind == FATBIN_LTO_IR ? "LTO-IR"
                                                      : "unknown code";
    char variant[2] = {entry->variant, 0};
    snprintf(text, size, "%s%u%s %s", prefix, entry->sm, variant, what);
}

void fatbin_describe(const Fatbin *fatbin, u32 object, char *buffer, size_t size) {
    size_t used = 0;
    if (size) buffer[0] = 0;
    for (u32 i = first_entry(fatbin, object); in_object(fatbin, i, object) && used < size; i++) {
        char text[64];
        describe_entry(&fatbin->entries.data[i], text, sizeof text);
        if (strstr(buffer, text)) continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", text);
    }
    if (!used && size) snprintf(buffer, size, "nothing");
}
