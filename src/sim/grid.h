// SPDX-License-Identifier: Apache-2.0
// A launch in execution, inside of the simulator.
#ifndef WL_SIM_GRID_H
#define WL_SIM_GRID_H

#include "sim/warp.h"

// grid.c: the CTAs.
// Goes on with a launch (sim_launch_step).
WL_MUST_USE Status grid_step(Grid *grid, u64 budget, SimStep *step, Diag *diag);
Status grid_deadlock(Grid *grid, Diag *diag);  // explains it; STATUS_DEADLOCK
// SimConfig.progress after so many warp instructions, over launches: a look at the clock for each CTA would cost more
// than a small CTA. `executed` more are done; `done` CTAs are over.
void grid_report(Grid *grid, u64 executed, u64 done);
u64 grid_local_stride(const Grid *grid);  // local memory of a thread, bytes
void grid_free(Grid *grid);
// Everything that decides what the resident CTAs do next, as a number: equal states without a store in between go on
// equally forever (kernels that read clocks differ each time, and are never called stuck).
u64 grid_state(const Grid *grid);
// Whether every warp that waits for no other one has executed something since it was asked last.
bool grid_turned(Grid *grid);
bool grid_has_ctas(const Grid *grid);                         // that began, and have not been executed to their end
bool stuck_again(Stuck *stuck, u64 state);                    // the state has been there before
WL_MUST_USE Status grid_reserve_ctas(Grid *grid, u32 count);  // places of Grid.ctas
u32 cta_shared_end(const Grid *grid, u32 bytes);              // of shared memory, as a GPU gives it out
WL_MUST_USE Status grid_cta_start(Grid *grid, Cta *cta, u64 linear);  // CTA `linear` of the launch, in a free place

// run.c: a Grid of a launch that is over, out of Sim.free_grids; a new one when there is none; NULL: no memory.
Grid *grid_take(Sim *sim);

// A device-side launch: runs to completion and is recorded like a launch of the host.
Status grid_run_child(Sim *sim, SimModule *module, FuncRef func, const u32 grid[3], const u32 block[3], u32 shared,
                      const void *params, Diag *diag);

// fault.c: explains x->fault, or who waits where in a deadlock, in one entry of `diag`; sets sim->fault_code.
void fault_explain(Grid *grid, Diag *diag);
void deadlock_explain(Grid *grid, Diag *diag);
// An access beyond an allocation that goes on (SimConfig.page): x->fault says which. Tells the first of each kernel
// when the launch is over.
void overrun_explain(const Exec *x);

// count.c: announces the kernel's module, function and line map when they are new; then what a launch counted.
Status count_announce(SimKernel *kernel);
Status count_launch(Grid *grid, u32 launch_id, u64 host_ns);

#endif
