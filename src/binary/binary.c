// SPDX-License-Identifier: Apache-2.0
#include "binary/binary.h"

#include <elf.h>
#include <string.h>

#include "base/file.h"
#include "binary/elf.h"
#include "binary/fatbin.h"
#include "binary/link.h"

enum { MACHINE_CUDA = 190 };

// ---- one module from the objects of a fat binary ----

typedef struct Gather {  // the PTX of the objects that go into one image
    Vec(PtxObject) objects;
    Vec(u8 *) texts;
} Gather;

static void gather_free(Gather *gather) {
    for (u32 i = 0; i < gather->texts.len; i++) mem_free(gather->texts.data[i]);
    vec_free(&gather->texts);
    vec_free(&gather->objects);
}

// NVIDIA's device runtime library, which the simulator replaces by its own functions.
static bool is_device_runtime(Str text) {
    static const char *const marks[] = {".func cudaCDP2", ".func __cudaCDP2", ") cudaCDP2", ") __cudaCDP2"};
    for (u32 i = 0; i < WL_COUNT(marks); i++) {
        const char *at = text.data, *end = text.data + text.len;
        size_t len = strlen(marks[i]);
        while ((at = memmem(at, (size_t)(end - at), marks[i], len))) {
            const char *line = at;
            while (line > text.data && line[-1] != '\n') line--;
            if ((size_t)(end - line) > 8 && memcmp(line, ".visible", 8) == 0) return true;
            at += len;
        }
    }
    return false;
}

// Entries stored raw are padded with zeros.
static Str trim(const u8 *text, size_t size) {
    const u8 *stop = memchr(text, 0, size);
    return (Str){(const char *)text, stop ? (size_t)(stop - text) : size};
}

static Status note_skip(BinaryImage *image, const Fatbin *fatbin, u32 object, Str name, bool expected) {
    char has[256];
    fatbin_describe(fatbin, object, has, sizeof has);
    BinarySkip skip = {.expected = expected};
    skip.has = arena_copy_str(&image->arena, (Str){has, strlen(has)});
    skip.name = arena_copy_str(&image->arena, name);
    if (!skip.has || !skip.name) return STATUS_NO_MEMORY;
    return vec_push(&image->skipped, skip);
}

// Adds one object's PTX, or notes why it is left out.
static Status gather_object(Gather *gather, BinaryImage *image, const Fatbin *fatbin, u32 object, u32 device_sm,
                            Diag *diag) {
    const FatbinEntry *entry = fatbin_find_ptx(fatbin, object, device_sm);
    bool fits = entry != NULL;
    if (!fits) entry = fatbin_find_ptx(fatbin, object, UINT32_MAX);
    if (!entry) return note_skip(image, fatbin, object, (Str){"", 0}, false);
    u8 *bytes;
    size_t size;
    TRY(fatbin_unpack(fatbin, entry, &bytes, &size, diag));
    Str text = trim(bytes, size);
    bool runtime = fatbin->objects > 1 && is_device_runtime(text);
    if (!fits || runtime) {
        mem_free(bytes);
        return note_skip(image, fatbin, object, entry->identifier, runtime);
    }
    Status status = vec_push(&gather->texts, bytes);
    if (status != STATUS_OK) {
        mem_free(bytes);
        return status;
    }
    const char *name = arena_copy_str(&image->arena, entry->identifier);
    if (name && !*name && fatbin->objects > 1) name = arena_printf(&image->arena, "object %u", object + 1);
    if (!name) return STATUS_NO_MEMORY;
    return vec_push(&gather->objects, (PtxObject){text, name});
}

static Status take_cubin(BinaryImage *image, const Fatbin *fatbin, u32 object, u32 device_sm, Diag *diag) {
    const FatbinEntry *entry = fatbin_find_cubin(fatbin, object, device_sm);
    if (!entry) entry = fatbin_find_cubin(fatbin, object, image->sm);
    if (!entry) return STATUS_OK;
    image->cubin_sm = entry->sm;
    return fatbin_unpack(fatbin, entry, &image->cubin, &image->cubin_size, diag);
}

