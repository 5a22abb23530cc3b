// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Semihosting: a debugger or emulator prints and ends the program on our behalf.
#ifndef SEMIHOST_H
#define SEMIHOST_H

// Prints a zero-terminated string.
void semihost_print(const char *text);

// Ends the program with an exit status for the host.
_Noreturn void semihost_exit(int status);

#endif
