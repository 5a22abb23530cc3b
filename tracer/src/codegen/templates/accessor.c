// SPDX-License-Identifier: MIT OR Apache-2.0

@const@@element@ *@prefix@@name@(const @prefix@context *context) {
  if (context == NULL || context->@first@ == NULL) {
    return NULL;
  }
  return (@const@@element@ *)(void *)(context->@memory@ + @offset@);
}
