// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 and libcuda.so: names under which programs look for the driver API. The functions are in our
// libcudart.so.13, with the one context of both APIs; these objects only need it, so that it is there, and that dlsym
// on a handle of theirs finds what it has.
extern const char warplens_driver[];
__attribute__((visibility("default"))) const char warplens_driver[] = WARPLENS_VERSION;
