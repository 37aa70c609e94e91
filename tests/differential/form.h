// SPDX-License-Identifier: Apache-2.0
// Every form of every executable row of ops.def - each type, modifier, vector width and state space that the row's
// grammar allows - as a kernel that runs it on FORM_THREADS sets of operands, special values among them. Whether ptxas
// takes a form is found by asking it; forms.inc has those that it does.
#ifndef WL_FORM_H
#define WL_FORM_H

#include "ptx/ops.h"

enum {
    FORM_THREADS = 1024,
    FORM_BLOCK = 128,
    FORM_INPUTS = 16,   // 64-bit words a thread: 8 for sources, then FORM_MEMORY bytes
    FORM_OUTPUTS = 16,  // 64-bit words a thread: 8 for destinations, then what its memory is afterwards
    FORM_MEMORY = 64,   // bytes that a thread may change
    FORM_TEXT = 8192,
};

typedef struct FormCase {
    u16 op;      // PtxOp
    u8 variant;  // of the operands: optional ones, wider registers, selectors, addresses
    char mnemonic[120];
    u8 types[FORM_MAX_TYPES], type_count;
    u8 space, spaces;  // FormSpace of the first one written; how many
    u8 vector;
    u16 mods[MOD_CLASS_COUNT];  // ModToken
    u8 extras;                  // optional modifiers of a memory operation that are there
    const char *item;           // of the grammar: what is still to be chosen
} FormCase;

typedef enum FormSpace {
    FS_GENERIC,
    FS_GLOBAL,
    FS_SHARED,
    FS_CLUSTER,
    FS_LOCAL,
    FS_CONST,
    FS_PARAM,
    FS_COUNT
} FormSpace;

// Why an op has no forms here; NULL when it has.
const char *form_excluded(u32 op);
// Whether the ISA gives a bound on the error and not the result.
bool form_approximate(const FormCase *form);
// Calls `each` for every candidate of an op.
void form_each(u32 op, void (*each)(void *context, const FormCase *form), void *context);

// A module with the form as kernel f<index>; false when there is no such variant. `size` FORM_TEXT at least.
bool form_text(const FormCase *form, u32 index, char *text, size_t size);
extern const char form_head[];  // once in a module

// FORM_THREADS rows of FORM_INPUTS words; the same for every run of a form.
void form_inputs(const FormCase *form, u64 *in);
u64 form_hash(const u64 *out);

// Source operands, as form_text numbers them: what values they take. See form_values.c.
u32 form_kinds(const FormCase *form, char kinds[8], char *memory_kind);

#endif
