// SPDX-License-Identifier: MIT OR Apache-2.0

@prefix@status @prefix@save_state(const @prefix@context *context, void *state) {
  if (context == NULL || context->@first@ == NULL || state == NULL) {
    return @PREFIX@NULL_POINTER;
  }
  memcpy(state, context->@memory@ + @offset@, @PREFIX@STATE_BYTES);
  return @PREFIX@OK;
}

@prefix@status @prefix@restore_state(@prefix@context *context, const void *state) {
  if (context == NULL || context->@first@ == NULL || state == NULL) {
    return @PREFIX@NULL_POINTER;
  }
  memcpy(context->@memory@ + @offset@, state, @PREFIX@STATE_BYTES);
  return @PREFIX@OK;
}
