// SPDX-License-Identifier: Apache-2.0
#include "campaign.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 4000, SHOWN = 100, MOST_JOBS = 256 };
enum State { ST_NONE, ST_OK, ST_ALONE, ST_NO_CUBIN, ST_FAILED };

// Shared by the processes of a campaign.
typedef struct Entry {
    volatile u64 sim_hash, gpu_hash;
    volatile u8 compiled, simulated, ran;  // State
} Entry;
static Entry *entries;
static volatile u32 *job_at;             // kernel that each job simulates
static volatile u32 *gpu_at, *gpu_beat;  // kernel in work; changes while the GPU's process lives
static u64 deadline = UINT64_MAX;        // now_ms() after which nothing is begun
static char scratch[] = "/tmp/campaign_XXXXXX";

static u64 now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}
static const char *name_of(const Campaign *c, u32 i) {
    static char text[256];
    c->name(c->context, i, text, sizeof text);
    return text;
}

// --- compiling and simulating -------------------------------------------------------------------------------------
bool campaign_compile(const Campaign *c, u32 from, u32 n, const char *stem) {
    char path[128], command[1024];
    snprintf(path, sizeof path, "%s.ptx", stem);
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fputs(c->head, f);
    for (u32 i = from; i < from + n; i++) c->text(c->context, i, f);
    fclose(f);
    snprintf(command, sizeof command,
             "ptxas -arch=sm_90 -O%u %s.ptx -o %s.part >%s.log 2>&1; rc=$?; "
             "if [ $rc = 139 ]; then ptxas -arch=sm_90 -O0 %s.ptx -o %s.part >%s.log 2>&1; rc=$?; fi; "
             "[ $rc = 0 ] && mv %s.part %s.cubin && rm %s.ptx",
             c->level, stem, stem, stem, stem, stem, stem, stem, stem, stem);
    return system(command) == 0;
}
static void complain(const Campaign *c, u32 i, const char *stem) {
    char line[700];
    snprintf(line, sizeof line, "%s.log", stem);
    FILE *f = fopen(line, "r");
    if (f && fgets(line, sizeof line, f)) printf("%s: %s", name_of(c, i), line);
    if (f) fclose(f);
}
static void compile_batch(const Campaign *c, u32 from, u32 n) {
    char stem[64];
    snprintf(stem, sizeof stem, "%s/b%u", scratch, from);
    if (campaign_compile(c, from, n, stem)) {
        for (u32 i = from; i < from + n; i++) entries[i].compiled = ST_OK;
        return;
    }
    for (u32 i = from; i < from + n; i++) {
        snprintf(stem, sizeof stem, "%s/s%u", scratch, i);
        bool ok = campaign_compile(c, i, 1, stem);
        if (!ok) complain(c, i, stem);
        entries[i].compiled = ok ? ST_ALONE : ST_NO_CUBIN;
    }
}
// Kernels of one job that are not done yet.
static void work(const Campaign *c, u32 id, u32 jobs, bool compile) {
    for (u32 from = id * c->batch; from < c->count && now_ms() < deadline; from += jobs * c->batch) {
        u32 n = c->count - from < c->batch ? c->count - from : c->batch;
        if (compile && !entries[from].compiled) compile_batch(c, from, n);
        for (u32 i = from; i < from + n; i++) {
            if (entries[i].simulated) continue;
            u64 hash = 0;
            job_at[id] = i;
            bool ok = c->simulate(c->context, i, &hash);
            entries[i].sim_hash = hash;
            entries[i].simulated = ok ? ST_OK : ST_FAILED;
        }
        fflush(stdout);
    }
}
// Goes on after a crash, behind what crashed.
static void worker(const Campaign *c, u32 id, u32 jobs, bool compile) {
    for (;;) {
        int status;
        pid_t pid = fork();
        if (!pid) {
            work(c, id, jobs, compile);
            exit(0);
        }
        if (waitpid(pid, &status, 0) < 0 || WIFEXITED(status)) return;
        printf("%s: the simulator crashed\n", name_of(c, job_at[id]));
        fflush(stdout);
        entries[job_at[id]].simulated = ST_FAILED;
    }
}
static u32 start_workers(const Campaign *c, u32 jobs, bool compile, pid_t *pids) {
    if (jobs > MOST_JOBS) jobs = MOST_JOBS;
    fflush(stdout);
    for (u32 k = 0; k < jobs; k++)
        if (!(pids[k] = fork())) {
            worker(c, k, jobs, compile);
            exit(0);
        }
    return jobs;
}

