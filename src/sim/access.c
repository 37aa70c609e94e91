// SPDX-License-Identifier: Apache-2.0
// The parts of memory access that are the same for every host instruction set: one lane's address to host memory, with
// all checks; distinct sectors; bank conflicts.
#include "sim/exec/access.h"

#include "sim/check/check.h"
#include "sim/grid.h"
#include "sim/time/trace.h"

static u8 *fault_at(Exec *x, u32 lane, u64 address, u32 bytes, u8 space, bool store, FaultKind kind) {
    x->fault = (Fault){
        .kind = (u8)kind, .lane = (u8)lane, .space = space, .width = bytes, .is_store = store, .address = address};
    return NULL;
}

// What a GPU would not notice goes on; nobody else is executed meanwhile.
static u8 *go_on(Exec *x, u8 *there, u32 lane, u64 address, u32 bytes, u8 space, bool store) {
    if (x->grid->apart && (x->ahead || !x->alone)) return fault_at(x, lane, address, bytes, space, store, FAULT_LATER);
    Fault before = x->fault;
    fault_at(x, lane, address, bytes, space, store, FAULT_OUT_OF_BOUNDS);
    overrun_explain(x);
    x->fault = before;
    return there;
}

// Behind a CTA's shared memory, which a GPU gives out in units of 128 bytes and checks by them (bench/hwref,
// h100-shared-ends.tsv).
static u8 *resolve_behind(Exec *x, const Cta *cta, u32 lane, u64 address, u32 bytes, u8 space, bool store) {
    u64 end = (address & SHARED_OFFSET_MASK) + bytes;
    bool there = x->grid->sim->config.page && end <= cta_shared_end(x->grid, cta->shared_size);
    if (!there) return fault_at(x, lane, address, bytes, space, store, FAULT_OUT_OF_BOUNDS);
    return go_on(x, cta->shared + end - bytes, lane, address, bytes, space, store);
}

// Distributed shared memory: the CTA's rank + 1 is in the address.
static u8 *resolve_cluster(Exec *x, u32 lane, u64 address, u32 bytes, bool store) {
    const Cta *cta = address >> 32 ? NULL : cluster_cta(x->cta, (u32)(address >> SHARED_RANK_SHIFT) - 1);
    if (!cta) return fault_at(x, lane, address, bytes, SPACE_SHARED_CLUSTER, store, FAULT_NO_CTA);
    u64 offset = address & SHARED_OFFSET_MASK;
    if (offset + bytes > cta->shared_size)
        return resolve_behind(x, cta, lane, address, bytes, SPACE_SHARED_CLUSTER, store);
    return cta->shared + offset;
}

static u8 *resolve_shared(Exec *x, u32 lane, u64 offset, u32 bytes, bool store) {
    if (WL_UNLIKELY(offset >> SHARED_RANK_SHIFT)) return resolve_cluster(x, lane, offset, bytes, store);
    if (offset + bytes > x->shared_size) return resolve_behind(x, x->cta, lane, offset, bytes, SPACE_SHARED, store);
    return x->shared + offset;
}

static u8 *resolve_local(Exec *x, u32 lane, u64 offset, u32 bytes, bool store) {
    if (offset > x->local_stride || offset + bytes > x->local_stride)
        return fault_at(x, lane, offset, bytes, SPACE_LOCAL, store, FAULT_OUT_OF_BOUNDS);
    return x->local + lane * x->local_stride + offset;
}

static u8 *resolve_param(Exec *x, u32 lane, u64 offset, u32 bytes, bool store) {
    if (store) return fault_at(x, lane, offset, bytes, SPACE_PARAM, store, FAULT_READ_ONLY);
    if (offset > x->param_size || offset + bytes > x->param_size)
        return fault_at(x, lane, offset, bytes, SPACE_PARAM, store, FAULT_OUT_OF_BOUNDS);
    return (u8 *)(uintptr_t)x->params + offset;
}

// What the CTAs of a period only read, they may read in any order; the first write is made while nobody reads ahead.
static bool is_for_later(const Exec *x, SimAllocation *a, bool store) {
    Sim *sim = x->grid->sim;
    if ((a->kind != MEMORY_DEVICE && a->kind != MEMORY_MODULE) || a->mapped)
        return x->ahead;  // the host, or an alias, may write to it, too
    bool written = a->written_in == sim->period;
    if (!store || written) return x->ahead && written;
    if (!x->alone) return true;
    a->written_in = sim->period;
    sim->generation++;
    return false;
}

static u8 *resolve_beyond(Exec *x, u32 lane, u64 address, u32 bytes, u8 space, bool store) {
    u8 *there = memory_beyond(x->grid->sim, x->grid->device, address, bytes, store);
    if (!there) return fault_at(x, lane, address, bytes, space, store, FAULT_OUT_OF_BOUNDS);
    return go_on(x, there, lane, address, bytes, space, store);
}

