// SPDX-License-Identifier: Apache-2.0
/*
 * All programs but libnfc's worker in one executable, which goes by several names: what they share, the Swift runtime
 * and the cryptography first of all, is on the disk and in memory once. scripts/link-programs.sh says which they are.
 */
#include <stdio.h>
#include <string.h>

/* The compiler calls the main function of module nfc_tapd nfc_tapd_main. */
#define PROGRAM(module, name) extern int module##_main(int, char **);
PROGRAMS
#undef PROGRAM

int main(int count, char **arguments) {
    const char *name = count > 0 ? arguments[0] : "";
    const char *slash = strrchr(name, '/');
    if (slash != NULL) name = slash + 1;
#define PROGRAM(module, called) \
    if (strcmp(name, called) == 0) return module##_main(count, arguments);
    PROGRAMS
#undef PROGRAM
    fprintf(stderr, "%s is the name of no program here. Call it by one of:", name);
#define PROGRAM(module, called) fputs(" " called, stderr);
    PROGRAMS
    fputs("\n", stderr);
    return 64;
}
