// SPDX-License-Identifier: MIT OR Apache-2.0
#if defined(__arm__) && !defined(__ARM_FEATURE_DSP)
#error "the plan is for the kernels as a core with the DSP extension runs them: build with --cpu and the core's name"
#endif

