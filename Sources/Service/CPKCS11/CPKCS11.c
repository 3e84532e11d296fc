// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPKCS11.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char BYTES;

struct mechanism {
    CK_ULONG type;
    void *parameter;
    CK_ULONG count;
};

struct attribute {
    CK_ULONG type;
    void *value;
    CK_ULONG count;
};

struct agreement {
    CK_ULONG derivation;
    CK_ULONG shared_count;
    BYTES *shared;
    CK_ULONG point_count;
    BYTES *point;
};

struct oaep {
    CK_ULONG hash;
    CK_ULONG mask;
    CK_ULONG source;
    void *label;
    CK_ULONG label_count;
};

struct gcm {
    BYTES *nonce;
    CK_ULONG nonce_count;
    CK_ULONG nonce_bits;
    BYTES *associated;
    CK_ULONG associated_count;
    CK_ULONG tag_bits;
};

struct token_info {
    BYTES label[32];
    BYTES manufacturer[32];
    BYTES model[16];
    BYTES serial[16];
    CK_ULONG flags;
    CK_ULONG counts[10];
    BYTES hardware[2];
    BYTES firmware[2];
    BYTES time[16];
};

struct initialize_arguments {
    void *create;
    void *destroy;
    void *lock;
    void *unlock;
    CK_ULONG flags;
    void *reserved;
};

typedef CK_RV (*begin_call)(CK_SESSION_HANDLE, struct mechanism *, CK_OBJECT_HANDLE);
typedef CK_RV (*transform_call)(CK_SESSION_HANDLE, BYTES *, CK_ULONG, BYTES *, CK_ULONG *);
typedef CK_RV (*attributes_call)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE, struct attribute *, CK_ULONG);
typedef void (*other_call)(void);

/* CK_FUNCTION_LIST: 68 functions in the standard's order. Those that are not called stand as gaps. */
struct functions {
    BYTES version[2];
    CK_RV (*initialize)(struct initialize_arguments *);
    CK_RV (*finalize)(void *);
    other_call info[2];
    CK_RV (*slots)(BYTES, CK_SLOT_ID *, CK_ULONG *);
    other_call slot_info;
    CK_RV (*token_info)(CK_SLOT_ID, struct token_info *);
    other_call mechanisms_and_pins[5];
    CK_RV (*open_session)(CK_SLOT_ID, CK_ULONG, void *, void *, CK_SESSION_HANDLE *);
    CK_RV (*close_session)(CK_SESSION_HANDLE);
    CK_RV (*close_all_sessions)(CK_SLOT_ID);
    other_call session_state[3];
    CK_RV (*login)(CK_SESSION_HANDLE, CK_ULONG, BYTES *, CK_ULONG);
    CK_RV (*logout)(CK_SESSION_HANDLE);
    other_call create_object;
    CK_RV (*copy_object)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE, struct attribute *, CK_ULONG, CK_OBJECT_HANDLE *);
    CK_RV (*destroy_object)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE);
    other_call object_size;
    attributes_call get_attributes;
    other_call set_attributes;
    CK_RV (*find_begin)(CK_SESSION_HANDLE, struct attribute *, CK_ULONG);
    CK_RV (*find)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE *, CK_ULONG, CK_ULONG *);
    CK_RV (*find_end)(CK_SESSION_HANDLE);
    begin_call encrypt_begin;
    transform_call encrypt;
    other_call encrypt_parts[2];
    begin_call decrypt_begin;
    transform_call decrypt;
    other_call decrypt_parts[2];
    other_call digest[5];
    begin_call sign_begin;
    transform_call sign;
    other_call sign_parts[2];
    other_call recover_verify_and_dual[12];
    CK_RV (*generate_key)(CK_SESSION_HANDLE, struct mechanism *, struct attribute *, CK_ULONG, CK_OBJECT_HANDLE *);
    CK_RV (*generate_pair)(
        CK_SESSION_HANDLE, struct mechanism *, struct attribute *, CK_ULONG, struct attribute *, CK_ULONG,
        CK_OBJECT_HANDLE *, CK_OBJECT_HANDLE *);
    other_call wrap;
    CK_RV (*unwrap)(
        CK_SESSION_HANDLE, struct mechanism *, CK_OBJECT_HANDLE, BYTES *, CK_ULONG, struct attribute *, CK_ULONG,
        CK_OBJECT_HANDLE *);
    CK_RV (*derive)(
        CK_SESSION_HANDLE, struct mechanism *, CK_OBJECT_HANDLE, struct attribute *, CK_ULONG, CK_OBJECT_HANDLE *);
    other_call random_and_rest[5];
};

