// SPDX-License-Identifier: MIT OR Apache-2.0

// Copies the states, @PREFIX@STATE_BYTES bytes, out of and into a context: to switch between streams.
@prefix@status @prefix@save_state(const @prefix@context *context, void *state);
@prefix@status @prefix@restore_state(@prefix@context *context, const void *state);