static u8 *resolve_global(Exec *x, u32 lane, u64 address, u32 bytes, u8 space, bool store) {
    SimAllocation *a = memory_lookup(x->grid->sim, address);
    if (!a || address - a->address + bytes > a->size) return resolve_beyond(x, lane, address, bytes, space, store);
    if (!memory_reaches(x->grid->sim, x->grid->device, a))
        return fault_at(x, lane, address, bytes, space, store, FAULT_PEER);
    if (store && a->read_only) return fault_at(x, lane, address, bytes, space, store, FAULT_READ_ONLY);
    if (x->grid->apart && is_for_later(x, a, store))
        return fault_at(x, lane, address, bytes, space, store, FAULT_LATER);
    PcState *state = pc_state(x);
    state->start = a->address;
    state->size = a->size;
    state->delta = (i64)((u64)(uintptr_t)a->host - a->address);
    state->generation = x->grid->sim->generation;
    state->read_only = a->read_only;
    return a->host + (address - a->address);
}

static u8 space_of_window(u64 address) {
    switch (address >> WINDOW_SHIFT) {
    case WINDOW_SHARED >> WINDOW_SHIFT: return SPACE_SHARED;
    case WINDOW_LOCAL >> WINDOW_SHIFT: return SPACE_LOCAL;
    case WINDOW_PARAM >> WINDOW_SHIFT: return SPACE_PARAM;
    default: return SPACE_GLOBAL;
    }
}

u8 *access_plain(Exec *x, u32 lane, u64 address, u32 bytes, u32 align, u8 space, bool store, u8 *found_space) {
    u8 found = space == SPACE_NONE ? space_of_window(address) : space;
    if (space == SPACE_NONE && found != SPACE_GLOBAL) address &= (1ull << WINDOW_SHIFT) - 1;
    *found_space = found;
    if (address & (align - 1)) return fault_at(x, lane, address, bytes, found, store, FAULT_MISALIGNED);
    switch (found) {
    case SPACE_SHARED: return resolve_shared(x, lane, address, bytes, store);
    case SPACE_LOCAL: return resolve_local(x, lane, address, bytes, store);
    case SPACE_PARAM: return resolve_param(x, lane, address, bytes, store);
    default: return resolve_global(x, lane, address, bytes, found, store);
    }
}

u8 *access_aligned(Exec *x, u32 lane, u64 address, u32 bytes, u32 align, u8 space, bool store, u8 *found_space) {
    if (WL_UNLIKELY(x->check)) return check_resolve(x, lane, address, bytes, align, space, store, found_space);
    return access_plain(x, lane, address, bytes, align, space, store, found_space);
}

u8 *access_resolve(Exec *x, u32 lane, u64 address, u32 bytes, u8 space, bool store, u8 *found_space) {
    u32 align = bytes & (bytes - 1) ? 1 : bytes;
    return access_aligned(x, lane, address, bytes, align, space, store, found_space);
}

// A small open-addressing set: 64 places for at most 32 sectors.
u32 count_distinct_sectors(const u64 *address, u32 count) {
    u64 places[64];
    u64 used = 0;
    u32 distinct = 0;
    for (u32 i = 0; i < count; i++) {
        u64 sector = address[i] >> 5;
        if (i && sector == address[i - 1] >> 5) continue;
        u32 at = (u32)((sector * 0x9e3779b97f4a7c15ull) >> 58);
        while (used >> at & 1 && places[at] != sector) at = (at + 1) & 63;
        distinct += !(used >> at & 1);
        used |= 1ull << at;
        places[at] = sector;
    }
    return distinct;
}

// bank_degree() of all lanes, a word each, whose addresses are in equal steps; 0: they are not.
static u32 bank_degree_steps(const u64 *address) {
    u64 step = address[1] - address[0], differs = (address[LANES - 1] - address[0]) ^ step * (LANES - 1);
    if (differs | (step & 3)) return 0;
    for (u32 l = 2; l < LANES; l++) differs |= (address[l] - address[l - 1]) ^ step;
    if (differs) return 0;
    u32 banks = step >> 2 & 31;
    return !step ? 1 : banks ? banks & -banks : 32;
}

// ... whose words ascend, no more than two of a bank, or all of other banks; 0: neither.
static u32 bank_degree_pairs(const u64 *address) {
    u32 once = 0, twice = 0, more = 0;  // banks that so many lanes want
    u64 last = 0, falls = 0;            // bit 63: a word is not beyond the one before
    for (u32 l = 0; l < LANES; l++) {
        u64 word = address[l] >> 2;
        u32 bank = 1u << (word & 31);
        falls |= word - last;
        last = word + 1;
        more |= twice & bank;
        twice |= once & bank;
        once |= bank;
    }
    return !twice ? 1 : more || falls >> 63 ? 0 : 2;
}

