// SPDX-License-Identifier: Apache-2.0
// Random programs on a GPU and on the simulator: what differs.
//   random_gpu ptx SEED [COUNT]                           the text of programs
//   random_gpu sim FIRST COUNT [JOBS]                     hashes of the simulator's results
//   random_gpu dump SEED [CUT..]                          the simulator's results, word by word; without some
//   statements random_gpu gpu FIRST COUNT FOLDER [LEVEL [SECONDS]]   both; ptxas -O LEVEL (3); what differs goes into
//   FOLDER, with
//                                                         the hashes of the GPU's results (hashes.bin)
//   random_gpu reduce FOLDER SEED..                       fewest statements that still differ, or fail on the GPU
// Run it in a folder with gpus/. CI has no GPU; random_test.c replays what was recorded.
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "campaign.h"
#include "random_sim.h"

typedef struct Run {
    u64 first;
    const RandomCut *cut;
    const char *folder;
    RandomSim *sim;
    RandomResult of_sim, of_gpu;
    u64 input, acc, slots, out;  // on the GPU
} Run;

static RandomProgram program_of(const Run *r, u32 i) {
    RandomProgram p;
    if (!random_program(r->first + i, r->cut, &p)) exit(2);
    return p;
}
static void name(void *context, u32 i, char *text, size_t size) {
    snprintf(text, size, "seed %llu", (unsigned long long)(((Run *)context)->first + i));
}
static void text(void *context, u32 i, FILE *f) {
    RandomProgram p = program_of(context, i);
    fputs(p.text, f);
    random_free(&p);
}
static u64 hash_of(const RandomProgram *p, const RandomResult *r) { return random_hash(p, r->acc, r->slots, r->out); }

static bool simulate(void *context, u32 i, u64 *hash) {
    Run *r = context;
    char why[1024] = "";
    RandomProgram p = program_of(r, i);
    if (!r->sim) r->sim = random_sim_open();
    bool ok = r->sim && random_sim_run(r->sim, &p, &r->of_sim, why, sizeof why);
    if (!ok) printf("seed %llu: simulator: %s\n", (unsigned long long)p.seed, why);
    *hash = ok ? hash_of(&p, &r->of_sim) : 0;
    random_free(&p);
    return ok;
}

static int launch(Run *r, const RandomProgram *p, CampaignGpu *gpu) {
    static u8 input[RANDOM_INPUT];
    RandomResult *o = &r->of_gpu;
    RandomParams v = {.input = r->input, .acc = r->acc, .slots = r->slots, .out = r->out};
    void *values[] = {&v.input, &v.acc, &v.slots, &v.out, &v.p8, &v.p16, &v.p32, &v.p64, v.bytes};
    memset(o, 0, sizeof *o);
    random_data(p, input, o->acc, o->slots, &v);
    int rc = driver_write(gpu, r->input, input, sizeof input);
    if (!rc) rc = driver_write(gpu, r->acc, o->acc, sizeof o->acc);
    if (!rc) rc = driver_write(gpu, r->slots, o->slots, sizeof o->slots);
    if (!rc) rc = driver_clear(gpu, r->out, sizeof o->out);
    if (!rc) rc = driver_launch(gpu, p->name, p->grid, p->block, values);
    if (!rc) rc = driver_read(gpu, o->acc, r->acc, sizeof o->acc);
    if (!rc) rc = driver_read(gpu, o->slots, r->slots, sizeof o->slots);
    if (!rc) rc = driver_read(gpu, o->out, r->out, sizeof o->out);
    return rc;
}
static bool on_gpu(void *context, u32 i, CampaignGpu *gpu, u64 *hash) {
    Run *r = context;
    if (!r->input) {
        r->input = driver_memory(gpu, RANDOM_INPUT), r->acc = driver_memory(gpu, RANDOM_ACC);
        r->slots = driver_memory(gpu, sizeof r->of_gpu.slots), r->out = driver_memory(gpu, sizeof r->of_gpu.out);
    }
    RandomProgram p = program_of(r, i);
    int rc = launch(r, &p, gpu);
    if (rc) printf("seed %llu: GPU error %d\n", (unsigned long long)p.seed, rc);
    *hash = hash_of(&p, &r->of_gpu);
    random_free(&p);
    return rc == 0;
}

