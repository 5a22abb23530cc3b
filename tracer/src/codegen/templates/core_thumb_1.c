// SPDX-License-Identifier: MIT OR Apache-2.0
#if defined(__arm__) && defined(__thumb2__)
#error "the plan is for the kernels as a Cortex-M0, M0+ or M23 runs them: build with --cpu and the core's name"
#endif