static u32 bank_degree_all(const u64 *address) {
    u32 degree = bank_degree_steps(address);
    return degree ? degree : bank_degree_pairs(address);
}

// ... of one word a lane where the lanes' words ascend, or all want other banks; 0: neither.
static u32 bank_degree_ascending(const u64 *address, u32 mask) {
    u8 count[32] = {0};
    u32 worst = 1;
    i64 last = -1;
    bool ascending = true;
    for (u32 left = mask; left; left &= left - 1) {
        i64 word = (u32)(address[__builtin_ctz(left)] >> 2);
        if (word == last) continue;
        ascending &= word > last;
        last = word;
        u32 words = ++count[word & 31];
        if (words > worst) worst = words;
    }
    return ascending || worst == 1 ? worst : 0;
}

// ... where lanes that share a bank want the same word, or the lanes' words ascend; 0: neither.
static u32 bank_degree_simple(const u64 *address, u32 mask) {
    u32 first[32], last = 0, worst = 1;
    u8 count[32] = {0};
    bool clash = false, ascending = true;
    for (u32 left = mask; left; left &= left - 1) {
        u32 word = (u32)(address[__builtin_ctz(left)] >> 2), bank = word & 31;
        if (word == last && count[bank]) continue;
        ascending &= word > last || left == mask;
        last = word;
        if (!count[bank]++) {
            first[bank] = word;
            continue;
        }
        clash |= first[bank] != word;
        if (clash && !ascending) return 0;
        if (count[bank] > worst) worst = count[bank];
    }
    return clash ? worst : 1;
}

// Rows of a tile: the lanes of the second half want what those of the first do.
static bool halves_agree(const u64 *address) {
    u64 differ = 0;
    for (u32 l = 0; l < LANES / 2; l++) differ |= address[l] ^ address[l + LANES / 2];
    return !differ;
}

// Distinct words per bank, over the lanes of one pass; lanes that want the same word share it.
static u32 bank_degree(const u64 *address, u32 mask, u32 words) {
    u32 simple = 0;
    if (mask == FULL_MASK && halves_agree(address))
        mask &= FULL_MASK >> LANES / 2;
    else if (words == 1 && mask == FULL_MASK && address[0] != address[1])  // else neighbours share words
        simple = bank_degree_all(address);
    if (!simple && words == 1) simple = bank_degree_ascending(address, mask);
    if (!simple && words == 1) simple = bank_degree_simple(address, mask);
    if (simple) return simple;
    u32 chain[LANES * 4], value[LANES * 4], head[32], depth[32];
    u32 used = 0, worst = 0, entries = 0;
    for (u32 left = mask; left; left &= left - 1) {
        u32 first = (u32)(address[__builtin_ctz(left)] >> 2);
        for (u32 k = 0; k < words; k++) {
            u32 word = first + k, bank = word & 31;
            if (!(used >> bank & 1)) used |= 1u << bank, head[bank] = WL_NONE, depth[bank] = 0;
            u32 at = head[bank];
            while (at != WL_NONE && value[at] != word) at = chain[at];
            if (at != WL_NONE) continue;
            value[entries] = word;
            chain[entries] = head[bank];
            head[bank] = entries++;
            if (++depth[bank] > worst) worst = depth[bank];
        }
    }
    return worst;
}

// All lanes of `mask` want what the lane `apart` away wants, if that is one of them.
static bool partners_agree(const u64 *address, u32 mask, u32 apart) {
    for (u32 left = mask; left; left &= left - 1) {
        u32 lane = (u32)__builtin_ctz(left), other = lane ^ apart;
        if (mask >> other & 1 && address[lane] != address[other]) return false;
    }
    return true;
}

static bool served_at_once(const u64 *address, u32 mask) {
    return partners_agree(address, mask, 1) || partners_agree(address, mask, 2);
}

// Accesses of 8 and 16 bytes are served for half and quarter warps; loads for twice as many lanes at once where
// neighbours, or lanes two apart, want the same (bench/hwref/h200-shared-reads.tsv: all 138 patterns).
u32 count_wavefronts(const u64 *address, u32 mask, u32 bytes, bool load, u32 *fewest) {
    u32 passes = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4, total = 0, words = bytes <= 4 ? 1 : bytes / 4;
    *fewest = 0;
    if (passes == 1) {
        *fewest = mask != 0;
        return mask ? bank_degree(address, mask, 1) : 0;
    }
    u32 lanes = 2 * LANES / passes;
    for (u32 first = 0; first < LANES; first += lanes) {
        u32 part = mask & (lanes == LANES ? FULL_MASK : ((1u << lanes) - 1) << first), half = lanes / 2;
        u32 low = part & ((1u << half) - 1) << first, high = part & ~low;
        if (!part) continue;
        bool at_once = !low || !high || (load && served_at_once(address, part));
        *fewest += at_once ? 1 : 2;
        total += at_once ? bank_degree(address, part, words)
                         : bank_degree(address, low, words) + bank_degree(address, high, words);
    }
    return total;
}

