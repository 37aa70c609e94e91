// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the switch over a person's state becomes a row of a table, looked up with the state, and selects.
// Why: the people of a warp are in five states, so a warp walks through all cases of the switch, every day.
#include "../common.h"

enum State { SUSCEPTIBLE, EXPOSED, ILL, WARD, IMMUNE, STATES };
enum { BLOCK = 192, AGE_GROUPS = 8 };

// How a state is left: with chance `rate` times the driver of the day, after `stay` days or more, to `next`; one in
// eight to `rare` instead.
struct __align__(16) Exit {
    unsigned rate, stay;
    unsigned next, rare;
};

struct Person {
    unsigned char state, age_group;
    unsigned short since;  // days in the state at the start
};

struct Course {
    unsigned infections, days_ill, days_ward, state;
};

static __host__ __device__ unsigned draw(unsigned *random) {
    *random = *random * 1664525u + 1013904223u;
    unsigned x = *random ^ *random >> 16;
    return x * 0x7feb352du;
}

static __host__ __device__ unsigned chance(unsigned rate, unsigned driver) {
    return (unsigned)((unsigned long long)rate * driver >> 32);
}

// The course of a trial of `days` days, for each person. drivers[day][state]: for instance the prevalence, which makes
// susceptible people fall ill, or the staff, which lets them leave the ward. Rates and drivers are in 2^-32.
__global__ void follow(const Person *people, const Exit *exits, const unsigned *drivers, Course *courses, int n,
                       int days) {
    __shared__ Exit table[AGE_GROUPS * STATES];
    if (threadIdx.x < AGE_GROUPS * STATES)
        table[threadIdx.x] = exits[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Person person = people[i];
    const Exit *exit = table + person.age_group * STATES;
    unsigned random = i * 2654435761u, state = person.state, stay = person.since;
    Course c = {0, 0, 0, 0};
    for (int day = 0; day < days; day++) {
        const unsigned *driver = drivers + day * STATES;
        unsigned u = draw(&random);
        stay++;
#ifdef AFTER
        Exit e = exit[state];
        bool leaves = stay >= e.stay && u < chance(e.rate, driver[state]);
        c.infections += leaves && state == SUSCEPTIBLE;
        c.days_ill += state == ILL;
        c.days_ward += state == WARD;
        unsigned to = u & 7 ? e.next : e.rare;
        state = leaves ? to : state;
        stay = leaves ? 0 : stay;
#else
        switch (state) {
        case SUSCEPTIBLE:
            if (u < chance(exit[SUSCEPTIBLE].rate, driver[SUSCEPTIBLE])) {
                c.infections++;
                state = EXPOSED;
                stay = 0;
            }
            break;
        case EXPOSED:
            if (stay >= exit[EXPOSED].stay && u < chance(exit[EXPOSED].rate, driver[EXPOSED])) {
                state = u & 7 ? ILL : IMMUNE;
                stay = 0;
            }
            break;
        case ILL:
            c.days_ill++;
            if (stay >= exit[ILL].stay && u < chance(exit[ILL].rate, driver[ILL])) {
                state = u & 7 ? IMMUNE : WARD;
                stay = 0;
            }
            break;
        case WARD:
            c.days_ward++;
            if (stay >= exit[WARD].stay && u < chance(exit[WARD].rate, driver[WARD])) {
                state = IMMUNE;
                stay = 0;
            }
            break;
        default:
            if (stay >= exit[IMMUNE].stay && u < chance(exit[IMMUNE].rate, driver[IMMUNE])) {
                state = SUSCEPTIBLE;
                stay = 0;
            }
        }
#endif
    }
    c.state = state;
    courses[i] = c;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vaccines");
    int n = p.small ? 132 * 192 : 1 << 19, days = p.small ? 40 : 120;
    static const Exit adults[STATES] = {{0x20000000, 0, EXPOSED, EXPOSED},
                                        {0x60000000, 2, ILL, IMMUNE},
                                        {0x50000000, 3, IMMUNE, WARD},
                                        {0x30000000, 4, IMMUNE, IMMUNE},
                                        {0x28000000, 9, SUSCEPTIBLE, SUSCEPTIBLE}};
    std::vector<Exit> exits(AGE_GROUPS * STATES);
    std::vector<unsigned> drivers(days * STATES);
    std::vector<Person> people(n);
    unsigned seed = 21;
    for (size_t e = 0; e < exits.size(); e++) {
        exits[e] = adults[e % STATES];
        exits[e].rate += lcg_next(&seed, 1 << 24) << 4;
        if (exits[e].stay)
            exits[e].stay += lcg_next(&seed, 3);
    }
    for (unsigned &d : drivers)
        d = 0x80000000u + (lcg_next(&seed, 1 << 23) << 8);
    for (Person &person : people) {
        person.state = lcg_next(&seed, STATES);
        person.age_group = lcg_next(&seed, AGE_GROUPS);
        person.since = lcg_next(&seed, 6);
    }
    Person *d_people = device_copy_of(people.data(), n);
    Exit *d_exits = device_copy_of(exits.data(), exits.size());
    unsigned *d_drivers = device_copy_of(drivers.data(), drivers.size());
    Course *d_courses = device_array<Course>(n);
    pair_time(&p, [&] {
        follow<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_people, d_exits, d_drivers, d_courses, n, days);
    });
    std::vector<Course> courses = host_copy_of(d_courses, n);
    for (int i = 0; i < n; i += n / 499) {
        unsigned random = i * 2654435761u, state = people[i].state, stay = people[i].since;
        Course c = {0, 0, 0, 0};
        for (int day = 0; day < days; day++) {
            const Exit &e = exits[people[i].age_group * STATES + state];
            unsigned u = draw(&random);
            c.days_ill += state == ILL;
            c.days_ward += state == WARD;
            if (++stay >= e.stay && u < chance(e.rate, drivers[day * STATES + state])) {
                c.infections += state == SUSCEPTIBLE;
                state = u & 7 ? e.next : e.rare;
                stay = 0;
            }
        }
        pair_near(&p, "infections", i, c.infections, courses[i].infections, 0);
        pair_near(&p, "days_ill", i, c.days_ill, courses[i].days_ill, 0);
        pair_near(&p, "days_ward", i, c.days_ward, courses[i].days_ward, 0);
        pair_near(&p, "state", i, state, courses[i].state, 0);
    }
    return pair_end(&p);
}