static Status finish(BinaryImage *image, const Gather *gather, Diag *diag) {
    LinkText text;
    PtxHeader header;
    TRY(ptx_link(gather->objects.data, gather->objects.len, &text, diag));
    image->ptx = text.data;
    image->ptx_size = text.len;
    image->objects = gather->objects.len;
    image->name = gather->objects.data[0].name;
    if (ptx_read_header((Str){text.data, text.len}, &header) != STATUS_OK) {
        diag_text(diag, DIAG_ERROR, image->name, 1, 0, "not PTX: no .version and .target");
        return STATUS_INVALID;
    }
    image->sm = header.sm;
    image->variant = header.variant;
    image->isa = header.isa;
    return STATUS_OK;
}

// Objects that could be needed but have no PTX for the device are worth a warning.
static void warn_skipped(const BinaryImage *image, u32 device_sm, Diag *diag) {
    for (u32 i = 0; i < image->skipped.len; i++) {
        const BinarySkip *skip = &image->skipped.data[i];
        if (skip->expected) continue;
        diag_text(diag, DIAG_WARNING, *skip->name ? skip->name : NULL, 0, 0,
                  "object left out: it has no PTX for sm_%u (there is: %s); rebuild it with -gencode "
                  "arch=compute_%u,code=compute_%u",
                  device_sm, skip->has, device_sm, device_sm);
    }
}

// Links objects [first, first + count) of a fat binary.
static Status build(BinaryImage *image, const Fatbin *fatbin, u32 first, u32 count, u32 device_sm, Diag *diag) {
    *image = (BinaryImage){0};
    Gather gather = {0};
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++)
        status = gather_object(&gather, image, fatbin, first + i, device_sm, diag);
    if (status == STATUS_OK && !gather.objects.len) {
        const FatbinEntry *none;
        status = fatbin_choose_ptx(fatbin, count == 1 ? first : WL_NONE, device_sm, &none, diag);
        if (status == STATUS_OK) status = STATUS_NOT_FOUND;  // only a library that is left out
    } else if (status == STATUS_OK) {
        status = finish(image, &gather, diag);
        if (status == STATUS_OK) warn_skipped(image, device_sm, diag);
    }
    gather_free(&gather);
    if (status != STATUS_OK) binary_image_free(image);
    return status;
}

void binary_image_free(BinaryImage *image) {
    mem_free(image->ptx);
    mem_free(image->cubin);
    vec_free(&image->skipped);
    arena_free(&image->arena);
    *image = (BinaryImage){0};
}

void binary_images_free(BinaryImages *images) {
    for (u32 i = 0; i < images->len; i++) binary_image_free(&images->data[i]);
    vec_free(images);
}

// ---- from this process ----

static Status from_fatbin(const Fatbin *objects, const Fatbin *code, u32 device_sm, BinaryImage *image, Diag *diag) {
    TRY(build(image, objects, 0, objects->objects, device_sm, diag));
    // Machine code only serves for figures: do without when it is damaged or memory is short.
    if (take_cubin(image, code, WL_NONE, device_sm, diag) != STATUS_OK) image->cubin_sm = 0;
    return STATUS_OK;
}

Status binary_ptx_from_wrapper(const void *wrapper, u32 device_sm, BinaryImage *image, Diag *diag) {
    *image = (BinaryImage){0};
    Fatbin objects = {0}, linked = {0};
    Status status = fatbin_parse_wrapper(&objects, wrapper, diag);
    if (status == STATUS_OK) status = fatbin_parse_linked(&linked, wrapper, diag);
    if (status == STATUS_OK) status = from_fatbin(&objects, &linked, device_sm, image, diag);
    if (status == STATUS_OK) image->relocatable = objects.wrapper == 2;
    fatbin_free(&objects);
    fatbin_free(&linked);
    return status;
}

static Status from_container(const void *container, u32 device_sm, BinaryImage *image, Diag *diag) {
    Fatbin fatbin = {0};
    Status status = fatbin_parse_container(&fatbin, container, diag);
    if (status == STATUS_OK) status = from_fatbin(&fatbin, &fatbin, device_sm, image, diag);
    fatbin_free(&fatbin);
    return status;
}

