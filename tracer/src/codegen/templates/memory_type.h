// SPDX-License-Identifier: MIT OR Apache-2.0
typedef struct {
  unsigned char bytes[@PREFIX@@MEMORY@_BYTES];
} @PREFIX@ALIGNED_TO(@alignment@) @prefix@@memory@;

// Defines such an array in the section @PREFIX@@MEMORY@_SECTION, which your linker script places in @region@.
#ifndef @PREFIX@@MEMORY@_SECTION
#define @PREFIX@@MEMORY@_SECTION "@section@"
#endif
#define @PREFIX@@MEMORY@(name) @prefix@@memory@ name @PREFIX@IN_SECTION(@PREFIX@@MEMORY@_SECTION)
