// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: what an edge of the shore adds to the winding number is put together from comparisons instead of nested ifs.
// Why: the ships of a warp lie anywhere, so nearly every edge sends it through both arms, which compute the same side
//      test twice; three comparisons and a sum cost less than the jumps.
#include "../common.h"

enum { BLOCK = 256, CHUNK = 512, REACH = 8000 };

// Chart coordinates: 16 bits are a quarter of a cable on this sheet.
typedef short2 Position;

// Twice the area of the triangle; positive if c lies to the left of the line from a to b.
__host__ __device__ static inline int side_of(Position a, Position b, Position c) {
    return (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
}

// What one edge adds to the winding number around a ship (Sunday's algorithm).
__device__ static inline int winding_of_edge(Position a, Position b, Position ship) {
#ifdef AFTER
    int side = side_of(a, b, ship);
    int starts_below = a.y <= ship.y, ends_below = b.y <= ship.y;
    return (starts_below & !ends_below & (side > 0)) - (!starts_below & ends_below & (side < 0));
#else
    if (a.y <= ship.y) {
        if (b.y > ship.y) {
            if (side_of(a, b, ship) > 0)
                return 1;
        }
    } else {
        if (b.y <= ship.y) {
            if (side_of(a, b, ship) < 0)
                return -1;
        }
    }
    return 0;
#endif
}

// Is the reported position of a ship on land? The shore is closed: its last vertex is its first.
__global__ void flag_aground(const Position *__restrict__ ships, int count, const Position *__restrict__ shore,
                             int edges, signed char *aground) {
    __shared__ Position part[CHUNK + 1];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    Position ship = ships[min(i, count - 1)];
    int winding = 0;
    for (int start = 0; start < edges; start += CHUNK) {
        int here = min((int)CHUNK, edges - start);
        __syncthreads();
        for (int v = threadIdx.x; v <= here; v += BLOCK)
            part[v] = shore[start + v];
        __syncthreads();
        for (int e = 0; e < here; e++)
            winding += winding_of_edge(part[e], part[e + 1], ship);
    }
    if (i < count)
        aground[i] = winding != 0;
}

// A coast full of inlets: the distance from the middle jumps from vertex to vertex.
static std::vector<Position> make_shore(int edges) {
    std::vector<Position> shore;
    unsigned seed = 5;
    for (int e = 0; e < edges; e++) {
        double angle = 6.283185307 * e / edges, wide = 0.45 + 0.3 * cos(3 * angle) * cos(3 * angle);
        double r = REACH * (wide + lcg_next(&seed, 1000) / 4500.0);
        shore.push_back(make_short2((short)(r * cos(angle)), (short)(r * sin(angle))));
    }
    shore.push_back(shore[0]);
    return shore;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "peninsulas");
    int count = p.small ? 2000 : 1 << 20, edges = p.small ? 100 : 700;
    std::vector<Position> shore = make_shore(edges), ships;
    unsigned seed = 6;
    for (int i = 0; i < count; i++) {
        short x = (short)((int)lcg_next(&seed, 2 * REACH) - REACH);
        ships.push_back(make_short2(x, (short)((int)lcg_next(&seed, 2 * REACH) - REACH)));
    }
    Position *d_shore = device_copy_of(shore.data(), shore.size()), *d_ships = device_copy_of(ships.data(), count);
    signed char *d_aground = device_array<signed char>(count);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { flag_aground<<<blocks, BLOCK>>>(d_ships, count, d_shore, edges, d_aground); });
    std::vector<signed char> aground = host_copy_of(d_aground, count);
    for (int i = 0; i < count; i += p.small ? 1 : 19) {
        int winding = 0;
        for (int e = 0; e < edges; e++) {
            Position a = shore[e], b = shore[e + 1];
            bool up = a.y <= ships[i].y && b.y > ships[i].y, down = a.y > ships[i].y && b.y <= ships[i].y;
            int side = side_of(a, b, ships[i]);
            winding += up && side > 0 ? 1 : down && side < 0 ? -1 : 0;
        }
        pair_near(&p, "aground", i, winding != 0, aground[i], 0);
    }
    return pair_end(&p);
}
