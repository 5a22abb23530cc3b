// SPDX-License-Identifier: MIT OR Apache-2.0

// The arena holds @held@, the outputs and everything between them. You provide it: static memory, or any memory
// that is aligned to @PREFIX@ARENA_ALIGNMENT bytes. Nothing else is allocated.
#define @PREFIX@ARENA_BYTES @arena_bytes@u
#define @PREFIX@ARENA_ALIGNMENT 16u