static Status from_text(Str text, const char *name, u32 device_sm, BinaryImage *image, Diag *diag) {
    *image = (BinaryImage){0};
    const char *copy = arena_copy_str(&image->arena, (Str){name, strlen(name)});
    PtxObject object = {text, copy};
    Gather gather = {.objects = {.data = &object, .len = 1}};
    Status status = copy ? finish(image, &gather, diag) : STATUS_NO_MEMORY;
    if (status == STATUS_OK && !fatbin_ptx_fits(image->sm, image->variant, device_sm)) {
        char variant[2] = {image->variant, 0};
        diag_text(diag, DIAG_ERROR, name, 0, 0,
                  "this PTX is for sm_%u%s and cannot run on an sm_%u device; compile it for compute_%u", image->sm,
                  variant, device_sm, device_sm);
        status = STATUS_NOT_FOUND;
    }
    if (status != STATUS_OK) binary_image_free(image);
    return status;
}

static Status no_ptx_in_cubin(const char *name, u32 device_sm, Diag *diag) {
    diag_text(diag, DIAG_ERROR, name, 0, 0,
              "a cubin holds machine code only, no PTX; rebuild with -gencode arch=compute_%u,code=compute_%u or "
              "pass the PTX",
              device_sm, device_sm);
    return STATUS_NOT_FOUND;
}

Status binary_ptx_from_image(const void *image_bytes, u32 device_sm, BinaryImage *image, Diag *diag) {
    static const char elf_magic[] = ELFMAG;
    *image = (BinaryImage){0};
    const char *text = image_bytes;
    u32 magic = 0;
    size_t have = strnlen(text, sizeof magic);  // a text may be shorter than a magic number
    if (have == sizeof magic) memcpy(&magic, text, sizeof magic);
    if (magic == FATBIN_WRAPPER_MAGIC) return binary_ptx_from_wrapper(image_bytes, device_sm, image, diag);
    if (magic == FATBIN_MAGIC) return from_container(image_bytes, device_sm, image, diag);
    if (have == sizeof magic && memcmp(&magic, elf_magic, SELFMAG) == 0) return no_ptx_in_cubin(NULL, device_sm, diag);
    return from_text((Str){text, strlen(text)}, "module image", device_sm, image, diag);
}

// ---- from files ----

// Every object of `fatbin` that has PTX for the device becomes a module of its own. Those without are counted.
static Status add_separate(BinaryImages *images, const Fatbin *fatbin, u32 device_sm, u32 *left_out, Diag *diag) {
    for (u32 object = 0; object < fatbin->objects; object++) {
        if (!fatbin_find_ptx(fatbin, object, device_sm)) {
            ++*left_out;
            continue;
        }
        TRY(vec_reserve(images, 1));
        BinaryImage *image = &images->data[images->len];
        TRY(build(image, fatbin, object, 1, device_sm, diag));
        images->len++;
        if (take_cubin(image, fatbin, object, device_sm, diag) != STATUS_OK) image->cubin_sm = 0;
    }
    return STATUS_OK;
}

static Status add_linked(BinaryImages *images, const Fatbin *fatbin, const Fatbin *code, u32 device_sm, Diag *diag) {
    TRY(vec_reserve(images, 1));
    BinaryImage *image = &images->data[images->len];
    TRY(build(image, fatbin, 0, fatbin->objects, device_sm, diag));
    image->relocatable = true;
    images->len++;
    if (take_cubin(image, code, WL_NONE, device_sm, diag) != STATUS_OK) image->cubin_sm = 0;
    return STATUS_OK;
}

static Status parse_section(const ElfFile *file, const char *name, Fatbin *fatbin, Diag *diag) {
    ElfSection section;
    fatbin->name = elf_file_name(file);
    if (!elf_file_find_section(file, name, &section) || !section.data) return STATUS_OK;
    Status status = fatbin_parse(fatbin, section.data, section.size, diag);
    for (u32 i = 0; i < fatbin->entries.len; i++) fatbin->entries.data[i].offset += section.offset;
    return status;
}