_Static_assert(sizeof(struct functions) == 8 + 68 * sizeof(void *), "CK_FUNCTION_LIST of PKCS#11 2.40");

enum { MOST_MODULES = 8, USER = 1, SHA256 = 0x250, MGF1_SHA256 = 2, DATA_SPECIFIED = 1, NO_DERIVATION = 1 };

static struct {
    char *path;
    struct functions *functions;
} modules[MOST_MODULES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Places are filled from the front and never change again: readers need no lock once they have a number. */
static struct functions *of(int module) {
    return module >= 0 && module < MOST_MODULES ? modules[module].functions : NULL;
}

#define MODULE(name)                      \
    struct functions *name = of(module); \
    if (name == NULL) return CPKCS11_NO_MODULE

void cpkcs11_wipe(void *bytes, size_t count) { explicit_bzero(bytes, count); }

static CK_RV load(int place, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return CPKCS11_NO_MODULE;
    CK_RV (*list)(struct functions **) = (CK_RV(*)(struct functions **))dlsym(library, "C_GetFunctionList");
    struct functions *found = NULL;
    if (list == NULL || list(&found) != CKR_OK || found == NULL) {
        dlclose(library);
        return CPKCS11_NO_MODULE;
    }
    char *copy = strdup(path);
    if (copy == NULL) return CKR_HOST_MEMORY;
    modules[place].path = copy;
    modules[place].functions = found;
    return CKR_OK;
}

CK_RV cpkcs11_open(const char *path, int *module) {
    CK_RV result = CPKCS11_TOO_MANY_MODULES;
    pthread_mutex_lock(&lock);
    for (int place = 0; place < MOST_MODULES; place++) {
        if (modules[place].path == NULL) {
            result = load(place, path);
            *module = place;
            break;
        }
        if (strcmp(modules[place].path, path) == 0) {
            result = CKR_OK;
            *module = place;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CK_RV cpkcs11_initialize(int module) {
    MODULE(call);
    struct initialize_arguments arguments = {.flags = 2 /* CKF_OS_LOCKING_OK */};
    return call->initialize(&arguments);
}

CK_RV cpkcs11_finalize(int module) {
    MODULE(call);
    return call->finalize(NULL);
}

CK_RV cpkcs11_find_slot(int module, const uint8_t *label, size_t count, CK_SLOT_ID *slot) {
    MODULE(call);
    struct token_info info;
    BYTES wanted[sizeof info.label];
    if (count > sizeof wanted) return CPKCS11_NO_TOKEN;
    memset(wanted, ' ', sizeof wanted);
    memcpy(wanted, label, count);
    CK_SLOT_ID slots[256];
    CK_ULONG room = sizeof slots / sizeof slots[0];
    CK_RV result = call->slots(1, slots, &room);
    if (result != CKR_OK) return result;
    int found = 0;
    for (CK_ULONG index = 0; index < room; index++) {
        memset(&info, 0, sizeof info);
        if (call->token_info(slots[index], &info) != CKR_OK) continue;
        if (memcmp(info.label, wanted, sizeof wanted) != 0) continue;
        *slot = slots[index];
        found++;
    }
    return found == 0 ? CPKCS11_NO_TOKEN : found == 1 ? CKR_OK : CPKCS11_SEVERAL_TOKENS;
}

CK_RV cpkcs11_open_session(int module, CK_SLOT_ID slot, int writes, CK_SESSION_HANDLE *session) {
    MODULE(call);
    return call->open_session(slot, 4 /* CKF_SERIAL_SESSION */ | (writes ? 2 : 0), NULL, NULL, session);
}

CK_RV cpkcs11_close_session(int module, CK_SESSION_HANDLE session) {
    MODULE(call);
    return call->close_session(session);
}

CK_RV cpkcs11_close_all_sessions(int module, CK_SLOT_ID slot) {
    MODULE(call);
    return call->close_all_sessions(slot);
}

CK_RV cpkcs11_login(int module, CK_SESSION_HANDLE session, const uint8_t *pin, size_t count) {
    MODULE(call);
    return call->login(session, USER, (BYTES *)pin, count);
}

CK_RV cpkcs11_logout(int module, CK_SESSION_HANDLE session) {
    MODULE(call);
    return call->logout(session);
}

CK_RV cpkcs11_find(
    int module, CK_SESSION_HANDLE session, CK_ULONG class, int lasts, const uint8_t *label, size_t label_count,
    const uint8_t *id, size_t id_count, CK_OBJECT_HANDLE *objects, size_t *found) {
    MODULE(call);
    BYTES token = lasts != 0;
    struct attribute wanted[4] = {{CKA_CLASS, &class, sizeof class}, {CKA_TOKEN, &token, 1}};
    CK_ULONG count = 2;
    if (label_count > 0) wanted[count++] = (struct attribute){CKA_LABEL, (void *)label, label_count};
    if (id_count > 0) wanted[count++] = (struct attribute){CKA_ID, (void *)id, id_count};
    size_t room = *found;
    *found = 0;
    CK_RV result = call->find_begin(session, wanted, count);
    if (result != CKR_OK) return result;
    for (;;) {
        CK_OBJECT_HANDLE object;
        CK_ULONG some = 0;
        result = call->find(session, &object, 1, &some);
        if (result != CKR_OK || some == 0) break;
        if (*found < room) objects[*found] = object;
        (*found)++;
    }
    CK_RV end = call->find_end(session);
    return result != CKR_OK ? result : end;
}

CK_RV cpkcs11_number(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ULONG attribute, CK_ULONG *value) {
    MODULE(call);
    *value = 0;
    struct attribute wanted = {attribute, value, sizeof *value};
    CK_RV result = call->get_attributes(session, object, &wanted, 1);
    if (result != CKR_OK) return result;
    /* A CK_BBOOL is one byte. */
    if (wanted.count == 1) *value = *(BYTES *)value;
    return CKR_OK;
}

CK_RV cpkcs11_bytes(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ULONG attribute, uint8_t *value, size_t *count) {
    MODULE(call);
    struct attribute wanted = {attribute, value, *count};
    CK_RV result = call->get_attributes(session, object, &wanted, 1);
    if (result != CKR_OK) return result;
    if (wanted.count > *count) return CPKCS11_TOO_LONG;
    *count = wanted.count;
    return CKR_OK;
}

static BYTES yes = 1;
/* What a template leaves out is the token's choice (PKCS#11 v3.1, 4.1.1), and may be everything: each use that a key is not for is named, too. */
static BYTES no = 0;

CK_RV cpkcs11_copy(int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_OBJECT_HANDLE *copy) {
    MODULE(call);
    struct attribute wanted = {CKA_TOKEN, &no, 1};
    return call->copy_object(session, object, &wanted, 1, copy);
}

CK_RV cpkcs11_agree(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, const uint8_t *point, size_t point_count,
    uint8_t *secret) {
    MODULE(call);
    struct agreement agreement = {.derivation = NO_DERIVATION, .point_count = point_count, .point = (BYTES *)point};
    struct mechanism mechanism = {CKM_ECDH1_DERIVE, &agreement, sizeof agreement};
    CK_ULONG class = CKO_SECRET_KEY, type = CKK_GENERIC_SECRET, length = 32;
    struct attribute wanted[] = {
        {CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type}, {CKA_TOKEN, &no, 1},
        {CKA_SENSITIVE, &no, 1},           {CKA_EXTRACTABLE, &yes, 1},         {CKA_VALUE_LEN, &length, sizeof length},
    };
    CK_OBJECT_HANDLE derived = 0;
    CK_RV result = call->derive(session, &mechanism, key, wanted, sizeof wanted / sizeof wanted[0], &derived);
    if (result != CKR_OK) return result;
    struct attribute value = {CKA_VALUE, secret, 32};
    result = call->get_attributes(session, derived, &value, 1);
    if (result == CKR_OK && value.count != 32) result = CPKCS11_TOO_LONG;
    CK_RV destroyed = call->destroy_object(session, derived);
    if (result == CKR_OK) result = destroyed;
    if (result != CKR_OK) cpkcs11_wipe(secret, 32);
    return result;
}

CK_RV cpkcs11_decrypt_rsa(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG mechanism, const uint8_t *input,
    size_t input_count, uint8_t *output, size_t *output_count, int *began) {
    MODULE(call);
    *began = 0;
    struct oaep oaep = {.hash = SHA256, .mask = MGF1_SHA256, .source = DATA_SPECIFIED};
    struct mechanism wanted = {mechanism, NULL, 0};
    if (mechanism == CKM_RSA_PKCS_OAEP) wanted = (struct mechanism){mechanism, &oaep, sizeof oaep};
    CK_RV result = call->decrypt_begin(session, &wanted, key);
    if (result != CKR_OK) return result;
    *began = 1;
    CK_ULONG count = *output_count;
    result = call->decrypt(session, (BYTES *)input, input_count, output, &count);
    *output_count = result == CKR_OK ? count : 0;
    return result;
}

CK_RV cpkcs11_sign(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG mechanism, const uint8_t *input,
    size_t input_count, uint8_t *output, size_t *output_count) {
    MODULE(call);
    struct mechanism wanted = {mechanism, NULL, 0};
    CK_RV result = call->sign_begin(session, &wanted, key);
    if (result != CKR_OK) return result;
    CK_ULONG count = *output_count;
    result = call->sign(session, (BYTES *)input, input_count, output, &count);
    *output_count = result == CKR_OK ? count : 0;
    return result;
}

CK_RV cpkcs11_gcm(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, int encrypts, const uint8_t *nonce,
    const uint8_t *associated, size_t associated_count, const uint8_t *input, size_t input_count, uint8_t *output,
    size_t *output_count) {
    MODULE(call);
    struct gcm gcm = {(BYTES *)nonce, 12, 96, (BYTES *)associated, associated_count, 128};
    struct mechanism mechanism = {CKM_AES_GCM, &gcm, sizeof gcm};
    CK_RV result = (encrypts ? call->encrypt_begin : call->decrypt_begin)(session, &mechanism, key);
    if (result != CKR_OK) return result;
    CK_ULONG count = *output_count;
    result = (encrypts ? call->encrypt : call->decrypt)(session, (BYTES *)input, input_count, output, &count);
    *output_count = result == CKR_OK ? count : 0;
    return result;
}

CK_RV cpkcs11_encrypt(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG mechanism, const uint8_t *input,
    size_t input_count, uint8_t *output, size_t *output_count) {
    MODULE(call);
    BYTES start[8] = {0};
    struct mechanism wanted = {mechanism, NULL, 0};
    if (mechanism == CKM_DES3_CBC) wanted = (struct mechanism){mechanism, start, sizeof start};
    CK_RV result = call->encrypt_begin(session, &wanted, key);
    if (result != CKR_OK) return result;
    CK_ULONG count = *output_count;
    result = call->encrypt(session, (BYTES *)input, input_count, output, &count);
    *output_count = result == CKR_OK ? count : 0;
    return result;
}

CK_RV cpkcs11_unwrap(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG type, const uint8_t *wrapped,
    size_t wrapped_count, CK_OBJECT_HANDLE *object) {
    MODULE(call);
    CK_ULONG class = CKO_SECRET_KEY;
    struct attribute wanted[] = {
        {CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type}, {CKA_TOKEN, &no, 1},
        {CKA_PRIVATE, &yes, 1},            {CKA_SENSITIVE, &yes, 1},           {CKA_EXTRACTABLE, &no, 1},
        {CKA_SIGN, type == CKK_AES ? &yes : &no, 1}, {CKA_ENCRYPT, type == CKK_AES ? &no : &yes, 1},
        {CKA_DECRYPT, &no, 1},             {CKA_VERIFY, &no, 1},               {CKA_WRAP, &no, 1},
        {CKA_UNWRAP, &no, 1},              {CKA_DERIVE, &no, 1},
    };
    struct mechanism mechanism = {CKM_AES_KEY_WRAP, NULL, 0};
    return call->unwrap(
        session, &mechanism, key, (BYTES *)wrapped, wrapped_count, wanted, sizeof wanted / sizeof wanted[0], object);
}

CK_RV cpkcs11_generate_p256(
    int module, CK_SESSION_HANDLE session, int signs, const uint8_t *label, size_t label_count, const uint8_t *id,
    size_t id_count) {
    MODULE(call);
    /* The object identifier of prime256v1 (RFC 5480 2.1.1.1). */
    static const BYTES curve[] = {0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07};
    struct attribute public[] = {
        {CKA_TOKEN, &yes, 1},
        {CKA_LABEL, (void *)label, label_count},
        {CKA_ID, (void *)id, id_count},
        {CKA_EC_PARAMS, (void *)curve, sizeof curve},
        {CKA_VERIFY, signs ? &yes : &no, 1},
        {CKA_ENCRYPT, &no, 1},
        {CKA_WRAP, &no, 1},
    };
    struct attribute private[] = {
        {CKA_TOKEN, &yes, 1},
        {CKA_PRIVATE, &yes, 1},
        {CKA_SENSITIVE, &yes, 1},
        {CKA_EXTRACTABLE, &no, 1},
        {CKA_LABEL, (void *)label, label_count},
        {CKA_ID, (void *)id, id_count},
        {CKA_SIGN, signs ? &yes : &no, 1},
        {CKA_DERIVE, signs ? &no : &yes, 1},
        {CKA_DECRYPT, &no, 1},
        {CKA_UNWRAP, &no, 1},
    };
    struct mechanism mechanism = {CKM_EC_KEY_PAIR_GEN, NULL, 0};
    CK_OBJECT_HANDLE made[2];
    return call->generate_pair(
        session, &mechanism, public, sizeof public / sizeof public[0], private, sizeof private / sizeof private[0],
        &made[0], &made[1]);
}

CK_RV cpkcs11_generate_secret(
    int module, CK_SESSION_HANDLE session, int encrypts, const uint8_t *label, size_t label_count, const uint8_t *id,
    size_t id_count) {
    MODULE(call);
    CK_ULONG length = 32;
    struct attribute wanted[] = {
        {CKA_TOKEN, &yes, 1},
        {CKA_PRIVATE, &yes, 1},
        {CKA_SENSITIVE, &yes, 1},
        {CKA_EXTRACTABLE, &no, 1},
        {CKA_LABEL, (void *)label, label_count},
        {CKA_ID, (void *)id, id_count},
        {CKA_VALUE_LEN, &length, sizeof length},
        {CKA_ENCRYPT, encrypts ? &yes : &no, 1},
        {CKA_DECRYPT, encrypts ? &yes : &no, 1},
        {CKA_SIGN, encrypts ? &no : &yes, 1},
        {CKA_VERIFY, encrypts ? &no : &yes, 1},
        {CKA_WRAP, &no, 1},
        {CKA_UNWRAP, &no, 1},
        {CKA_DERIVE, &no, 1},
    };
    struct mechanism mechanism = {encrypts ? CKM_AES_KEY_GEN : CKM_GENERIC_SECRET_KEY_GEN, NULL, 0};
    CK_OBJECT_HANDLE made;
    return call->generate_key(session, &mechanism, wanted, sizeof wanted / sizeof wanted[0], &made);
}

CK_RV cpkcs11_destroy(int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object) {
    MODULE(call);
    return call->destroy_object(session, object);
}