static u32 differences(FILE *f, const char *what, const void *gpu, const void *sim, u32 bytes, u32 row) {
    const u64 *a = gpu, *b = sim;
    u32 n = 0;
    for (u32 i = 0; i < bytes / 8; i++)
        if (a[i] != b[i] && n++ < 200)
            fprintf(f, "%s[%u][%u] gpu %016llx sim %016llx\n", what, i / row, i % row, (unsigned long long)a[i],
                    (unsigned long long)b[i]);
    return n;
}
static void report(void *context, u32 i) {
    Run *r = context;
    u64 ignored;
    char path[600];
    if (!simulate(context, i, &ignored)) return;
    RandomProgram p = program_of(r, i);
    snprintf(path, sizeof path, "%s/diff_%llu.txt", r->folder, (unsigned long long)p.seed);
    FILE *f = fopen(path, "w");
    if (f) {
        u32 n = differences(f, "out", r->of_gpu.out, r->of_sim.out, p.threads * RANDOM_ROW * 8, RANDOM_ROW);
        n += differences(f, "slot", r->of_gpu.slots, r->of_sim.slots, p.threads * RANDOM_SLOT, RANDOM_SLOT / 8);
        n += differences(f, "acc", r->of_gpu.acc, r->of_sim.acc, RANDOM_ACC, 8);
        printf("seed %llu: %u words differ (%u statements)\n", (unsigned long long)p.seed, n, p.statements);
        fclose(f);
    }
    random_free(&p);
}

static int dump(u64 seed, int cuts, char **numbers) {
    static RandomResult r;
    static u8 mask[1 << 16];
    char why[1024];
    for (int i = 0; i < cuts; i++) mask[(u16)atoi(numbers[i])] = 1;
    RandomCut cut = {mask, sizeof mask};
    RandomProgram p;
    RandomSim *sim = random_sim_open();
    if (!sim || !random_program(seed, &cut, &p)) return 2;
    if (!random_sim_run(sim, &p, &r, why, sizeof why)) printf("%s\n", why);
    for (u32 t = 0; t < p.threads; t++)
        for (u32 w = 0; w < RANDOM_ROW; w++)
            printf("out[%u][%u] %016llx\n", t, w, (unsigned long long)r.out[t * RANDOM_ROW + w]);
    random_free(&p);
    random_sim_close(sim);
    return 0;
}

// --- shrinking ----------------------------------------------------------------------------------------------------
enum { REDUCE_SECONDS = 40, TEST_MS = 4000 };
enum { SAME, DIFFERS, FAULTS };

