// SPDX-License-Identifier: Apache-2.0
// The different bytes that accesses name. An address is a polynomial over thread, CTA and loop counters
// (flow/affine.h). What is added up with known distances is a box of rows, planes and so on: a side goes on by the
// pitch of its rows as soon as that is beyond what lies within a row. What is multiplied by a pitch that nobody knows
// is a side of its own.
#ifndef WL_ANALYZE_ADVICE_BOXES_H
#define WL_ANALYZE_ADVICE_BOXES_H

#include "analyze/advice/rule.h"

enum {
    BOX_SIDES = 6,
    BOX_PARAMETERS = 2,
    BOX_PLACES = 64,
    ACCESS_GROUP_LIMIT = 4096 /* accesses of a function that are compared with each other */
};

typedef struct BoxSide {
    f64 pitch;                       // bytes from one value to the next; the first side's is 1; 0: not known
    u32 parameters[BOX_PARAMETERS];  // ... what it is made of; WL_NONE: no more
    f64 span;                        // between the first value and the last, in pitches
    f64 values;                      // not known: different ones
    f64 step;                        // not known: what divides all distances, 0 = none yet
    f64 offset;                      // not known: of the first
} BoxSide;

typedef struct Box {
    BoxSide sides[BOX_SIDES];
    u32 count;
    f64 offset;     // bytes, of what is known
    f64 all;        // different addresses at most
    bool measured;  // all pitches are known
} Box;

// The addresses of one access in the launch. What lies within `grain` bytes of each other has no gaps: 1, or a
// sector's 32. False: not understood.
bool box_of(const ProfileLaunch *launch, const CasePart *part, const CaseAccess *a, f64 grain, Box *box);
f64 box_reach(const Box *box);  // bytes from the first address to the last, if `measured`
// Where a loop begins that another one left turns for: the compiler has split it, to turn several times at once, and
// the first one may have had nothing to do. The form with which both begin; NULL: it is something else.
const AffineForm *box_begin(const CasePart *part, const AffineTerm *term);

// Accesses that differ in distances which are the same in the whole launch: fields of one structure, neighbours, other
// rows.
typedef struct BoxGroup {
    Box box;                              // of the first
    f64 low[BOX_SIDES], high[BOX_SIDES];  // of all, from the first one's, in pitches
    f64 step[BOX_SIDES];                  // not known: what divides all distances
    u32 count;
    f64 places[BOX_PLACES];  // of the first ones: where they lie from the first, as one number
    u32 place_count;         // different places
    f64 grain;
    f64 width, executions;  // bytes: of the widest; named by all of them, one by one
} BoxGroup;

// The access and those like it, where they are understood.
bool box_group(const ProfileLaunch *launch, const CasePart *part, const CaseAccess *a, f64 grain, BoxGroup *group);
f64 box_group_bytes(const BoxGroup *group);  // different ones that they name together, in whole grains

#endif
