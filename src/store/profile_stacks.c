// SPDX-License-Identifier: Apache-2.0
// The host's call stacks.
#include "store/profile.h"

static Status read_frames(Profile *profile, ProfileStatement statement, u32 stack, const ProfileFrame **frames,
                          u32 *count, Diag *diag) {
    Vec(ProfileFrame) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, statement, stack, 0);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileFrame row = {.id = query_u32(&query, 0),
                            .object = query_text(&query, 1),
                            .offset = query_u64(&query, 2),
                            .symbol = query_text(&query, 3),
                            .file = query_text(&query, 4),
                            .line = query_u32(&query, 5),
                            .object_id = query_u32(&query, 6)};
        if (query.code == SQLITE_OK) status = vec_push(&rows, row);
    }
    *frames = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    *count = rows.len;
    vec_free(&rows);
    return query_finish(&query, status == STATUS_OK && !*frames ? STATUS_NO_MEMORY : status, diag);
}

Status profile_frames(Profile *profile, const ProfileFrame **frames, u32 *count, Diag *diag) {
    return read_frames(profile, PROFILE_FRAMES, 0, frames, count, diag);
}

Status profile_stack(Profile *profile, u32 stack, const ProfileFrame **frames, u32 *count, Diag *diag) {
    return read_frames(profile, PROFILE_STACK, stack, frames, count, diag);
}
