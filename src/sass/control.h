// SPDX-License-Identifier: Apache-2.0
// The control word of an instruction: how the compiler tells the hardware when it may be issued. Since Volta an
// instruction has 128 bits, of which bits 105 to 125 are for that (Jia, Maggioni, Staiger, Scarpazza: "Dissecting the
// NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, section 2; checked on ptxas's code for sm_75 to sm_120).
// An instruction of variable latency raises one of six barriers until its result is written (write barrier), another
// one until its sources were read (read barrier); a later instruction is not issued while a barrier of its wait mask is
// up. Everything else is covered by the stall count.
#ifndef WL_SASS_CONTROL_H
#define WL_SASS_CONTROL_H

#include "base/types.h"

enum { SASS_INSN_BYTES = 16, SASS_BARRIERS = 6, SASS_NO_BARRIER = 7 };

typedef struct SassControl {
    u8 stall;          // cycles until the next instruction of the warp may be issued, 0..15
    bool yield;        // the scheduler may prefer another warp next (the bit itself is inverted)
    u8 write_barrier;  // 0..5, SASS_NO_BARRIER
    u8 read_barrier;   // 0..5, SASS_NO_BARRIER
    u8 wait_mask;      // bit b: waits for barrier b
    u8 reuse;          // bit s: operand slot s is kept for the next instruction
} SassControl;

SassControl sass_control(const u8 insn[SASS_INSN_BYTES]);
// Puts the control word into an instruction and leaves its other bits. The inverse of sass_control.
void sass_set_control(u8 insn[SASS_INSN_BYTES], SassControl control);

#endif
