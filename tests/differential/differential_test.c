// SPDX-License-Identifier: Apache-2.0
// What an H200 gave (tests/differential/forms.inc, random.hashes), given by the simulator too. Random programs: one of
// STEP here, all of them in `make differential`. No form is missing.
#include "base/testing.h"

#include <stdlib.h>
#include <string.h>

#include "form_record.h"
#include "form_sim.h"
#include "random_apart.h"
#include "random_record.h"
#include "random_sim.h"

#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 199, FORM_STEP = 13 };
#else
enum { STEP = 4, FORM_STEP = 1 };
#endif

typedef struct Forms {
    FormSim *sim;
    u32 of_op, seen, run, wrong;
} Forms;

static void run_form(void *context, const FormCase *form) {
    Forms *f = context;
    const FormRecord *record = form_record(form);
    char why[1024] = "";
    if (!record) return;
    f->of_op++;
    if (f->seen++ % FORM_STEP) return;
    const u64 *out = form_sim_run(f->sim, form, why, sizeof why);
    f->run++;
    if (out && (!record->hash || record->hash == form_hash(out))) return;
    print_error("%s (variant %u): %s\n", form->mnemonic, form->variant, out ? "not what the GPU gave" : why);
    f->wrong++;
}

TEST(every_form_gives_what_the_gpu_gave) {
    Forms f = {.sim = form_sim_open()};
    assert_non_null(f.sim);
    for (u32 op = 0; op < OP_COUNT; op++) form_each(op, run_form, &f);
    form_sim_close(f.sim);
    assert_int_equal(f.wrong, 0);
    assert_int_equal(f.seen, form_record_count());  // none of them is gone from ops.def
}

static void count_form(void *context, const FormCase *form) { *(u32 *)context += form_record(form) != NULL; }

TEST(every_executable_op_has_forms) {
    u32 missing = 0;
    for (u32 op = 0; op < OP_COUNT; op++) {
        u32 forms = 0;
        if (!ptx_ops[op].executable || form_excluded(op)) continue;
        form_each(op, count_form, &forms);
        if (!forms) print_error("%s %s: no form in forms.inc\n", ptx_ops[op].name, ptx_ops[op].mods), missing++;
    }
    assert_int_equal(missing, 0);
}

static RandomResult result;

// Equal to what the GPU gave. False: told.
static bool random_equals(RandomSim *sim, u64 seed, u32 recorded) {
    RandomProgram p;
    char why[1024];
    assert_true(random_program(seed, NULL, &p));
    if (random_apart_reason(seed) == APART_GUARDED) random_lose_guards(&p);
    bool ok = random_sim_run(sim, &p, &result, why, sizeof why);
    bool equal = ok && random_short_hash(random_hash(&p, result.acc, result.slots, result.out)) == recorded;
    if (!equal) print_error("seed %u: %s\n", (u32)seed, ok ? "not what the GPU gave" : why);
    random_free(&p);
    return equal;
}

TEST(random_programs_give_what_the_gpu_gave) {
    u32 count, wrong = 0, run = 0;
    u32 *hashes = random_recorded(NULL, &count);
    RandomSim *sim = random_sim_open();
    assert_non_null(sim);
    assert_non_null(hashes);
    for (u32 i = 0; i < count; i++) {
        ApartReason reason = random_apart_reason(RANDOM_FIRST + i);
        assert_int_not_equal(hashes[i], 0);
        if (i % STEP == 0 || reason != APART_NONE) {
            wrong += !random_equals(sim, RANDOM_FIRST + i, hashes[i]);
            run++;
        }
    }
    random_sim_close(sim);
    free(hashes);
    assert_true(run > 99);
    assert_int_equal(wrong, 0);
}

// Statements can be left out one by one: what is left is still a program.
TEST(programs_shrink) {
    static u8 mask[4096];
    RandomSim *sim = random_sim_open();
    assert_non_null(sim);
    for (u64 seed = 1; seed <= 20; seed++) {
        RandomCut cut = {mask, sizeof mask};
        RandomProgram whole, part;
        char why[1024];
        assert_true(random_program(seed, NULL, &whole));
        for (u32 i = 0; i < sizeof mask; i++) mask[i] = (u8)(i * seed % 3 == 0);
        assert_true(random_program(seed, &cut, &part));
        assert_int_equal(part.statements, whole.statements);
        assert_true(part.size < whole.size);
        if (!random_sim_run(sim, &part, &result, why, sizeof why)) fail_msg("seed %u: %s", (u32)seed, why);
        random_free(&whole);
        random_free(&part);
    }
    random_sim_close(sim);
}

// The list of programs that ptxas takes for others has none without the reason that it names.
TEST(listed_programs_show_the_reason) {
    u32 listed = 0;
    for (u64 seed = RANDOM_FIRST; seed < RANDOM_FIRST + 20000; seed++) {
        ApartReason reason = random_apart_reason(seed);
        RandomProgram p;
        if (reason == APART_NONE) continue;
        assert_true(random_program(seed, NULL, &p));
        if (!random_apart_shows(&p, reason)) fail_msg("seed %u: not for reason %u", (u32)seed, (u32)reason);
        random_free(&p);
        listed++;
    }
    assert_true(listed > 0);
    static const struct {
        const char *text;
        ApartReason reason;
    } none[] = {
        {"cvt.rn.f32.u32 %r0, %r1;\nst.global.u32 [%e0], %r0;\n", APART_STORED},
        {"cvt.rn.f32.u32 %r0, %r1;\nmov.b32 %r0, %r1;\nst.global.u8 [%e0], %r0;\n", APART_STORED},
        {"cvt.rzi.u32.f32 %r0, %r1;\nst.global.u8 [%e0], %r0;\n", APART_STORED},
        {"set.lt.f32.s32 %r0, %r1, %r2;\nshr.u64 %d0, %d1, %r1;\n", APART_SHIFTED},
        {"vadd4.u32.u32.u32.add %r0, %r1, %r2, %r3;\n@%p0 vadd4.u32.u32.u32 %r0, %r1, %r2, %r3;\n", APART_GUARDED}};
    for (u32 i = 0; i < WL_COUNT(none); i++) {
        RandomProgram p = {.text = (char *)(uintptr_t)none[i].text};
        assert_false(random_apart_shows(&p, none[i].reason));
    }
}

// Apart, a program computes the same.
TEST(programs_come_apart) {
    RandomSim *sim = random_sim_open();
    assert_non_null(sim);
    for (u64 seed = 1; seed <= 40; seed++) {
        RandomProgram p;
        char why[1024];
        u64 hash[2];
        size_t size = 0;
        for (u32 apart = 0; apart < 2; apart++) {
            assert_true(random_program(seed, NULL, &p));
            if (apart) assert_true(random_apart(&p) && p.size > size * 5 / 4);
            if (!random_sim_run(sim, &p, &result, why, sizeof why)) fail_msg("seed %u: %s", (u32)seed, why);
            hash[apart] = random_hash(&p, result.acc, result.slots, result.out);
            size = p.size;
            random_free(&p);
        }
        assert_int_equal(hash[0], hash[1]);
    }
    random_sim_close(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_what_the_gpu_gave),     cmocka_unit_test(every_executable_op_has_forms),
        cmocka_unit_test(random_programs_give_what_the_gpu_gave), cmocka_unit_test(programs_shrink),
        cmocka_unit_test(listed_programs_show_the_reason),        cmocka_unit_test(programs_come_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
