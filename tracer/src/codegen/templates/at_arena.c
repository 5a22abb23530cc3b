// SPDX-License-Identifier: MIT OR Apache-2.0
// A pointer into the arena.
#define AT(type, offset) ((type *)(void *)(arena + (offset)))