static Status add_modules(BinaryImages *images, const Fatbin *separate, const Fatbin *objects, u32 device_sm,
                          Diag *diag) {
    u32 left_out = 0;
    TRY(add_separate(images, separate, device_sm, &left_out, diag));
    if (objects->objects) {
        Status status = add_linked(images, objects, separate, device_sm, diag);
        if (status != STATUS_NOT_FOUND || !images->len) return status;
    }
    if (images->len && left_out > 1)  // the device linker leaves one without PTX in every program
        diag_text(diag, DIAG_NOTE, separate->name, 0, 0, "%u of %u fat binaries have no PTX for sm_%u", left_out,
                  separate->objects, device_sm);
    if (images->len) return STATUS_OK;
    const FatbinEntry *none;
    Status status = fatbin_choose_ptx(separate, WL_NONE, device_sm, &none, diag);
    return status == STATUS_OK ? STATUS_NOT_FOUND : status;
}

static Status from_elf(const u8 *data, size_t size, const char *name, u32 device_sm, BinaryImages *images, Diag *diag) {
    ElfFile *file;
    TRY(elf_file_from_memory(data, size, name, &file, diag));
    Fatbin separate = {0}, objects = {0};
    Status status = STATUS_OK;
    if (elf_file_machine(file) == MACHINE_CUDA) {
        status = no_ptx_in_cubin(name, device_sm, diag);
    } else {
        status = parse_section(file, ".nv_fatbin", &separate, diag);
        if (status == STATUS_OK) status = parse_section(file, "__nv_relfatbin", &objects, diag);
        bool empty = !separate.entries.len && !objects.entries.len;
        if (status == STATUS_OK && empty) {
            diag_text(diag, DIAG_ERROR, name, 0, 0, "no CUDA code in this file");
            status = STATUS_NOT_FOUND;
        }
        if (status == STATUS_OK) status = add_modules(images, &separate, &objects, device_sm, diag);
    }
    fatbin_free(&separate);
    fatbin_free(&objects);
    elf_file_close(file);
    return status;
}

static Status from_containers(const u8 *data, size_t size, const char *name, u32 device_sm, BinaryImages *images,
                              Diag *diag) {
    static const Fatbin no_objects;
    Fatbin fatbin = {.name = name};
    Status status = fatbin_parse(&fatbin, data, size, diag);
    if (status == STATUS_OK) status = add_modules(images, &fatbin, &no_objects, device_sm, diag);
    fatbin_free(&fatbin);
    return status;
}

static bool starts_with(const u8 *data, size_t size, const void *magic, size_t len) {
    return size >= len && memcmp(data, magic, len) == 0;
}

static Status from_any(const u8 *data, size_t size, const char *name, u32 device_sm, BinaryImages *images, Diag *diag) {
    static const u32 container = FATBIN_MAGIC;
    if (starts_with(data, size, ELFMAG, SELFMAG)) return from_elf(data, size, name, device_sm, images, diag);
    if (starts_with(data, size, &container, sizeof container))
        return from_containers(data, size, name, device_sm, images, diag);
    if (starts_with(data, size, "!<arch>\n", 8)) {
        diag_text(diag, DIAG_ERROR, name, 0, 0, "a static library: pass the program it was linked into");
        return STATUS_UNSUPPORTED;
    }
    Str text = trim(data, size);
    PtxHeader header;
    if (ptx_read_header(text, &header) != STATUS_OK) {
        diag_text(diag, DIAG_ERROR, name, 0, 0, "neither PTX, nor a fat binary, nor an ELF file");
        return STATUS_INVALID;
    }
    BinaryImage image;
    TRY(from_text(text, name, device_sm, &image, diag));
    Status status = vec_push(images, image);
    if (status != STATUS_OK) binary_image_free(&image);
    return status;
}

Status binary_ptx_from_memory(const u8 *data, size_t size, const char *name, u32 device_sm, BinaryImages *images,
                              Diag *diag) {
    Status status = from_any(data, size, name ? name : "", device_sm, images, diag);
    if (status != STATUS_OK) binary_images_free(images);
    return status;
}

Status binary_ptx_from_file(const char *path, u32 device_sm, BinaryImages *images, Diag *diag) {
    FileData file;
    TRY(file_read(path, &file, diag));
    Status status = binary_ptx_from_memory(file.data, file.size, path, device_sm, images, diag);
    file_release(&file);
    return status;
}
