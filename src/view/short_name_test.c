// SPDX-License-Identifier: Apache-2.0
#include "view/short_name.h"

#include <string.h>

#include "base/testing.h"
#include "view/utf8.h"

static void expect(const char *name, u32 most, const char *wanted) {
    Arena arena = {0};
    const char *got = short_name(&arena, name, most);
    assert_non_null(got);
    assert_string_equal(got, wanted);
    assert_true(utf8_width(got) <= most);
    arena_free(&arena);
}

static const char radix[] =
    "cub::CUB_300001_SM_750::detail::radix_sort::DeviceRadixSortDownsweepKernel<cub::CUB_300001_SM_750::detail::"
    "radix::policy_hub<unsigned int, cub::NullType, unsigned long long>::Policy900, false, (bool)0>";

TEST(the_function_s_own_name_stays) {
    expect(radix, 80, "cub::CUB_300001_SM_750::detail::radix_sort::DeviceRadixSortDownsweepKernel<..>");
    expect(radix, 60, "cub::..::radix_sort::DeviceRadixSortDownsweepKernel<..>");
    expect(radix, 45, "cub::..::DeviceRadixSortDownsweepKernel<..>");
    expect(radix, 40, "DeviceRadixSortDownsweepKernel<..>");
    expect(radix + 44, 40, "DeviceRadixSortDownsweepKernel<..>");
    expect("at::native::elementwise<4, at::native::FillFunctor<float>, std::array<char*, 2ul> >", 60,
           "at::native::elementwise<4, at::native::FillFunctor<float>..>");
    expect(radix, 24, "DeviceRa..weepKernel<..>");
    expect(radix, 12, "De..rnel<..>");
    expect("cub::..::detail::radix_sort::DeviceRadixSortHistogramKernel<..>", 45,
           "cub::..::DeviceRadixSortHistogramKernel<..>");
}

static void expect_apart(const char *name, const char *other, u32 most, const char *wanted) {
    Arena arena = {0};
    const char *got = short_name_apart(&arena, name, other, most);
    assert_non_null(got);
    assert_string_equal(got, wanted);
    assert_true(utf8_width(got) <= most);
    arena_free(&arena);
}

TEST(names_that_look_alike_are_told_apart) {
    static const char merge[] =
        "mgpu::launch_box_k<mgpu::params_t<128, 1>, mgpu::merge_path<int>(int*)::{lambda(int)#1}>",
                      search[] =
                          "mgpu::launch_box_k<mgpu::params_t<128, 1>, mgpu::search_t<int>(int*)::{lambda(int)#1}>",
                      second[] =
                          "mgpu::launch_box_k<mgpu::params_t<128, 1>, mgpu::merge_path<int>(int*)::{lambda(int)#2}>";
    expect_apart(merge, search, 40, "mgpu::launch_box_k<..merge_path..>");
    expect_apart(search, merge, 40, "mgpu::launch_box_k<..search_t..>");
    expect_apart(search, merge, 30, "launch_box_k<..search_t..>");
    expect_apart(search, merge, 20, "launch_box_k<..>");
    expect_apart(second, merge, 40, "mgpu::launch_box_k<..#2..>");
    expect_apart("line", "lines", 12, "line");
    expect_apart("first_of_some_length<int>", "other_of_some_length<int>", 20, "first_..e_length<..>");
}

TEST(short_names_are_as_they_are) {
    expect("mm", 20, "mm");
    expect("moeSoftmax<256>", 20, "moeSoftmax<256>");
    expect("ns::Tile<4, float>::run", 40, "ns::Tile<4, float>::run");
}

TEST(brackets_hold_together) {
    expect("(anonymous namespace)::kernel_of_some_length<int, 4>", 48,
           "(anonymous namespace)::kernel_of_some_length<..>");
    expect("(anonymous namespace)::kernel_of_some_length<int, 4>", 32, "kernel_of_some_length<..>");
    expect("run<main::{lambda(int)#1}>(a::b)", 20, "run<..>");
    expect("Tile<ns::four>::Part<ns::five>::run<ns::six>", 30, "Tile<..>::Part<..>::run<..>");
}

TEST(what_is_no_cpp_name_is_cut) {
    expect("a_name_of_very_many_letters_that_never_end", 30, "a_name_of_ver.._that_never_end");
    expect("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
           "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4zzzzzz",
           20,
           "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4..\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4zzzzzz");
}

// Nothing that a demangler may leave behind leads beyond the bounds.
TEST(any_text_is_shortened) {
    static const char *const texts[] = {
        "::::::::::::::::::::::::::::::::::::::::::::::::::::::::::", "<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
        ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>", "a<b::c<d::e(f{g::h::i::j::k::l::m::n",
        "operator<<::operator>>::operator()::x::y::z::w"};
    for (u32 i = 0; i < WL_COUNT(texts); i++) {
        Arena arena = {0};
        const char *got = short_name(&arena, texts[i], 12);
        assert_non_null(got);
        assert_true(utf8_width(got) <= 12);
        arena_free(&arena);
    }
}

TEST(out_of_memory_is_reported) {
    u64 left = 0;
    Arena arena = {0};
    testing_memory_out_after(&left);
    assert_null(short_name(&arena, radix, 40));
    testing_memory_back();
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_function_s_own_name_stays), cmocka_unit_test(names_that_look_alike_are_told_apart),
        cmocka_unit_test(short_names_are_as_they_are),   cmocka_unit_test(brackets_hold_together),
        cmocka_unit_test(what_is_no_cpp_name_is_cut),    cmocka_unit_test(any_text_is_shortened),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
