// SPDX-License-Identifier: Apache-2.0
// From a mnemonic ("ld.global.nc.v4.f32") and the shapes of its operands to a Form, by the grammar strings of ops.def.
// Decoding interprets the strings; it is slow (microseconds) and done once per distinct spelling, see FormCache.
#ifndef WL_PTX_FORM_H
#define WL_PTX_FORM_H

#include "base/map.h"
#include "base/vec.h"
#include "ptx/ir.h"

// What an operand looks like before any symbol is known: 3 bits each, the first operand lowest.
typedef enum OperandShape {
    SHAPE_NONE,
    SHAPE_SCALAR,   // register, literal, symbol
    SHAPE_VECTOR,   // { }
    SHAPE_ADDRESS,  // [ ]
    SHAPE_GROUP,    // ( )
    SHAPE_PAIR,     // d|p
    SHAPE_SINK,     // _
} OperandShape;

enum { SHAPE_BITS = 3 };

typedef enum FormProblem {
    FORM_OK,
    FORM_UNKNOWN_OP,   // no instruction has this name
    FORM_UNKNOWN_MOD,  // `where` is a modifier that no row of this name takes (at this place)
    FORM_MISSING_MOD,  // all modifiers are known, but a required one is missing or they do not go together
    FORM_OPERANDS,     // the modifiers fit `form->op`, the operands do not, in number or shape
} FormProblem;

// Fills all of `form` but its text. `where` is a part of `mnemonic`.
FormProblem form_decode(Str mnemonic, u32 shapes, Form *form, Str *where);

// How many operands the form's row takes with its modifiers: at least and at most.
void form_operand_range(const Form *form, u32 *least, u32 *most);

// Is every word of the grammar and the signature of row `op` known? Otherwise `problem` says which is not. For tests.
bool form_check_row(u16 op, char *problem, size_t size);

// The forms of one module by spelling and shapes. A zeroed cache is ready.
typedef struct FormCache {
    Map index;        // hash of spelling and shapes to form
    Vec(u32) shapes;  // by form
} FormCache;

// The form's index in forms (length form_count), WL_NONE when it is not there yet; then `slot` is where to put it.
u32 form_cache_find(const FormCache *cache, const Form *forms, const Intern *texts, Str mnemonic, u32 shapes,
                    u64 *slot);
WL_MUST_USE Status form_cache_add(FormCache *cache, u64 slot, u32 form, u32 shapes);
void form_cache_free(FormCache *cache);

#endif
