// SPDX-License-Identifier: Apache-2.0
// Random programs on a GPU and on the simulator: what differs.
//   random_gpu ptx SEED [COUNT [apart]]        the text of programs
//   random_gpu sim FIRST COUNT [JOBS]          hashes of the simulator's results
//   random_gpu dump SEED [CUT..]               the simulator's results, word by word; without some statements
//   random_gpu gpu FIRST COUNT FOLDER [LEVEL [SECONDS]]
//                                              both; ptxas -O LEVEL (3); what differs goes into FOLDER, with the hashes
//                                              of the GPU's results (random.hashes; several in a row make the file of
//                                              the tests)
//   random_gpu apart FOLDER LEVEL SEED..       both, of some programs, all with their instructions apart
//   random_gpu replay [JOBS]                   the simulator against all recorded hashes
//   random_gpu reduce FOLDER LEVEL SEED..      fewest statements that still differ
//   random_gpu faults FOLDER LEVEL SEED..      fewest statements that still fault or hang on the GPU
// Run it in a folder with gpus/. CI has no GPU; random_test.c replays what was recorded.
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "campaign.h"
#include "random_apart.h"
#include "random_record.h"
#include "random_sim.h"

typedef struct Run {
    u64 first;
    const u64 *seeds;                  // NULL: those from `first` on
    enum { LISTED, ALL, NONE } apart;  // which the GPU gets with their instructions apart
    const RandomCut *cut;
    const char *folder;
    RandomSim *sim;
    RandomResult of_sim, of_gpu;
    u64 input, acc, slots, out;  // on the GPU
    CampaignGpu *gpu;            // of a shrinking process; NULL: one for each trial
    bool guarded;                // each trial in a process of its own
} Run;

static u64 seed_of(const Run *r, u32 i) { return r->seeds ? r->seeds[i] : r->first + i; }
static RandomProgram program_of(const Run *r, u32 i) {
    RandomProgram p;
    if (!random_program(seed_of(r, i), r->cut, &p)) exit(2);
    return p;
}
static void name(void *context, u32 i, char *text, size_t size) {
    snprintf(text, size, "seed %llu", (unsigned long long)seed_of(context, i));
}
static void text(void *context, u32 i, FILE *f) {
    const Run *r = context;
    RandomProgram p = program_of(r, i);
    ApartReason reason = random_apart_reason(p.seed);
    bool apart = r->apart == ALL || (r->apart == LISTED && reason != APART_NONE && reason != APART_GUARDED);
    if (apart && !random_apart(&p)) exit(2);
    fputs(p.text, f);
    random_free(&p);
}
static u64 hash_of(const RandomProgram *p, const RandomResult *r) { return random_hash(p, r->acc, r->slots, r->out); }

static bool simulate(void *context, u32 i, u64 *hash) {
    Run *r = context;
    char why[1024] = "";
    RandomProgram p = program_of(r, i);
    if (r->apart == LISTED && random_apart_reason(p.seed) == APART_GUARDED) random_lose_guards(&p);
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
enum { REDUCE_SECONDS = 20, TEST_MS = 1000, TOGETHER = 12 };
enum { SAME, DIFFERS, FAULTS };

static u32 verdict_of(Run *r, CampaignGpu *g, const char *stem) {
    char path[128];
    u64 sim = 0, gpu = 0;
    snprintf(path, sizeof path, "%s.cubin", stem);
    if (driver_load(g, path) || !simulate(r, 0, &sim)) return SAME;
    if (!on_gpu(r, 0, g, &gpu)) return FAULTS;
    return sim == gpu ? SAME : DIFFERS;
}
// In a process of its own, as it may fault or not end.
static u32 guarded_verdict(Run *r, const char *stem) {
    volatile u32 *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared[0] = FAULTS, shared[1] = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        CampaignGpu *g = driver_open();
        shared[1] = 1;
        shared[0] = g ? verdict_of(r, g, stem) : SAME;
        _exit(0);
    }
    for (u32 ms = 0; waitpid(pid, NULL, WNOHANG) == 0; ms += shared[1] ? 5 : 0, usleep(5000))
        if (ms > TEST_MS) kill(pid, SIGKILL);
    u32 v = shared[0];
    munmap((void *)shared, 4096);
    return v;
}
static u32 trial(Run *r, const Campaign *c, const char *stem) {
    if (!campaign_compile(c, 0, 1, stem)) return SAME;
    if (r->guarded) return guarded_verdict(r, stem);
    if (!r->gpu) r->gpu = driver_open();
    return r->gpu ? verdict_of(r, r->gpu, stem) : SAME;
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
    if (what == DIFFERS && trial(r, c, stem) == DIFFERS) report(r, 0);
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
    for (int i = 0; i < n; i++) {
        if (i >= TOGETHER) wait(NULL);
        if (!fork()) {
            alarm(2 * REDUCE_SECONDS);
            reduce(r, c, strtoull(seeds[i], NULL, 0));
            exit(0);
        }
    }
    while (wait(NULL) > 0) continue;
    return 0;
}

