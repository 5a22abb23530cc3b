// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Tensors that never lie in memory as a whole: an input that the application hands over in rows while a model is
// computed, and what is computed band by band.
#ifndef DMO_ROWS_H
#define DMO_ROWS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Stores `rows` rows of the input from `first_row` on at `to`, one after the other. Returns 0, or anything else if it
// cannot.
typedef int32_t (*dmo_read_rows)(void *user, int32_t first_row, int32_t rows, void *to);

// The rows that are needed next: copies those that are there already, kept_bytes at `kept`, to the front of the output,
// and has the rest stored after them. Returns what `read` returns.
// One memmove; the output may overlap what is kept if it does not begin above it. Scratch: none.
int32_t dmo_next_rows(dmo_read_rows read, void *user, int32_t first_row, int32_t rows, const void *kept,
                      int32_t kept_bytes, void *output);

// The same where the rest, new_bytes of it, lies at `source`: what dmo_next_rows does with a `read` that copies.
int32_t dmo_next_rows_in_memory(const void *source, int32_t new_bytes, const void *kept, int32_t kept_bytes,
                                void *output);

// Copies rows of a band, that the next band needs too, to where that is to be. One memmove; the output may overlap what
// is kept if it does not begin above it. Scratch: none.
void dmo_keep_rows(const void *kept, int32_t kept_bytes, void *output);

#ifdef __cplusplus
}
#endif

#endif
