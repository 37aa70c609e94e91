// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's PM sampling and host profiling interfaces (cupti_pmsampling.h, cupti_profiler_host.h,
// cupti_profiler_target.h; CUDA 12.6 and newer) that the collector uses. Every structure begins with its own size, up
// to and with its last member.
#ifndef WL_COLLECT_CUPTI_PM_ABI_H
#define WL_COLLECT_CUPTI_PM_ABI_H

#include <stddef.h>

#include "base/types.h"

#define CUPTI_SIZE_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

enum { CUPTI_PROFILER_PM = 1 };                                                       // of CuptiHostInit.profiler
enum { CUPTI_PM_BY_SYSCLK = 0, CUPTI_PM_BY_TIME = 1 };                                // CuptiPmConfig.trigger
enum { CUPTI_PM_KEEP_OLDEST = 0, CUPTI_PM_KEEP_LATEST = 1 };                          // CuptiPmConfig.append
enum { CUPTI_PM_STOPPED = 0, CUPTI_PM_IMAGE_FULL = 1, CUPTI_PM_END_OF_RECORDS = 2 };  // CuptiPmDecode.stop

typedef struct CuptiChipName {
    size_t size;
    void *priv;
    size_t device;
    const char *name;
} CuptiChipName;

// --- on the host: which counters, in how many passes, what they say ---
typedef struct CuptiHostInit {
    size_t size;
    void *priv;
    u32 profiler;
    const char *chip;
    const u8 *availability;
    void *host;
} CuptiHostInit;
typedef struct CuptiHostEnd {
    size_t size;
    void *priv;
    void *host;
} CuptiHostEnd;
typedef struct CuptiHostAdd {
    size_t size;
    void *priv;
    void *host;
    const char **names;
    size_t count;
} CuptiHostAdd;
typedef struct CuptiHostConfigSize {
    size_t size;
    void *priv;
    void *host;
    size_t bytes;
} CuptiHostConfigSize;
typedef struct CuptiHostConfig {
    size_t size;
    void *priv;
    void *host;
    size_t bytes;
    u8 *config;
} CuptiHostConfig;
typedef struct CuptiHostPasses {
    size_t size;
    void *priv;
    size_t bytes;
    u8 *config;
    size_t passes;
} CuptiHostPasses;
typedef struct CuptiHostEvaluate {
    size_t size;
    void *priv;
    void *host;
    const u8 *image;
    size_t image_bytes;
    size_t sample;
    const char **names;
    size_t count;
    double *values;
} CuptiHostEvaluate;

// --- on the device ---
typedef struct CuptiPmAvailability {
    size_t size;
    void *priv;
    size_t device;
    size_t bytes;
    u8 *availability;
} CuptiPmAvailability;
typedef struct CuptiPmEnable {
    size_t size;
    void *priv;
    size_t device;
    void *object;
} CuptiPmEnable;
typedef struct CuptiPmObject {  // disable, start, stop
    size_t size;
    void *priv;
    void *object;
} CuptiPmObject;
typedef struct CuptiPmConfig {
    size_t size;
    void *priv;
    void *object;
    size_t bytes;
    const u8 *config;
    size_t hardware_bytes;
    u64 interval;  // ns, CUPTI_PM_BY_TIME
    u32 trigger, append;
} CuptiPmConfig;
typedef struct CuptiPmImageSize {
    size_t size;
    void *priv;
    void *object;
    const char **names;
    size_t count;
    u32 samples;
    size_t bytes;
} CuptiPmImageSize;
typedef struct CuptiPmImage {
    size_t size;
    void *priv;
    void *object;
    size_t bytes;
    u8 *image;
} CuptiPmImage;
typedef struct CuptiPmDecode {
    size_t size;
    void *priv;
    void *object;
    u8 *image;
    size_t bytes;
    u32 stop;
    u8 overflow;
} CuptiPmDecode;
typedef struct CuptiPmImageInfo {
    size_t size;
    void *priv;
    const u8 *image;
    size_t bytes;
    size_t room, populated, completed;
} CuptiPmImageInfo;
typedef struct CuptiPmSample {
    size_t size;
    void *priv;
    void *object;
    const u8 *image;
    size_t bytes;
    size_t sample;
    u64 begin, end;
} CuptiPmSample;

#endif