// --- instructions apart -------------------------------------------------------------------------------------------
static int run_apart(Run *r, Campaign *c, int n, char **numbers) {
    u64 *seeds = calloc((size_t)n, sizeof *seeds), *of_gpu = calloc((size_t)n, sizeof *of_gpu),
        *of_sim = calloc((size_t)n, sizeof *of_sim);
    if (!seeds || !of_gpu || !of_sim) return 2;
    for (int i = 0; i < n; i++) seeds[i] = strtoull(numbers[i], NULL, 0);
    r->seeds = seeds, c->count = (u32)n, c->batch = 1, c->shown = (u32)n;
    int rc = campaign_run(c, of_gpu, of_sim);
    for (int i = 0; i < n; i++)
        printf("seed %llu: 0x%08x%s\n", (unsigned long long)seeds[i], of_gpu[i] ? random_short_hash(of_gpu[i]) : 0,
               !of_gpu[i]               ? " did not run"
               : of_gpu[i] != of_sim[i] ? " differs"
                                        : "");
    free(seeds), free(of_gpu), free(of_sim);
    return rc;
}

// --- recorded hashes ----------------------------------------------------------------------------------------------
static int record(const Run *r, const u64 *hashes, u32 count) {
    char path[600];
    snprintf(path, sizeof path, "%s/random.hashes", r->folder);
    FILE *f = fopen(path, "wb");
    for (u32 i = 0; f && i < count; i++) {
        u32 h = hashes[i] ? random_short_hash(hashes[i]) : 0;
        u8 b[4] = {(u8)h, (u8)(h >> 8), (u8)(h >> 16), (u8)(h >> 24)};
        fwrite(b, 4, 1, f);
    }
    return f ? fclose(f) : 1;
}
static int replay(Run *r, Campaign *c, u32 jobs) {
    u32 wrong = 0, run = 0, *hashes = random_recorded(NULL, &c->count);
    u64 *sim = calloc(c->count + 1, sizeof *sim);
    if (!hashes || !sim) return 2;
    r->first = RANDOM_FIRST;
    campaign_simulate(c, jobs, sim);
    for (u32 i = 0; i < c->count; i++) {
        if (!hashes[i]) continue;
        run++;
        if (sim[i] && random_short_hash(sim[i]) == hashes[i]) continue;
        printf("seed %u: not what the GPU gave\n", RANDOM_FIRST + i);
        wrong++;
    }
    printf("%u programs: %u wrong\n", run, wrong);
    free(hashes);
    free(sim);
    return wrong != 0;
}

int main(int argc, char **argv) {
    static Run run;
    if (argc < 2) return puts("random_gpu ptx|sim|dump|gpu|replay|reduce ..."), 2;
    if (argc > 2) run.first = strtoull(argv[2], NULL, 0);
    u32 count = argc > 3 ? (u32)strtoul(argv[3], NULL, 0) : 1;
    if (!strcmp(argv[1], "dump")) return dump(run.first, argc - 3, argv + 3);
    if (!strcmp(argv[1], "ptx")) {
        run.apart = argc > 4 ? ALL : NONE;
        fputs(random_head, stdout);
        for (u32 i = 0; i < count; i++) text(&run, i, stdout);
        return 0;
    }
    Campaign c = {.count = count,
                  .batch = 16,
                  .head = random_head,
                  .level = 3,

                  .context = &run,
                  .name = name,
                  .text = text,
                  .simulate = simulate,
                  .on_gpu = on_gpu,
                  .report = report};
    if (!strcmp(argv[1], "replay"))
        return replay(&run, &c, argc > 2 ? (u32)atoi(argv[2]) : (u32)sysconf(_SC_NPROCESSORS_ONLN));
    if (!strcmp(argv[1], "sim")) {
        u64 *hashes = calloc(count, sizeof *hashes);
        if (!hashes) return 2;
        campaign_simulate(&c, argc > 4 ? (u32)atoi(argv[4]) : 1, hashes);
        for (u32 i = 0; i < count; i++)
            printf("%llu %016llx\n", (unsigned long long)(run.first + i), (unsigned long long)hashes[i]);
        free(hashes);
        return 0;
    }
    bool apart = !strcmp(argv[1], "apart");
    if (apart || !strcmp(argv[1], "reduce") || !strcmp(argv[1], "faults")) {
        if (argc < 5) return 2;
        run.folder = argv[2];
        run.apart = apart ? ALL : NONE;
        run.guarded = *argv[1] == 'f';
        c.level = (u32)atoi(argv[3]);
        return apart ? run_apart(&run, &c, argc - 4, argv + 4) : reduce_all(&run, &c, argc - 4, argv + 4);
    }
    run.folder = argc > 4 ? argv[4] : ".";
    if (argc > 5) c.level = (u32)atoi(argv[5]);
    if (argc > 6) c.seconds = strtoull(argv[6], NULL, 0);
    u64 *hashes = calloc(count, sizeof *hashes), *of_sim = calloc(count, sizeof *of_sim);
    if (!hashes || !of_sim) return 2;
    int rc = campaign_run(&c, hashes, of_sim);
    free(of_sim);
    if (record(&run, hashes, count)) rc = 2;
    free(hashes);
    return rc;
}
