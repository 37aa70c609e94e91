// SPDX-License-Identifier: Apache-2.0
#include "random_sim.h"

#include <stdlib.h>
#include <string.h>

#include "simulated.h"

struct RandomSim {
    Simulated *device;
    RandomParams params;
    u8 *input, *acc, *slots, *out;  // as the host sees them
};

RandomSim *random_sim_open(void) {
    RandomSim *s = calloc(1, sizeof *s);
    if (!s || !(s->device = simulated_open())) return free(s), NULL;
    s->params.input = simulated_memory(s->device, RANDOM_INPUT, &s->input);
    s->params.acc = simulated_memory(s->device, RANDOM_ACC, &s->acc);
    s->params.slots = simulated_memory(s->device, RANDOM_THREADS * RANDOM_SLOT, &s->slots);
    s->params.out = simulated_memory(s->device, RANDOM_THREADS * RANDOM_ROW * 8, &s->out);
    if (s->input && s->acc && s->slots && s->out) return s;
    random_sim_close(s);
    return NULL;
}
void random_sim_close(RandomSim *s) {
    if (s) simulated_close(s->device);
    free(s);
}
bool random_sim_run(RandomSim *s, const RandomProgram *program, RandomResult *result, char *why, size_t why_size) {
    RandomParams *p = &s->params;
    const void *values[] = {&p->input, &p->acc, &p->slots, &p->out, &p->p8, &p->p16, &p->p32, &p->p64, p->bytes};
    SimulatedLaunch l = {.head = random_head, .text = program->text, .kernel = program->name, .values = values};
    memcpy(l.grid, program->grid, sizeof l.grid);
    memcpy(l.block, program->block, sizeof l.block);
    random_data(program, s->input, s->acc, s->slots, p);
    memset(s->out, 0, sizeof result->out);
    bool ok = simulated_run(s->device, &l, why, why_size);
    memcpy(result->acc, s->acc, sizeof result->acc);
    memcpy(result->slots, s->slots, sizeof result->slots);
    memcpy(result->out, s->out, sizeof result->out);
    return ok;
}
