// SPDX-License-Identifier: MIT OR Apache-2.0

#if defined(__GNUC__) || defined(__clang__) || defined(__ICCARM__)
#define @PREFIX@ALIGNED_TO(alignment) __attribute__((aligned(alignment)))
#else
#define @PREFIX@ALIGNED_TO(alignment)
#endif

// Sections have other names on macOS: there the linker puts the arrays where other variables are.
#if (defined(__GNUC__) || defined(__clang__) || defined(__ICCARM__)) && !defined(__APPLE__)
#define @PREFIX@IN_SECTION(section_name) __attribute__((section(section_name)))
#else
#define @PREFIX@IN_SECTION(section_name)
#endif

// The memories hold @held@, the outputs and everything between them. You provide an array for each: static memory,
// or any memory that is aligned as its macro says. Nothing else is allocated.
