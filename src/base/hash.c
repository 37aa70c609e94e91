// SPDX-License-Identifier: Apache-2.0
// Multiply-and-fold hashing after wyhash (Wang Yi, public domain), with an odd constant per role. Not for adversaries.
#include "base/map.h"

#include <string.h>

static const u64 start_key = 0xa0761d6478bd642full;
static const u64 block_key = 0xe7037ed1a0b428dbull;
static const u64 end_key = 0x8ebc6af09c88c6e3ull;

static u64 fold(u64 a, u64 b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (u64)product ^ (u64)(product >> 64);
}

static u64 load(const u8 *bytes) {
    u64 word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

u64 hash_bytes(const void *data, size_t len) {
    const u8 *at = data;
    u64 state = start_key;
    size_t left = len;
    for (; left > 16; left -= 16, at += 16) state = fold(load(at) ^ block_key, load(at + 8) ^ state);
    u8 tail[16] = {0};
    if (left) memcpy(tail, at, left);
    state = fold(load(tail) ^ block_key, load(tail + 8) ^ state);
    return fold(state ^ end_key, (u64)len ^ block_key);
}
