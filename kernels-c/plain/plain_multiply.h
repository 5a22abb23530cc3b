// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of products of patches with filters: the inside of every convolution and fully connected layer here.
#ifndef PLAIN_MULTIPLY_H
#define PLAIN_MULTIPLY_H

#include "plain.h"

// Two patches and two filters, each of `columns` bytes. The assembly reads this struct, in this order.
typedef struct {
  const int8_t *patch0_end, *patch1_end, *filter0_end, *filter1_end;
  int32_t minus_columns;
  int32_t sum[4]; // of patch 0 with filter 0, 0 with 1, 1 with 0, 1 with 1: what is added to
} plain_products;

void plain_multiply_two(plain_products *products);

// One patch, to whose bytes the offset is added, and two filters: sum[0] and sum[1]. patch1_end is not used.
void plain_multiply_one(plain_products *products, int32_t offset);

// The sum of `count` weights.
int32_t plain_sum(const int8_t *weights, int32_t count);

#endif
