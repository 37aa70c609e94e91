// SPDX-License-Identifier: Apache-2.0
// Many kernels, compiled by ptxas in several processes, run on a GPU and on the simulator, and compared. A process of
// its own drives the GPU, so that a kernel that faults or does not end costs only itself.
#ifndef WL_CAMPAIGN_H
#define WL_CAMPAIGN_H

#include <stdio.h>

#include "base/types.h"

typedef struct CampaignGpu CampaignGpu;

typedef struct Campaign {
    u32 count, batch;  // kernels; of them in one module
    const char *head;  // of a module
    u32 level;         // ptxas -O
    u32 shown;         // differences reported at most; 0: 100
    u64 seconds;       // after which nothing more is begun
    void *context;
    void (*name)(void *context, u32 i, char *text, size_t size);
    void (*text)(void *context, u32 i, FILE *f);                        // the kernel, without head
    bool (*simulate)(void *context, u32 i, u64 *hash);                  // in a process of its own; says why not
    bool (*on_gpu)(void *context, u32 i, CampaignGpu *gpu, u64 *hash);  // false: a fault
    void (*report)(void *context, u32 i);                               // after on_gpu, where the hashes differ
} Campaign;

// The hashes of the results for each kernel, 0 where there is none. 0 when all ran and none differs.
int campaign_run(Campaign *c, u64 *of_gpu, u64 *of_sim);
// The hashes of the simulator alone.
void campaign_simulate(Campaign *c, u32 jobs, u64 *hashes);

// Compiles one module of kernels from `from` on into STEM.cubin, from STEM.ptx. Where ptxas crashes at this level it
// is asked again at -O0.
bool campaign_compile(const Campaign *c, u32 from, u32 n, const char *stem);

// The GPU of this process; NULL: none.
CampaignGpu *driver_open(void);
int driver_load(CampaignGpu *gpu, const char *path);  // a cubin, in place of the one before
// 0, or an error of the driver.
u64 driver_memory(CampaignGpu *gpu, u64 size);
int driver_write(CampaignGpu *gpu, u64 to, const void *from, size_t size);
int driver_read(CampaignGpu *gpu, void *to, u64 from, size_t size);
int driver_clear(CampaignGpu *gpu, u64 at, size_t size);
int driver_launch(CampaignGpu *gpu, const char *kernel, const u32 grid[3], const u32 block[3], void **values);

#endif
