// SPDX-License-Identifier: MIT OR Apache-2.0
typedef struct {
  unsigned char bytes[@PREFIX@ARENA_BYTES];
} @PREFIX@ALIGNED @prefix@arena;
