// SPDX-License-Identifier: Apache-2.0
// Programs for a compiler that must not join instructions. ptxas joins some whose results then differ from those of the
// instructions alone, and loses some guards; the programs in which that changes the result are listed with the reason
// (random_apart.inc). The GPU gets them with their instructions apart, except those that lose guards: those the
// simulator gets without these guards.
#ifndef WL_RANDOM_APART_H
#define WL_RANDOM_APART_H

#include "random_ptx.h"

// The same program: behind each instruction that has a result stands an exclusive-or of it with a zero that is read at
// run time, and guards are branches; its registers fit. False: out of memory; the program is freed.
bool random_apart(RandomProgram *program);

typedef enum ApartReason {
    APART_NONE,    // not listed
    APART_STORED,  // a store of 8 or 16 bits converts the floating-point number that was made of an integer just before
    APART_SHIFTED,    // a shift of 64 bits converts its amount likewise
    APART_GUARDED,    // v....4.add is executed when its guard is false
    APART_REGISTERS,  // more registers at -O0 than a block of this size has
} ApartReason;

ApartReason random_apart_reason(u64 seed);
// What ptxas takes the program for: v....4.add has no guard.
void random_lose_guards(RandomProgram *program);
// Whether the text of a program has what the reason is about. In the order of the text, control flow aside.
bool random_apart_shows(const RandomProgram *program, ApartReason reason);

#endif
