// SPDX-License-Identifier: Apache-2.0
// Experiments: a list of edits of the timing model, as text, from who gives advice (src/analyze) to the simulator
// (src/sim/time), and into the profile beside what came out. One edit a line, its words separated by blanks:
//     EDIT PERCENT PC FUNCTION KERNEL
// in launches of KERNEL, instruction PC of FUNCTION (the kernel's own, or one that it calls; mangled names). Edits of
// the kernel as a whole have PC 0 and the kernel as FUNCTION.
#ifndef WL_RECORD_EDIT_H
#define WL_RECORD_EDIT_H

#include "base/diag.h"

typedef enum EditKind {
#define EDIT(id, name, help) EDIT_##id,
#include "record/edits.def"
#undef EDIT
    EDIT_KIND_COUNT
} EditKind;

const char *edit_name(EditKind kind);

typedef struct Edit {
    u8 kind;     // EditKind
    u8 percent;  // of the instruction that the edit changes, 1 to 100
    u32 pc;
    Str function, kernel;  // point into the text
} Edit;

// Whether the text is a list of edits; where it is not, `diag` says (STATUS_INVALID).
WL_MUST_USE Status edit_check(Str text, const char *name, Diag *diag);
// The edit in the line that *text begins with; moves *text behind it. Empty lines, and those that begin with #, are
// passed over. `name` and *line, which is counted on, say in `diag` where a line is wrong (STATUS_INVALID). *more:
// there was one.
WL_MUST_USE Status edit_next(Str *text, const char *name, u32 *line, Edit *edit, bool *more, Diag *diag);

#endif
