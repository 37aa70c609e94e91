// SPDX-License-Identifier: Apache-2.0
// Nsight Compute on the same GPU. A process that it profiles there has a write lock on lock.UUID in
// TMPDIR/nvidia/nsight_compute (2025.3). Sampling that begins meanwhile may lose the program's launches, or end it:
// CUPTI (13.0, on an H200) then fails with error 999, crashes or hangs.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/collect_inside.h"

static bool is_held(int folder, const char *name) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(file);
    return held;
}

static bool name_lock(const Collector *c, u32 device, char *name, size_t size) {
    u8 u[16];
    if (!c->device_uuid || c->device_uuid(u, (int)device) != 0) return false;
    snprintf(name, size, "lock.%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
             u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    return true;
}

// Of any GPU, where this one's UUID is not known.
static bool is_any_held(DIR *folder) {
    bool held = false;
    for (struct dirent *entry; !held && (entry = readdir(folder));)
        held = strncmp(entry->d_name, "lock.", 5) == 0 && is_held(dirfd(folder), entry->d_name);
    return held;
}

bool nsight_has_device(const Collector *c, u32 device) {
    char path[4096], name[64];
    const char *temporary = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/nvidia/nsight_compute", temporary && *temporary ? temporary : "/tmp");
    DIR *folder = opendir(path);
    if (!folder) return false;
    bool held = name_lock(c, device, name, sizeof name) ? is_held(dirfd(folder), name) : is_any_held(folder);
    closedir(folder);
    return held;
}
