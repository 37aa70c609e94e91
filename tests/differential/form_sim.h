// SPDX-License-Identifier: Apache-2.0
// Forms on the simulator.
#ifndef WL_FORM_SIM_H
#define WL_FORM_SIM_H

#include "form.h"

typedef struct FormSim FormSim;

FormSim *form_sim_open(void);  // NULL: as simulated_open
void form_sim_close(FormSim *s);
// FORM_THREADS rows of FORM_OUTPUTS words; NULL: `why` says what failed.
const u64 *form_sim_run(FormSim *s, const FormCase *form, char *why, size_t why_size);

#endif
