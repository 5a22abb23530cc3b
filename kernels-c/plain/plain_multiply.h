// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of products of a patch with two filters: where pixels are not taken two at a time.
#ifndef PLAIN_MULTIPLY_H
#define PLAIN_MULTIPLY_H

#include "plain.h"

// A patch and two filters, each of minus_columns bytes. The assembly reads this struct, in this order.
typedef struct {
  const int8_t *patch_end, *filter0_end, *filter1_end;
  int32_t minus_columns;
  int32_t offset; // of the patch
  int32_t sum[2]; // what sum((x + offset) * w) is added to
} plain_products;

void plain_multiply(plain_products *products);

// The sum of `count` weights.
int32_t plain_sum(const int8_t *weights, int32_t count);

#endif
