// SPDX-License-Identifier: Apache-2.0
// Values as polynomials over what is known at launch: constant + sum of coefficient * product of factors, a factor
// being a special register, a parameter, a variable's address, the iteration count of a loop, or a value that is not
// understood. Of most memory accesses this yields the base and the stride between lanes.
// Induction variables are merges at a loop's header that every latch increases by the same loop-invariant amount
// (Wolfe: "Beyond Induction Variables", PLDI 1992; scalar evolution). Loops of irreducible shape have none.
// Taken for granted: index arithmetic does not overflow its width, as the C++ of most kernels guarantees for signed
// types. Memory belongs to the arena given; immutable once built.
#ifndef WL_FLOW_AFFINE_H
#define WL_FLOW_AFFINE_H

#include "flow/arguments.h"
#include "flow/divergence.h"
#include "ptx/ptx.h"

typedef enum AffineKind {
    AFFINE_SREG,       // id: PtxSreg, component
    AFFINE_PARAMETER,  // id: VarRef, offset: what is loaded from there
    AFFINE_SYMBOL,     // id: VarRef: its address
    AFFINE_COUNTER,    // id: loop: iterations finished since it was entered, 0 in the first
    AFFINE_NODE,       // id: node of Chains: a value that is not understood
} AffineKind;

typedef struct AffineFactor {
    u8 kind;  // AffineKind
    u8 component;
    u8 bits;  // width of the value
    u32 id;
    i64 offset;
} AffineFactor;

enum {
    AFFINE_DEGREE = 5,
    AFFINE_TERMS = 12
};  // what is larger is not understood; four dimensions, the slowest of
    // them a CTA's: ctaid * ntid * height * depth * channels

typedef struct AffineTerm {
    i64 coefficient;
    u32 factors[AFFINE_DEGREE];  // Affine.factors, ascending; WL_NONE behind the last
} AffineTerm;

typedef struct AffineForm {
    i64 constant;
    u32 terms, term_count;  // Affine.terms
} AffineForm;

typedef enum AffineStride {
    AFFINE_STRIDE_UNKNOWN,  // something else in the address differs between lanes
    AFFINE_STRIDE_CONSTANT,
    AFFINE_STRIDE_SYMBOLIC,  // the same for all lanes, but only known at launch: 4*param2
} AffineStride;

typedef struct AffineAccess {
    u32 insn;
    u8 second;          // 1: the instruction's second address
    u8 space, bytes;    // as in FlowInsn
    bool uniform;       // the same address in all lanes of a warp
    u8 stride_kind[3];  // AffineStride by tid.x, .y, .z
    i64 stride[3];      // bytes from one tid.x (.y, .z) to the next, all else being equal, where constant
    u32 form;           // Affine.forms
    u32 base;           // Affine.factors: the pointer or variable the address starts from, WL_NONE = not known
} AffineAccess;

typedef struct Affine {
    const Chains *chains;
    const Loops *loops;
    const FlowArguments *arguments;  // that are numbers in it; NULL: none
    AffineFactor *factors;
    u32 factor_count;
    AffineTerm *terms;
    AffineForm *forms;  // by node of Chains, then by access
    u32 form_count;
    AffineAccess *accesses;  // by instruction; what lies at a parameter is not listed
    u32 access_count;
} Affine;

// What the form is made of: bits 1 << AffineKind.
u32 affine_kinds(const Affine *affine, u32 form);

bool affine_same_term(const AffineTerm *a, const AffineTerm *b);
bool affine_same_terms(const Affine *affine, u32 a, u32 b);  // of Affine.forms: they differ by constants alone
bool affine_same_form(const Affine *affine, u32 a, u32 b);

// `arguments` NULL: all parameters are factors. They must live as long as the result.
WL_MUST_USE Status flow_affine(const Chains *chains, const Loops *loops, const DivergenceInfo *divergence,
                               const FlowArguments *arguments, Arena *arena, Affine **affine);

// Change of the form per iteration of a loop. Only constant ones are stored in *step (else 0).
AffineStride affine_step(const Affine *affine, u32 form, u32 loop, i64 *step);

// The coefficient of tid.x, .y, .z or of a loop's counter in the form, as text.
WL_MUST_USE Status affine_print_stride(const Affine *affine, u32 form, u32 axis, TextBuffer *out);
WL_MUST_USE Status affine_print_step(const Affine *affine, u32 form, u32 loop, TextBuffer *out);

// "a + 4*tid.x + 4*ntid.x*ctaid.x + 8": the base first when one is given (WL_NONE: none).
WL_MUST_USE Status affine_print(const Affine *affine, u32 form, u32 base, TextBuffer *out);

// Fills in FlowLoop.trip_count where one exit condition compares an induction variable with a fixed distance to go.
void flow_trip_counts(const Affine *affine, const DomTree *dominators, Loops *loops);

// ... and FlowLoop.launch_trips, of an Affine with arguments.
void flow_launch_trips(const Affine *affine, const DomTree *dominators, Loops *loops);

// Most turns of a loop that only goes on when the comparison `insn`, once in each turn, is true, or is not: the last is
// the one that it stops. -1: not known.
i64 flow_compare_turns(const Affine *affine, u32 insn, u32 loop, bool true_stays);

// What a predicate is a copy of, as branches need one of a uniform predicate (PLOP3.LUT P0,PT,PT,PT,UP0,0x80,0x0); the
// node itself where it is none. WL_NONE for WL_NONE.
u32 flow_condition(const Chains *chains, u32 node);

#endif
