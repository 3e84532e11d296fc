// SPDX-License-Identifier: Apache-2.0
// A PKCS#11 module before another one, with delays and errors: what a network HSM does on a slow or a bad day. Preload nothing: name it with --pkcs11.
//
//   TOKEN_MODULE    the module behind it (/usr/lib/softhsm/libsofthsm2.so)
//   TOKEN_DELAY_MS  before each C_DeriveKey, of each session by itself (0)
//   TOKEN_FAILS     one C_DeriveKey of so many ends with CKR_DEVICE_ERROR (0: none)
//
//   clang -shared -fPIC -O1 -o token.so Tests/Rigs/Token/token.c

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long CK_ULONG;
typedef CK_ULONG (*function)(void);
typedef CK_ULONG (*derive)(CK_ULONG, void *, CK_ULONG, void *, CK_ULONG, CK_ULONG *);

// CK_FUNCTION_LIST of PKCS#11 2.40: a version, then its functions in the order of the standard (OASIS, pkcs11f.h).
struct functions {
    unsigned char version[2];
    function all[68];
};

enum { C_GET_FUNCTION_LIST = 3, C_DERIVE_KEY = 62, CKR_GENERAL_ERROR = 5, CKR_DEVICE_ERROR = 0x30 };

static struct functions ours;
static derive behind;
static long delay, fails;
static atomic_long count;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static CK_ULONG slow_derive(CK_ULONG session, void *mechanism, CK_ULONG key, void *attributes, CK_ULONG many, CK_ULONG *made) {
    struct timespec pause = {delay / 1000, delay % 1000 * 1000000};
    while (delay > 0 && nanosleep(&pause, &pause) != 0) {
    }
    if (fails > 0 && atomic_fetch_add(&count, 1) % fails == fails - 1) return CKR_DEVICE_ERROR;
    return behind(session, mechanism, key, attributes, many, made);
}

CK_ULONG C_GetFunctionList(struct functions **list) {
    const char *name = getenv("TOKEN_MODULE");
    void *module = dlopen(name ? name : "/usr/lib/softhsm/libsofthsm2.so", RTLD_NOW | RTLD_LOCAL);
    if (!module) return CKR_GENERAL_ERROR;
    CK_ULONG (*theirs)(struct functions **) = (CK_ULONG(*)(struct functions **))dlsym(module, "C_GetFunctionList");
    struct functions *found;
    if (!theirs || theirs(&found) != 0) return CKR_GENERAL_ERROR;
    memcpy(&ours, found, sizeof ours);
    delay = number("TOKEN_DELAY_MS");
    fails = number("TOKEN_FAILS");
    behind = (derive)found->all[C_DERIVE_KEY];
    ours.all[C_GET_FUNCTION_LIST] = (function)C_GetFunctionList;
    ours.all[C_DERIVE_KEY] = (function)slow_derive;
    *list = &ours;
    return 0;
}
