// SPDX-License-Identifier: Apache-2.0
// The machine code of a profile that was collected on a GPU: cubins, and what nvdisasm says of them.
#ifndef WL_ANALYZE_MACHINE_CODE_H
#define WL_ANALYZE_MACHINE_CODE_H

#include "binary/cubin.h"
#include "flow/flow.h"
#include "sass/disassemble.h"
#include "store/store.h"

typedef struct MachineCode {
    Cubin cubin;      // borrows the profile's bytes
    SassModule sass;  // machine_code_read
    Str json;         // the listing
    SassText made;    // ... when it was made now, and is not the profile's
    const char *why;  // there is no listing, as a sentence; NULL when there is one
} MachineCode;

// Whether the bytes of a module are a cubin.
bool machine_code_is(Str bytes);

// What is to be asked of nvdisasm; `tool` NULL: nothing.
typedef struct ListingPlan {
    Arena arena;
    const char *tool;
    Str bytes;
    u32 *symbols;  // none: all functions
    u32 count;
} ListingPlan;

// Takes the listing of the profile, or plans one. Where neither can be had `why` says so: that is no failure. `bytes`
// must live as long. Both results are freed whatever the status.
WL_MUST_USE Status machine_code_plan(Profile *profile, u32 module, Str bytes, ListingPlan *plan, MachineCode *code,
                                     Diag *diag);
// Has nvdisasm of this machine make the listing: several plans of one profile on several threads.
WL_MUST_USE Status machine_code_list(const ListingPlan *plan, u32 timeout_ms, MachineCode *code, Diag *diag);
void listing_plan_free(ListingPlan *plan);

// Both, and reads the listing. nvdisasm may take half of *left_ms, from which its time is taken off: it needs minutes
// for the cubins of large libraries.
enum { MACHINE_CODE_MS = 12000 };  // for all modules of a profile
WL_MUST_USE Status machine_code_read(Profile *profile, u32 module, Str bytes, u32 *left_ms, MachineCode *code,
                                     Diag *diag);
void machine_code_free(MachineCode *code);

// The instructions of a function with its parameters and control words; STATUS_NOT_FOUND: not in the listing.
WL_MUST_USE Status machine_code_flow(const MachineCode *code, const char *name, Arena *arena, FlowCode **flow);

// Completes a profile whose writer has ended: listings; and of functions of which only the name is known the source
// lines of instructions and the resources. Does what can be done without nvdisasm when there is none, with a note in
// `diag`. Profiles without machine code stay as they are.
WL_MUST_USE Status profile_add_machine_code(const char *path, Diag *diag);

#endif