// --- GPU ----------------------------------------------------------------------------------------------------------
struct CampaignGpu {
    void *module;
    char loaded[64];
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int *, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuCtxSetLimit)(int, size_t);
    int (*cuMemAlloc_v2)(u64 *, size_t);
    int (*cuMemcpyHtoD_v2)(u64, const void *, size_t);
    int (*cuMemcpyDtoH_v2)(void *, u64, size_t);
    int (*cuMemsetD8_v2)(u64, u8, size_t);
    int (*cuModuleLoad)(void **, const char *);
    int (*cuModuleUnload)(void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuLaunchKernel)(void *, u32, u32, u32, u32, u32, u32, u32, void *, void **, void **);
    int (*cuCtxSynchronize)(void);
};

static bool open_driver(CampaignGpu *g) {
    enum { STACK_SIZE = 0 };
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (!cuda) return false;
    int device;
#define DRIVER(name)                              \
    do {                                          \
        void *symbol = dlsym(cuda, #name);        \
        memcpy(&g->name, &symbol, sizeof symbol); \
        if (!symbol) return false;                \
    } while (0)
    DRIVER(cuInit);
    DRIVER(cuDeviceGet);
    DRIVER(cuDevicePrimaryCtxRetain);
    DRIVER(cuCtxSetCurrent);
    DRIVER(cuCtxSetLimit);
    DRIVER(cuMemAlloc_v2);
    DRIVER(cuMemcpyHtoD_v2);
    DRIVER(cuMemcpyDtoH_v2);
    DRIVER(cuMemsetD8_v2);
    DRIVER(cuModuleLoad);
    DRIVER(cuModuleUnload);
    DRIVER(cuModuleGetFunction);
    DRIVER(cuLaunchKernel);
    DRIVER(cuCtxSynchronize);
#undef DRIVER
    return !g->cuInit(0) && !g->cuDeviceGet(&device, 0) && !g->cuDevicePrimaryCtxRetain(&context, device) &&
           !g->cuCtxSetCurrent(context) && !g->cuCtxSetLimit(STACK_SIZE, 16384);
}
CampaignGpu *driver_open(void) {
    CampaignGpu *g = calloc(1, sizeof *g);
    if (g && open_driver(g)) return g;
    free(g);
    return NULL;
}
int driver_load(CampaignGpu *gpu, const char *path) {
    if (gpu->module) gpu->cuModuleUnload(gpu->module);
    gpu->module = NULL;
    return gpu->cuModuleLoad(&gpu->module, path);
}
u64 driver_memory(CampaignGpu *gpu, u64 size) {
    u64 at = 0;
    return gpu->cuMemAlloc_v2(&at, size) ? 0 : at;
}
int driver_write(CampaignGpu *gpu, u64 to, const void *from, size_t size) {
    return gpu->cuMemcpyHtoD_v2(to, from, size);
}
int driver_read(CampaignGpu *gpu, void *to, u64 from, size_t size) { return gpu->cuMemcpyDtoH_v2(to, from, size); }
int driver_clear(CampaignGpu *gpu, u64 at, size_t size) { return gpu->cuMemsetD8_v2(at, 0, size); }
int driver_launch(CampaignGpu *gpu, const char *kernel, const u32 grid[3], const u32 block[3], void **values) {
    void *function;
    int rc = gpu->cuModuleGetFunction(&function, gpu->module, kernel);
    if (!rc)
        rc = gpu->cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, NULL, values,
                                 NULL);
    return rc ? rc : gpu->cuCtxSynchronize();
}

