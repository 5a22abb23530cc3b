// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of products of an even number of columns, of patches and filters of 4 bits.
#ifndef PLAIN_INT4_BLOCK_H
#define PLAIN_INT4_BLOCK_H

#include "plain.h"

// The assembly reads this struct, in this order. There is a column at least.
typedef struct {
  const int8_t *patch0, *patch1, *filter0, *filter1;
  const int8_t *patch0_end;
  int32_t sums[4]; // patches 0 and 1 by filter 0, then by filter 1; of a single patch the first two
  int32_t offset;  // of a single patch
} plain_int4_block;

// Of two patches. Joined: both filters begin with a byte. Split: the second begins within a byte, so that each pair of
// its weights lies in two.
void plain_multiply_two_joined(plain_int4_block *block);
void plain_multiply_two_split(plain_int4_block *block);

// Of patch 0 alone, to whose bytes the offset is added.
void plain_multiply_one_joined(plain_int4_block *block);
void plain_multiply_one_split(plain_int4_block *block);

#endif
