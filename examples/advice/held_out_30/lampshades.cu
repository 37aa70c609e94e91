// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: a face's three vertices are read from a list of corners instead of by walking its half-edges.
// Why: the chain face, half-edge, next, next, vertex, position becomes the chain corner, position.
#include "../common.h"

enum { BLOCK = 256 };

struct HalfEdge {
    int next, twin, origin, face;
};

struct Point {
    float x, y, z;
};

// Paper needed for each triangle of a lampshade's surface mesh, and how much it leans.
__global__ void paper(const int *first_edge, const HalfEdge *edges, const int *corners, const Point *points,
                      float *area, float *lean, int faces) {
    int f = blockIdx.x * BLOCK + threadIdx.x;
    if (f >= faces)
        return;
#ifdef AFTER
    int va = corners[f], vb = corners[faces + f], vc = corners[2 * faces + f];
#else
    int ea = first_edge[f];
    int eb = edges[ea].next;
    int ec = edges[eb].next;
    int va = edges[ea].origin, vb = edges[eb].origin, vc = edges[ec].origin;
#endif
    Point a = points[va], b = points[vb], c = points[vc];
    float ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
    float vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
    float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    float length = sqrtf(nx * nx + ny * ny + nz * nz);
    area[f] = 0.5f * length;
    lean[f] = nz / (length + 1e-20f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lampshades");
    int rows = p.small ? 30 : 1050, columns = p.small ? 44 : 1300;
    int faces = 2 * rows * columns, vertices = (rows + 1) * columns;
    std::vector<float> bumps = random_floats(vertices, 0, 0.2f, 7);
    std::vector<Point> points(vertices);
    for (int r = 0; r <= rows; r++)
        for (int c = 0; c < columns; c++) {
            float angle = 6.2831853f * c / columns, radius = 20 + 15.0f * r / rows + bumps[r * columns + c];
            points[r * columns + c] = {radius * cosf(angle), radius * sinf(angle), 40.0f * r / rows};
        }
    std::vector<int> corners((size_t)3 * faces);
    for (int r = 0, f = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            int a = r * columns + c, b = r * columns + (c + 1) % columns, up = columns;
            int triangles[2][3] = {{a, b, a + up}, {b, b + up, a + up}};
            for (int t = 0; t < 2; t++, f++)
                for (int k = 0; k < 3; k++)
                    corners[(size_t)k * faces + f] = triangles[t][k];
        }
    // Half-edges are numbered as the modelling tool made them: in mixed order within small patches.
    std::vector<int> number((size_t)3 * faces);
    unsigned seed = 8;
    for (size_t from = 0; from < number.size(); from += 120) {
        int count = (int)std::min<size_t>(120, number.size() - from);
        for (int i = 0; i < count; i++)
            number[from + i] = (int)from + i;
        for (int i = count - 1; i > 0; i--)
            std::swap(number[from + i], number[from + lcg_next(&seed, i + 1)]);
    }
    std::vector<HalfEdge> edges((size_t)3 * faces);
    std::vector<int> first_edge(faces);
    for (int f = 0; f < faces; f++) {
        first_edge[f] = number[3 * f];
        for (int k = 0; k < 3; k++)
            edges[number[3 * f + k]] = {number[3 * f + (k + 1) % 3], -1, corners[(size_t)k * faces + f], f};
    }
    int *d_first_edge = device_copy_of(first_edge.data(), faces);
    HalfEdge *d_edges = device_copy_of(edges.data(), edges.size());
    int *d_corners = device_copy_of(corners.data(), corners.size());
    Point *d_points = device_copy_of(points.data(), vertices);
    float *d_area = device_array<float>(faces), *d_lean = device_array<float>(faces);
    pair_time(&p, [&] {
        paper<<<(faces + BLOCK - 1) / BLOCK, BLOCK>>>(d_first_edge, d_edges, d_corners, d_points, d_area, d_lean,
                                                      faces);
    });
    std::vector<float> area = host_copy_of(d_area, faces), lean = host_copy_of(d_lean, faces);
    for (int f = 0; f < faces; f += 53) {
        Point a = points[corners[f]], b = points[corners[(size_t)faces + f]],
              c = points[corners[2 * (size_t)faces + f]];
        double ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z, vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
        double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        double length = sqrt(nx * nx + ny * ny + nz * nz);
        pair_near(&p, "area", f, 0.5 * length, area[f], 1e-4);
        pair_near(&p, "lean", f, nz / length, lean[f], 1e-3);
    }
    return pair_end(&p);
}
