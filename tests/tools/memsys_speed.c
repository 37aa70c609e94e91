// SPDX-License-Identifier: Apache-2.0
// memsys_speed [GPU [MILLIONS [NUMBER OF THE LOAD]]]: how many requests the memory system serves per second of
// processor time: reads that hit the L2, streams of reads and of reads and writes that go to DRAM, random sectors, and
// L2 hits over a ring.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/map.h"
#include "sim/time/memsys.h"

typedef struct Load {
    const char *name;
    u64 span;      // bytes that are read
    u32 interval;  // cycles between two requests of an SM
    u8 sectors;
    bool random, writes, ring;
} Load;

static const Load loads[] = {
    {"L2 hits", 8 << 20, 5, 15, false, false, false},
    {"L2 hits, saturated", 8 << 20, 3, 15, false, false, false},
    {"L2 hits, 1 sector", 8 << 20, 2, 1, true, false, false},
    {"DRAM reads", 1 << 30, 8, 15, false, false, false},
    {"DRAM copy", 1 << 30, 8, 15, false, true, false},
    {"DRAM random sectors", 1 << 30, 8, 1, true, false, false},
    {"L2 hits, ring", 8 << 20, 60, 15, false, false, true},
};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct Run {
    const Load *load;
    const GpuModel *gpu;
    MemSys *memsys;
    MemReplies replies;
    MemRequest *requests;
    u64 now, sent, answered;
} Run;

// The requests of one quantum: every SM in turn.
static u32 make_requests(Run *r, u64 until) {
    const Load *l = r->load;
    u32 count = 0;
    for (u64 cycle = r->now; cycle < until; cycle++)
        for (u32 sm = (u32)(cycle % l->interval); sm < r->gpu->sms; sm += l->interval) {
            u64 place = l->random ? hash_u64(r->sent) : r->sent;
            bool write = l->writes && r->sent % 2;
            r->requests[count++] = (MemRequest){.cycle = cycle,
                                                .line = place * 128 % l->span + (write ? 4ull << 30 : 0),
                                                .sm = (u16)sm,
                                                .kind = write ? MEM_WRITE : MEM_READ,
                                                .sectors = l->sectors,
                                                .whole = l->sectors};
            r->sent++;
        }
    return count;
}

// No more requests are under way than an SM's warps would have.
static int step(Run *r) {
    u64 quantum = memsys_least_latency(r->memsys), until = r->now + quantum;
    u32 count = r->sent - r->answered < 512 * r->gpu->sms ? make_requests(r, until) : 0;
    if (memsys_step(r->memsys, r->requests, count, r->now, until, &r->replies) != STATUS_OK) return 1;
    r->answered += r->replies.len;
    r->replies.len = 0;
    r->now = until;
    return 0;
}

static int measure(const GpuModel *model, const Load *load, u64 wanted) {
    GpuModel gpu = *model;
    if (load->ring) gpu.noc = 1;
    Run r = {.load = load, .gpu = &gpu};
    if (memsys_create(&gpu, NULL, NULL, &r.memsys) != STATUS_OK) return 1;
    r.requests = malloc((memsys_least_latency(r.memsys) + 1) * gpu.sms * sizeof *r.requests);
    if (!r.requests) return 1;
    memsys_touch(r.memsys, 0, load->span < 16 << 20 ? load->span : 0, true);
    if (load->ring) wanted /= 50;
    while (r.answered < wanted / 10)
        if (step(&r)) return 1;
    u64 before = r.answered, cycles = r.now;
    double begin = seconds();
    while (r.answered - before < wanted)
        if (step(&r)) return 1;
    double took = seconds() - begin, done = (double)(r.answered - before);
    printf("  %-22s %8.2f million requests/s %8.1f ns each %9.1f bytes/cycle\n", load->name, done / took * 1e-6,
           took / done * 1e9, done * 32 * __builtin_popcount(load->sectors) / (double)(r.now - cycles));
    free(r.requests);
    vec_free(&r.replies);
    memsys_destroy(r.memsys);
    return 0;
}

int main(int argc, char **argv) {
    GpuModel gpu;
    if (gpu_load("gpus", argc > 1 ? argv[1] : "h200", &gpu, NULL) != STATUS_OK) return 1;
    u64 wanted = (argc > 2 ? strtoull(argv[2], NULL, 10) : 5) * 1000000;
    printf("%s:\n", gpu.name);
    for (u32 i = 0; i < WL_COUNT(loads); i++)
        if ((argc < 4 || i == (u32)atoi(argv[3])) && measure(&gpu, &loads[i], wanted)) return 1;
    return 0;
}
