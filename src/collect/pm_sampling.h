// SPDX-License-Identifier: Apache-2.0
// Counters over time on a GPU (cupti_pmsampling.h). A thread of its own per GPU begins, decodes in chunks and ends;
// what it decoded goes through a lock-free queue to the writer, which alone keeps timelines and writes them. Internal
// to collect.
#ifndef WL_COLLECT_PM_SAMPLING_H
#define WL_COLLECT_PM_SAMPLING_H

#include "collect/collect_inside.h"

// On the program's thread, when a context was created: its GPU is to be sampled.
void pm_sampling_wanted(Collector *c, void *context);
// The writer: begins with GPUs that are wanted, takes what was decoded, and writes it now and then.
void pm_sampling_take(Collector *c);
// The writer: a launch was recorded. It gets points of its own once the samples have passed its end.
void pm_sampling_launch(Collector *c, const RecordLaunchDone *launch);
// The writer, at the end: everything that is left.
void pm_sampling_end(Collector *c);

#endif