// Words of the fullest bank, over the lanes of a turn; lanes that want the same word share it.
static u32 bank_turns(const GpuModel *gpu, const u64 *address, u32 mask, u32 words) {
    u64 seen[LANES * 4];
    u32 count = 0, worst = 0;
    u8 depth[64] = {0};
    for (u32 left = mask; left; left &= left - 1)
        for (u32 k = 0; k < words; k++) {
            u64 word = (address[__builtin_ctz(left)] + 4ull * k) / gpu->shared_bank_bytes;
            u32 at = 0;
            while (at < count && seen[at] != word) at++;
            if (at < count) continue;
            seen[count++] = word;
            u32 turns = ++depth[word % gpu->shared_banks];
            if (turns > worst) worst = turns;
        }
    return worst;
}

u32 count_wavefronts_of(const GpuModel *gpu, const u64 *address, u32 mask, u32 bytes, bool load, u32 *fewest) {
    u32 words = bytes <= 4 ? 1 : bytes / 4, lanes = (u32)gpu->shared_lanes, turns = 0, least = 0;
    u32 served = (u32)(gpu->shared_banks * gpu->shared_bank_bytes) / (4 * words);
    if (served < lanes) lanes = served ? served : 1;
    for (u32 first = 0; first < LANES; first += lanes) {
        u32 part = mask & (u32)(((1ull << lanes) - 1) << first);
        if (load && words > 1 && lanes < LANES && gpu->shared_lanes == LANES && first / lanes % 2 == 0) {
            u32 both = mask & (u32)(((1ull << 2 * lanes) - 1) << first);
            if (served_at_once(address, both)) part = both, first += lanes;
        }
        if (!part) continue;
        least++;
        turns += bank_turns(gpu, address, part, words);
    }
    *fewest = (least * (u32)gpu->shared_lanes + LANES - 1) / LANES;
    return (turns * (u32)gpu->shared_lanes + LANES - 1) / LANES;
}

static u32 wavefronts_of(const Exec *x, const u64 *address, u32 mask, u32 bytes, bool load, u32 *fewest) {
    if (WL_UNLIKELY(x->banks)) return count_wavefronts_of(x->banks, address, mask, bytes, load, fewest);
    return count_wavefronts(address, mask, bytes, load, fewest);
}

void access_count_global(Exec *x, const u64 *packed, u32 count, u32 bytes) {
    x->count->requests++;
    x->count->bytes += (u64)count * bytes;
    x->count->sectors += count_distinct_sectors(packed, count);
    if (WL_UNLIKELY(x->trace)) trace_global(x->trace, packed, count, bytes);
}

static u32 count_shared(Exec *x, const u64 *address, u32 mask, u32 bytes, bool load, u32 *fewest) {
    u32 wavefronts = wavefronts_of(x, address, mask, bytes, load, fewest);
    x->count->shared++;
    x->count->wavefronts += wavefronts;
    x->count->conflicts += wavefronts - *fewest;
    return wavefronts;
}

void access_count_shared(Exec *x, const u64 *address, u32 mask, u32 bytes, bool load) {
    u32 fewest, wavefronts = count_shared(x, address, mask, bytes, load, &fewest);
    if (WL_LIKELY(!x->trace)) return;
    trace_shared(x->trace, wavefronts, fewest, lanes_in(mask), bytes, access_is_distributed(x, address, mask));
}

// For the time that it takes, lanes of one bank follow each other, on the same word too (bench/hwref:
// shared/atomic_add).
void access_count_shared_atomic(Exec *x, const u64 *address, u32 mask, u32 bytes) {
    u32 fewest, wavefronts = count_shared(x, address, mask, bytes, false, &fewest);
    if (WL_LIKELY(!x->trace)) return;
    u8 lanes[64] = {0};
    const GpuModel *banks = x->banks;
    for (u32 left = mask; left; left &= left - 1) {
        u64 at = address[__builtin_ctz(left)];
        u32 turns = ++lanes[banks ? at / banks->shared_bank_bytes % banks->shared_banks : at >> 2 & 31];
        if (banks) turns = (turns * (u32)banks->shared_lanes + LANES - 1) / LANES;
        if (turns > wavefronts) wavefronts = turns;
    }
    trace_shared(x->trace, wavefronts, fewest, lanes_in(mask), bytes, access_is_distributed(x, address, mask));
}
