// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rows of taps of four windows, widened to rows as those of dsp_multiply.h.
#ifndef PACKED_LINES_H
#define PACKED_LINES_H

#include "dsp_three_columns.h"

// Windows `apart` bytes apart, by whole groups, at least one; `skip` bytes lie between the end of a line and the next.
void packed_widen_lines(uint32_t *rows, const int8_t *from, int32_t apart, int32_t groups, uint32_t offsets,
                        int32_t lines, int32_t skip);

// What the lines of windows of three columns have in common.
typedef struct {
  int32_t depth; // whole groups
  uint32_t offsets;
  dsp_outside outside;
} packed_columns;

// One line of windows next to each other, with stride 1, the first of which begins at column `left`.
void packed_widen_three_columns(uint32_t *rows, const int8_t *line, int32_t left, const packed_columns *columns);

#endif
