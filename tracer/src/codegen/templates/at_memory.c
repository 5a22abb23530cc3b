// SPDX-License-Identifier: MIT OR Apache-2.0
// A pointer into a memory.
#define AT(memory, type, offset) ((type *)(void *)((memory) + (offset)))
