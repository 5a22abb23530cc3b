// SPDX-License-Identifier: MIT OR Apache-2.0

// @region@, planned at @cycles@ an access.
#define @PREFIX@@MEMORY@_BYTES @bytes@u
#define @PREFIX@@MEMORY@_ALIGNMENT @alignment@u
