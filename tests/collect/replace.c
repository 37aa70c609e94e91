// SPDX-License-Identifier: Apache-2.0
// CollectHost.replace: the driver loads what it gives. Prints what was loaded, and that collection went on.
#include <stdio.h>
#include <string.h>

#include "collect/collect.h"
#include "mock.h"

static u32 launches;

static Status count(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    (void)sink, (void)fixed, (void)tail, (void)size;
    launches += kind == RECORD_LAUNCH_DONE;
    return STATUS_OK;
}
static Status flush(Sink *sink) { return (void)sink, STATUS_OK; }

static Sink sink = {count, flush};
static Sink *give_sink(void *context) { return (void)context, &sink; }

static const void *replace(void *context, const void *code) { return strcmp(code, "some code") == 0 ? context : NULL; }

int main(void) {
    char other[] = "other code";
    CollectHost host = {.options = {.activities = true, .launch_count = UINT64_MAX, .end_seconds = 60},
                        .sink = give_sink,
                        .replace = replace,
                        .context = other};
    if (collect_begin(&host) != STATUS_OK) return 1;
    const char *first = mock_load("some code"), *second = mock_load("code");
    mock_launch("kernel");
    if (!collect_end(0)) return 1;
    printf("%s, %s, %u launch\n", first, second, launches);
    return 0;
}
