// SPDX-License-Identifier: MIT OR Apache-2.0

// @about@. You hand it over in rows while the model is computed: it is never in the arena as a whole.
#define @PREFIX@@NAME@_ROWS @rows@
#define @PREFIX@@NAME@_ROW_ELEMENTS @row_elements@u
#define @PREFIX@@NAME@_MOST_ROWS @most_rows@ // at once
@quantisation@
// Stores rows of the input at `to`, one after the other, @PREFIX@@NAME@_ROW_ELEMENTS elements of @element@ each. Rows are
// asked for in order, each at most once; a row that is skipped is not needed. Returns 0, or anything else to give up.
typedef int32_t (*@prefix@read_rows)(void *user, int32_t first_row, int32_t rows, void *to);
