// SPDX-License-Identifier: Apache-2.0
// Random programs on the simulator.
#ifndef WL_RANDOM_SIM_H
#define WL_RANDOM_SIM_H

#include "random_ptx.h"

typedef struct RandomSim RandomSim;

// What a launch left behind.
typedef struct RandomResult {
    u8 acc[RANDOM_ACC];
    u8 slots[RANDOM_THREADS * RANDOM_SLOT];
    u64 out[RANDOM_THREADS * RANDOM_ROW];
} RandomResult;

RandomSim *random_sim_open(void);  // NULL: as simulated_open
void random_sim_close(RandomSim *s);
// False: `why` says what failed.
bool random_sim_run(RandomSim *s, const RandomProgram *program, RandomResult *result, char *why, size_t why_size);

#endif