static bool load_module(const Campaign *c, CampaignGpu *gpu, u32 i) {
    char stem[64], path[96];
    bool alone = entries[i].compiled == ST_ALONE;
    snprintf(stem, sizeof stem, alone ? "%s/s%u" : "%s/b%u", scratch, alone ? i : i / c->batch * c->batch);
    if (!strcmp(stem, gpu->loaded)) return gpu->module != NULL;
    memcpy(gpu->loaded, stem, sizeof stem);
    snprintf(path, sizeof path, "%s.cubin", stem);
    int rc = driver_load(gpu, path);
    if (rc) printf("%s: load error %d\n", stem, rc);
    return rc == 0;
}
// Everything from kernel `from` on.
static void gpu_process(const Campaign *c, u32 from) {
    CampaignGpu *gpu = driver_open();
    u32 told = 0;
    if (!gpu) {
        puts("no GPU");
        exit(2);
    }
    for (u32 i = from; i < c->count; i++) {
        u64 hash = 0;
        *gpu_at = i;
        for (; !entries[i].compiled || !entries[i].simulated; usleep(2000)) {
            if (now_ms() > deadline) exit(0);
            ++*gpu_beat;
        }
        ++*gpu_beat;
        if (entries[i].compiled == ST_NO_CUBIN || !load_module(c, gpu, i)) continue;
        bool ok = c->on_gpu(c->context, i, gpu, &hash);
        entries[i].gpu_hash = hash;
        entries[i].ran = ok ? ST_OK : ST_FAILED;
        if (ok && entries[i].simulated == ST_OK && hash != entries[i].sim_hash &&
            told++ < (c->shown ? c->shown : SHOWN))
            c->report(c->context, i);
        fflush(stdout);
        if (!ok) exit(1);
    }
    exit(0);
}
static void run_gpu(const Campaign *c) {
    for (u32 from = 0, restarts = 0; from < c->count && restarts < 40 && now_ms() < deadline; restarts++) {
        *gpu_at = from;
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) gpu_process(c, from);
        u32 beat = *gpu_beat;
        int status = 0;
        for (u64 since = now_ms(); waitpid(pid, &status, WNOHANG) == 0; usleep(5000)) {
            if (*gpu_beat != beat)
                beat = *gpu_beat, since = now_ms();
            else if (now_ms() - since > LIMIT_MS) {
                printf("%s: no end on the GPU\n", name_of(c, *gpu_at));
                entries[*gpu_at].ran = ST_FAILED;
                kill(pid, SIGKILL);
                waitpid(pid, &status, 0);
                break;
            }
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) != 1) return;
        from = *gpu_at + 1;
    }
}

// --- the whole ----------------------------------------------------------------------------------------------------
static bool share(Campaign *c) {
    entries = mmap(NULL, c->count * sizeof *entries + 4 * (MOST_JOBS + 2), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (entries == MAP_FAILED) return false;
    gpu_at = (u32 *)(entries + c->count), gpu_beat = gpu_at + 1, job_at = gpu_beat + 1;
    if (c->seconds) deadline = now_ms() + 1000 * c->seconds;
    return true;
}
static int summary(const Campaign *c) {
    u32 both = 0, equal = 0, alone = 0;
    for (u32 i = 0; i < c->count; i++) {
        bool gpu = entries[i].ran == ST_OK, sim = entries[i].simulated == ST_OK;
        both += gpu && sim;
        alone += gpu && !sim;
        equal += gpu && sim && entries[i].gpu_hash == entries[i].sim_hash;
    }
    printf("%u kernels at -O%u: %u ran on both, %u equal, %u different; %u on the GPU only\n", c->count, c->level, both,
           equal, both - equal, alone);
    return equal < c->count;
}
int campaign_run(Campaign *c, u64 *of_gpu, u64 *of_sim) {
    pid_t pids[MOST_JOBS];
    char command[64];
    if (!share(c) || !mkdtemp(scratch)) return 2;
    u32 jobs = start_workers(c, (u32)sysconf(_SC_NPROCESSORS_ONLN), true, pids);
    run_gpu(c);
    for (u32 k = 0; k < jobs; k++) waitpid(pids[k], NULL, 0);
    for (u32 i = 0; i < c->count; i++) {
        of_gpu[i] = entries[i].ran == ST_OK ? entries[i].gpu_hash : 0;
        of_sim[i] = entries[i].simulated == ST_OK ? entries[i].sim_hash : 0;
    }
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    if (system(command)) puts("scratch files are left");
    return summary(c);
}
void campaign_simulate(Campaign *c, u32 jobs, u64 *hashes) {
    pid_t pids[MOST_JOBS];
    if (!share(c)) return;
    jobs = start_workers(c, jobs, false, pids);
    for (u32 k = 0; k < jobs; k++) waitpid(pids[k], NULL, 0);
    for (u32 i = 0; i < c->count; i++) hashes[i] = entries[i].simulated == ST_OK ? entries[i].sim_hash : 0;
}
