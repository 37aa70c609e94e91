// SPDX-License-Identifier: Apache-2.0
#include "sim/time/sm_print.h"

#include "sim/time/sm_parts.h"
#include "sim/time/sm_trace.h"
#include "sim/time/sm_wait.h"

// One more than the longest of what its lanes read (trace_print); 0: none prints, the block was passed over.
static u32 printed_length(const TimeWarp *w, const TimeOp *op) {
    OpRun run = run_of(w, op);
    u32 longest = 0;
    for (const u64 *access; (access = next_access(w, &run, op));) {
        TraceAccess a = trace_access(*access);
        if (a.space == TRACE_PRINT && a.wavefronts + 1u > longest) longest = a.wavefronts + 1u;
    }
    return longest;
}

bool print_begin(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    if (!printed_length(w, op)) return false;
    sm_request(sm, (MemRequest){.cycle = cycle,
                                .tag = (u32)(w - sm->warps),
                                .kind = MEM_PRINT,
                                .sectors = 1,
                                .lanes = w->lanes,
                                .waiting = w->lanes});
    stall(sm, w, cycle + 1, STALL_LONG_SCOREBOARD, op->pc);
    w->held_by = op->pc;
    w->wait = WAIT_PRINT;
    set_at(sm, w, TW_WAIT, NEVER);
    return true;
}

u64 print_cycles(const Sm *sm, const TimeWarp *w) {
    u32 length = printed_length(w, &code_of(w)->ops[w->op]) - 1;
    return (u64)(w->lanes - 1) * sm->gpu->print_lane + length * sm->gpu->print_character;
}
