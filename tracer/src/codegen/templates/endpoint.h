// SPDX-License-Identifier: MIT OR Apache-2.0

// @about@
#define @PREFIX@@NAME@_ELEMENTS @elements@
@quantisation@@const@@element@ *@prefix@@name@(const @prefix@context *context);
