// SPDX-License-Identifier: Apache-2.0
#ifndef NFC_TAP_CPKCS11_H
#define NFC_TAP_CPKCS11_H

/// What of PKCS#11 2.40 (OASIS) is needed here, and calls of a module that take plain buffers. Nothing is linked: a module is the
/// shared library of whoever made the token, opened by its path. On Linux its structures are those of the compiler.
///
/// Every function answers with a CKR_ number of the standard, or with one of these, which no module gives.

#include <stddef.h>
#include <stdint.h>

typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV;
typedef CK_ULONG CK_SLOT_ID;
typedef CK_ULONG CK_SESSION_HANDLE;
typedef CK_ULONG CK_OBJECT_HANDLE;

enum {
    /// The library cannot be opened or has no C_GetFunctionList.
    CPKCS11_NO_MODULE = 0x7F000001,
    /// More modules than this process has places for.
    CPKCS11_TOO_MANY_MODULES = 0x7F000002,
    /// No slot holds a token of the name.
    CPKCS11_NO_TOKEN = 0x7F000003,
    /// Several tokens have the name.
    CPKCS11_SEVERAL_TOKENS = 0x7F000004,
    /// The answer is longer than the room for it.
    CPKCS11_TOO_LONG = 0x7F000005,
};

enum {
    CKR_OK = 0x000,
    CKR_HOST_MEMORY = 0x002,
    CKR_SLOT_ID_INVALID = 0x003,
    CKR_GENERAL_ERROR = 0x005,
    CKR_FUNCTION_FAILED = 0x006,
    CKR_ARGUMENTS_BAD = 0x007,
    CKR_ATTRIBUTE_SENSITIVE = 0x011,
    CKR_ATTRIBUTE_TYPE_INVALID = 0x012,
    CKR_DEVICE_ERROR = 0x030,
    CKR_DEVICE_MEMORY = 0x031,
    CKR_DEVICE_REMOVED = 0x032,
    CKR_FUNCTION_NOT_SUPPORTED = 0x054,
    CKR_KEY_HANDLE_INVALID = 0x060,
    CKR_KEY_TYPE_INCONSISTENT = 0x063,
    CKR_KEY_FUNCTION_NOT_PERMITTED = 0x068,
    CKR_MECHANISM_INVALID = 0x070,
    CKR_MECHANISM_PARAM_INVALID = 0x071,
    CKR_OBJECT_HANDLE_INVALID = 0x082,
    CKR_PIN_INCORRECT = 0x0A0,
    CKR_PIN_INVALID = 0x0A1,
    CKR_PIN_LEN_RANGE = 0x0A2,
    CKR_PIN_EXPIRED = 0x0A3,
    CKR_PIN_LOCKED = 0x0A4,
    CKR_SESSION_CLOSED = 0x0B0,
    CKR_SESSION_COUNT = 0x0B1,
    CKR_SESSION_HANDLE_INVALID = 0x0B3,
    CKR_TOKEN_NOT_PRESENT = 0x0E0,
    CKR_TOKEN_NOT_RECOGNIZED = 0x0E1,
    CKR_USER_ALREADY_LOGGED_IN = 0x100,
    CKR_USER_NOT_LOGGED_IN = 0x101,
    CKR_USER_PIN_NOT_INITIALIZED = 0x102,
    CKR_CRYPTOKI_NOT_INITIALIZED = 0x190,
    CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191,
};

enum {
    CKO_PUBLIC_KEY = 2,
    CKO_PRIVATE_KEY = 3,
    CKO_SECRET_KEY = 4,
};

enum {
    CKK_RSA = 0x00,
    CKK_EC = 0x03,
    CKK_GENERIC_SECRET = 0x10,
    CKK_DES2 = 0x14,
    CKK_DES3 = 0x15,
    CKK_AES = 0x1F,
    CKK_SHA256_HMAC = 0x2B,
};

enum {
    CKA_CLASS = 0x000,
    CKA_TOKEN = 0x001,
    CKA_PRIVATE = 0x002,
    CKA_LABEL = 0x003,
    CKA_VALUE = 0x011,
    CKA_KEY_TYPE = 0x100,
    CKA_ID = 0x102,
    CKA_SENSITIVE = 0x103,
    CKA_ENCRYPT = 0x104,
    CKA_DECRYPT = 0x105,
    CKA_WRAP = 0x106,
    CKA_UNWRAP = 0x107,
    CKA_SIGN = 0x108,
    CKA_VERIFY = 0x10A,
    CKA_DERIVE = 0x10C,
    CKA_MODULUS = 0x120,
    CKA_PUBLIC_EXPONENT = 0x122,
    CKA_VALUE_LEN = 0x161,
    CKA_EXTRACTABLE = 0x162,
    CKA_EC_PARAMS = 0x180,
    CKA_EC_POINT = 0x181,
};

enum {
    CKM_RSA_X_509 = 0x0003,
    CKM_RSA_PKCS_OAEP = 0x0009,
    CKM_DES3_ECB = 0x0132,
    CKM_DES3_CBC = 0x0133,
    CKM_SHA256_HMAC = 0x0251,
    CKM_GENERIC_SECRET_KEY_GEN = 0x0350,
    CKM_EC_KEY_PAIR_GEN = 0x1040,
    CKM_ECDSA = 0x1041,
    CKM_ECDH1_DERIVE = 0x1050,
    CKM_AES_KEY_GEN = 0x1080,
    CKM_AES_GCM = 0x1087,
    CKM_AES_CMAC = 0x108A,
    CKM_AES_KEY_WRAP = 0x2109,
};

