// SPDX-License-Identifier: Apache-2.0
#include "form_sim.h"

#include <stdlib.h>
#include <string.h>

#include "simulated.h"

struct FormSim {
    Simulated *device;
    u64 input, output;  // addresses
    u64 *in, *out;      // as the host sees them
};

FormSim *form_sim_open(void) {
    FormSim *s = calloc(1, sizeof *s);
    if (!s || !(s->device = simulated_open())) return free(s), NULL;
    s->input = simulated_memory(s->device, FORM_THREADS * FORM_INPUTS * 8, &s->in);
    s->output = simulated_memory(s->device, FORM_THREADS * FORM_OUTPUTS * 8, &s->out);
    if (s->in && s->out) return s;
    form_sim_close(s);
    return NULL;
}
void form_sim_close(FormSim *s) {
    if (s) simulated_close(s->device);
    free(s);
}
const u64 *form_sim_run(FormSim *s, const FormCase *form, char *why, size_t why_size) {
    static char text[FORM_TEXT];
    if (!form_text(form, 0, text, sizeof text)) return NULL;
    form_inputs(form, s->in);
    memset(s->out, 0, FORM_THREADS * FORM_OUTPUTS * 8);
    const void *values[] = {&s->input, &s->output, s->in};  // the third parameter: the first bytes of the input
    SimulatedLaunch l = {.head = form_head,
                         .text = text,
                         .kernel = "f0",
                         .grid = {FORM_THREADS / FORM_BLOCK, 1, 1},
                         .block = {FORM_BLOCK, 1, 1},
                         .values = values};
    return simulated_run(s->device, &l, why, why_size) ? s->out : NULL;
}
