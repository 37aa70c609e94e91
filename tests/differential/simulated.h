// SPDX-License-Identifier: Apache-2.0
// A simulated H200 that runs kernels from text, for comparison with a real one.
#ifndef WL_SIMULATED_H
#define WL_SIMULATED_H

#include "base/types.h"

typedef struct Simulated Simulated;

// Runs in the source root (gpus/). NULL: no memory, no GPU model.
Simulated *simulated_open(void);
void simulated_close(Simulated *s);
// Device memory, which lives as long as `s`: its address, and where the bytes are. 0 when there is none.
u64 simulated_memory(Simulated *s, u64 size, void *host);

typedef struct SimulatedLaunch {
    const char *head, *text, *kernel;  // a module is head and text
    u32 grid[3], block[3];
    const void *const *values;  // of the parameters
} SimulatedLaunch;
// False: `why` says what failed, instruction and line included.
bool simulated_run(Simulated *s, const SimulatedLaunch *launch, char *why, size_t why_size);

#endif