/// Opens a module. The same path gives the same number; a module is never closed again, for few survive that.
CK_RV cpkcs11_open(const char *_Nonnull path, int *_Nonnull module);

/// C_Initialize with CKF_OS_LOCKING_OK.
CK_RV cpkcs11_initialize(int module);
CK_RV cpkcs11_finalize(int module);

/// The slot whose token has this label.
CK_RV cpkcs11_find_slot(int module, const uint8_t *_Nonnull label, size_t count, CK_SLOT_ID *_Nonnull slot);

/// A session that may write as well: a token key cannot be made in another one.
CK_RV cpkcs11_open_session(int module, CK_SLOT_ID slot, int writes, CK_SESSION_HANDLE *_Nonnull session);
CK_RV cpkcs11_close_session(int module, CK_SESSION_HANDLE session);
CK_RV cpkcs11_close_all_sessions(int module, CK_SLOT_ID slot);

/// C_Login as CKU_USER.
CK_RV cpkcs11_login(int module, CK_SESSION_HANDLE session, const uint8_t *_Nonnull pin, size_t count);
CK_RV cpkcs11_logout(int module, CK_SESSION_HANDLE session);

/// Objects of a class, by label and id where their counts are not zero: those that the token keeps, or with `lasts` 0 those that end
/// with a session of this process, whichever session that is. `*found` is the room, and on return how many there are, which may be more.
CK_RV cpkcs11_find(
    int module, CK_SESSION_HANDLE session, CK_ULONG class, int lasts, const uint8_t *_Nonnull label, size_t label_count,
    const uint8_t *_Nonnull id, size_t id_count, CK_OBJECT_HANDLE *_Nonnull objects, size_t *_Nonnull found);

/// An attribute that is a CK_ULONG or a CK_BBOOL.
CK_RV cpkcs11_number(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ULONG attribute, CK_ULONG *_Nonnull value);

/// An attribute of up to `*count` bytes.
CK_RV cpkcs11_bytes(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ULONG attribute, uint8_t *_Nonnull value,
    size_t *_Nonnull count);

/// CKM_ECDH1_DERIVE without a key derivation of the token's: the 32 bytes on which key and point agree. The derived object is
/// destroyed, whatever happens; where that fails the secret is wiped.
CK_RV cpkcs11_agree(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, const uint8_t *_Nonnull point, size_t point_count,
    uint8_t *_Nonnull secret);

/// RSA decryption: CKM_RSA_PKCS_OAEP with SHA-256 and MGF1 of SHA-256, or CKM_RSA_X_509. `*began` says whether the token takes the
/// mechanism: a later fault is one of the ciphertext.
CK_RV cpkcs11_decrypt_rsa(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG mechanism, const uint8_t *_Nonnull input,
    size_t input_count, uint8_t *_Nonnull output, size_t *_Nonnull output_count, int *_Nonnull began);

/// CKM_ECDSA over a digest, CKM_SHA256_HMAC or CKM_AES_CMAC over a message.
CK_RV cpkcs11_sign(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG mechanism, const uint8_t *_Nonnull input,
    size_t input_count, uint8_t *_Nonnull output, size_t *_Nonnull output_count);

/// CKM_AES_GCM with a nonce of 12 bytes and a tag of 16 at the end of the ciphertext.
CK_RV cpkcs11_gcm(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, int encrypts, const uint8_t *_Nonnull nonce,
    const uint8_t *_Nonnull associated, size_t associated_count, const uint8_t *_Nonnull input, size_t input_count,
    uint8_t *_Nonnull output, size_t *_Nonnull output_count);

/// CKM_DES3_ECB, or CKM_DES3_CBC from a start of zeros, over whole blocks of 8 bytes.
CK_RV cpkcs11_encrypt(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG mechanism, const uint8_t *_Nonnull input,
    size_t input_count, uint8_t *_Nonnull output, size_t *_Nonnull output_count);

/// CKM_AES_KEY_WRAP (RFC 3394): a key that makes codes, stays in the token, and ends with the session. An AES key signs, one of another type encrypts.
CK_RV cpkcs11_unwrap(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ULONG type, const uint8_t *_Nonnull wrapped,
    size_t wrapped_count, CK_OBJECT_HANDLE *_Nonnull object);

/// A key pair on P-256 that stays in the token: to agree on secrets, or to sign.
CK_RV cpkcs11_generate_p256(
    int module, CK_SESSION_HANDLE session, int signs, const uint8_t *_Nonnull label, size_t label_count,
    const uint8_t *_Nonnull id, size_t id_count);

/// A secret key of 32 bytes that stays in the token: AES to encrypt, or a key for HMAC-SHA-256.
CK_RV cpkcs11_generate_secret(
    int module, CK_SESSION_HANDLE session, int encrypts, const uint8_t *_Nonnull label, size_t label_count,
    const uint8_t *_Nonnull id, size_t id_count);

/// A copy that ends with the session; in everything else it is what the object is.
CK_RV cpkcs11_copy(
    int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_OBJECT_HANDLE *_Nonnull copy);

CK_RV cpkcs11_destroy(int module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object);

/// Zeroes that no optimiser leaves out.
void cpkcs11_wipe(void *_Nonnull bytes, size_t count);

#endif
