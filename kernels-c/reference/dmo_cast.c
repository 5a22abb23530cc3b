// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

static int32_t whole_at(dmo_element_type type, const void *input, int32_t i) {
  switch (type) {
  case DMO_BOOL: return ((const bool *)input)[i] ? 1 : 0;
  case DMO_S8: return ((const int8_t *)input)[i];
  case DMO_S16: return ((const int16_t *)input)[i];
  case DMO_S32: return ((const int32_t *)input)[i];
  default: return dmo_whole(((const float *)input)[i]);
  }
}

static void store_whole(dmo_element_type type, int32_t value, void *output, int32_t i) {
  switch (type) {
  case DMO_S8: ((int8_t *)output)[i] = (int8_t)value; break;
  case DMO_S16: ((int16_t *)output)[i] = (int16_t)value; break;
  case DMO_S32: ((int32_t *)output)[i] = value; break;
  default: ((float *)output)[i] = (float)value; break;
  }
}

void dmo_cast(dmo_element_type from, dmo_element_type to, int32_t count, const void *input, void *output) {
  for (int32_t i = 0; i < count; ++i) {
    if (from == DMO_F32 && to == DMO_F32) {
      ((float *)output)[i] = ((const float *)input)[i];
    } else {
      store_whole(to, whole_at(from, input, i), output, i);
    }
  }
}