// In a process of its own, as it may fault or not end.
static u32 trial(Run *r, const Campaign *c, const char *stem) {
    char path[128];
    snprintf(path, sizeof path, "%s.cubin", stem);
    if (!campaign_compile(c, 0, 1, stem)) return SAME;
    volatile u32 *verdict = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *verdict = FAULTS;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        u64 sim = 0, gpu = 0;
        CampaignGpu *g = driver_open();
        if (!g || driver_load(g, path) || !simulate(r, 0, &sim))
            *verdict = SAME;
        else if (on_gpu(r, 0, g, &gpu))
            *verdict = sim == gpu ? SAME : DIFFERS;
        if (*verdict == DIFFERS) report(r, 0);
        _exit(0);
    }
    for (u32 ms = 0; waitpid(pid, NULL, WNOHANG) == 0; ms += 5, usleep(5000))
        if (ms > TEST_MS) kill(pid, SIGKILL);
    u32 v = *verdict;
    munmap((void *)verdict, 4096);
    return v;
}
static void reduce(Run *r, const Campaign *c, u64 seed) {
    static u8 mask[1 << 16], kept[1 << 16];
    char stem[64], path[600];
    snprintf(stem, sizeof stem, "/tmp/reduce_%llu", (unsigned long long)seed);
    RandomCut cut = {mask, sizeof mask};
    r->first = seed, r->cut = &cut;
    RandomProgram p = program_of(r, 0);
    u32 what = trial(r, c, stem), tests = 1, end = p.statements;
    time_t until = time(NULL) + REDUCE_SECONDS;
    for (u32 n = (end + 1) / 2; what != SAME && n; n /= 2)
        for (u32 i = 0; i < end && time(NULL) < until; i += n) {
            memcpy(kept, mask, sizeof kept);
            memset(mask + i, 1, i + n < end ? n : end - i);
            if (!memcmp(kept, mask, sizeof kept)) continue;
            tests++;
            if (trial(r, c, stem) != what) memcpy(mask, kept, sizeof kept);
        }
    random_free(&p);
    p = program_of(r, 0);
    snprintf(path, sizeof path, "%s/reduced_%llu.ptx", r->folder, (unsigned long long)seed);
    FILE *f = fopen(path, "w");
    if (f) fputs(random_head, f), fputs(p.text, f), fclose(f);
    if (what == DIFFERS) trial(r, c, stem);
    u32 left = 0;
    for (u32 i = 0; i < end; i++) left += !mask[i];
    printf("seed %llu: %s, %u of %u statements left after %u tests\n", (unsigned long long)seed,
           what == SAME      ? "same"
           : what == DIFFERS ? "differs"
                             : "faults",
           left, end, tests);
    fflush(stdout);
}
static int reduce_all(Run *r, const Campaign *c, int n, char **seeds) {
    for (int i = 0; i < n; i++)
        if (!fork()) {
            reduce(r, c, strtoull(seeds[i], NULL, 0));
            exit(0);
        }
    while (wait(NULL) > 0) continue;
    return 0;
}

int main(int argc, char **argv) {
    static Run run;
    if (argc < 3) return puts("random_gpu ptx|sim|dump|gpu FIRST COUNT ..."), 2;
    run.first = strtoull(argv[2], NULL, 0);
    u32 count = argc > 3 ? (u32)strtoul(argv[3], NULL, 0) : 1;
    if (!strcmp(argv[1], "dump")) return dump(run.first, argc - 3, argv + 3);
    if (!strcmp(argv[1], "ptx")) {
        fputs(random_head, stdout);
        for (u32 i = 0; i < count; i++) text(&run, i, stdout);
        return 0;
    }
    Campaign c = {.count = count,
                  .batch = 16,
                  .head = random_head,
                  .level = 3,
                  .folder = ".",
                  .context = &run,
                  .name = name,
                  .text = text,
                  .simulate = simulate,
                  .on_gpu = on_gpu,
                  .report = report};
    if (!strcmp(argv[1], "sim")) {
        u64 *hashes = calloc(count, sizeof *hashes);
        if (!hashes) return 2;
        campaign_simulate(&c, argc > 4 ? (u32)atoi(argv[4]) : 1, hashes);
        for (u32 i = 0; i < count; i++)
            printf("%llu %016llx\n", (unsigned long long)(run.first + i), (unsigned long long)hashes[i]);
        free(hashes);
        return 0;
    }
    if (!strcmp(argv[1], "reduce")) {
        run.folder = argv[2];
        return reduce_all(&run, &c, argc - 3, argv + 3);
    }
    if (argc > 4) c.folder = run.folder = argv[4];
    if (argc > 5) c.level = (u32)atoi(argv[5]);
    if (argc > 6) c.seconds = strtoull(argv[6], NULL, 0);
    return campaign_run(&c);
}
