// SPDX-License-Identifier: Apache-2.0
#include "cudart/patch.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "binary/elf.h"
#include "cuda/api_table.h"

static bool is_runtime_function(void *unused, const char *name) {
    (void)unused;
    return api_find(name) != NULL;
}

// Code that goes to `target` without touching the arguments. Returns its length.
static u32 make_jump(u8 *code, u64 target) {
#if defined(__x86_64__)
    static const u8 load_rax[] = {0x48, 0xb8}, jump_rax[] = {0xff, 0xe0};  // mov rax, imm64; jmp rax
    memcpy(code, load_rax, 2);
    memcpy(code + 2, &target, 8);
    memcpy(code + 10, jump_rax, 2);
    return 12;
#else
    static const u32 load_jump[] = {0x58000050, 0xd61f0200};  // ldr x16, #8; br x16
    memcpy(code, load_jump, 8);
    memcpy(code + 8, &target, 8);
    return 16;
#endif
}

static bool overwrite(const ElfTarget *target, Diag *diag) {
    u8 code[16];
    const ApiEntry *entry = api_find(target->name);
    u32 length = make_jump(code, (u64)(uintptr_t)entry->function);
    // Too short to be replaced are only functions that go on to one that is replaced, and __cudaGetProcAddress.
    if (target->size && target->size < length) return true;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)target->address;
    void *first = (void *)(at & ~(page - 1));
    size_t span = at + length - (uintptr_t)first;
    if (mprotect(first, span, PROT_READ | PROT_WRITE) != 0) {
        diag_text(diag, DIAG_ERROR, NULL, 0, 0, "the program's code cannot be changed: %s", strerror(errno));
        return false;
    }
    memcpy(target->address, code, length);
    __builtin___clear_cache((char *)target->address, (char *)target->address + length);
    if (mprotect(first, span, PROT_READ | PROT_EXEC) == 0) return true;
    diag_text(diag, DIAG_ERROR, NULL, 0, 0, "the program's code cannot be made executable again: %s", strerror(errno));
    return false;
}

static bool needs_shared_runtime(const ElfFile *file) {
    const char *name;
    for (u32 i = 0; (name = elf_file_needed(file, i)); i++)
        if (strncmp(name, "libcudart.so", 12) == 0) return true;
    return false;
}

static PatchResult patch_targets(const ElfFile *file, u64 load_bias, u32 *patched, Diag *diag) {
    ElfTargets targets = {0};
    bool registers = false, whole = true;
    if (elf_file_find_targets(file, load_bias, is_runtime_function, NULL, &targets) != STATUS_OK) return PATCH_FAILED;
    for (u32 i = 0; i < targets.len; i++) registers |= strcmp(targets.data[i].name, "__cudaRegisterFatBinary") == 0;
    for (u32 i = 0; registers && i < targets.len; i++) {
        bool done = overwrite(&targets.data[i], diag);
        *patched += done;
        whole &= done;
    }
    vec_free(&targets);
    if (!registers) return PATCH_NONE;  // the runtime lies elsewhere, in a library of the program
    return whole ? PATCH_DONE : PATCH_FAILED;
}

PatchResult patch_program(u32 *patched, Diag *diag) {
    ElfFile *file;
    ElfSection section;
    u64 load_bias;
    *patched = 0;
    if (elf_file_open_self(&file, &load_bias, NULL) != STATUS_OK) return PATCH_NONE;
    PatchResult result = PATCH_NONE;
    if (!needs_shared_runtime(file)) {  // a program without kernels (deviceQuery) has the runtime but no fat binary
        if (elf_file_has_table(file, ELF_SYMTAB))
            result = patch_targets(file, load_bias, patched, diag);
        else if (elf_file_find_section(file, ".nvFatBinSegment", &section))
            result = PATCH_STRIPPED;
    }
    elf_file_close(file);
    return result;
}
