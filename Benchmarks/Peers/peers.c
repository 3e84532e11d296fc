// SPDX-License-Identifier: Apache-2.0
// What OpenSSL and mbedTLS of Debian do of a tap's work, so often: peers NAME TIMES. Ends with 1 where the work went wrong.
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ecdh.h>
#include <mbedtls/entropy.h>
#include <mbedtls/gcm.h>
#include <mbedtls/rsa.h>
#include <mbedtls/sha256.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 248, text = 700 };
static unsigned char modulus[bytes], message[bytes], result[bytes], plain[text], sealed[text], tag[16];
static const unsigned char nonce[12];

// The modulus of our own test key, in hexadecimal, from the environment.
static int read_modulus(void) {
    const char *digits = getenv("MODULUS");
    if (!digits || strlen(digits) != 2 * bytes) return 0;
    for (int index = 0; index < bytes; index++) {
        char pair[3] = {digits[2 * index], digits[2 * index + 1], 0};
        modulus[index] = (unsigned char)strtoul(pair, NULL, 16);
        message[index] = 0x41;
    }
    return 1;
}

// The key is kept, as a terminal keeps a CA's.
static int openssl_rsa(int exponent, int times) {
    RSA *key = RSA_new();
    BIGNUM *e = BN_new();
    if (!key || !e || !BN_set_word(e, exponent) || !RSA_set0_key(key, BN_bin2bn(modulus, bytes, NULL), e, NULL)) return 0;
    while (times-- > 0)
        if (RSA_public_decrypt(bytes, message, result, key, RSA_NO_PADDING) != bytes) return 0;
    RSA_free(key);
    return 1;
}

// A fresh key on P-256, agreed with the recipient, and A256GCM over 700 bytes.
static int openssl_seal(int times) {
    EVP_PKEY *recipient = EVP_EC_gen("P-256");
    while (times-- > 0) {
        unsigned char secret[32], key[32];
        size_t count = sizeof secret;
        int written = 0;
        EVP_PKEY *own = EVP_EC_gen("P-256");
        EVP_PKEY_CTX *agreement = EVP_PKEY_CTX_new(own, NULL);
        if (!own || EVP_PKEY_derive_init(agreement) <= 0 || EVP_PKEY_derive_set_peer(agreement, recipient) <= 0) return 0;
        if (EVP_PKEY_derive(agreement, secret, &count) <= 0 || !EVP_Digest(secret, count, key, NULL, EVP_sha256(), NULL)) return 0;
        EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
        if (!EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, nonce)) return 0;
        if (!EVP_EncryptUpdate(cipher, sealed, &written, plain, text) || !EVP_EncryptFinal_ex(cipher, sealed + written, &written)) return 0;
        if (!EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, 16, tag)) return 0;
        EVP_CIPHER_CTX_free(cipher);
        EVP_PKEY_CTX_free(agreement);
        EVP_PKEY_free(own);
    }
    EVP_PKEY_free(recipient);
    return 1;
}

static int mbedtls_public(int exponent, int times) {
    unsigned char e[3] = {(unsigned char)(exponent >> 16), (unsigned char)(exponent >> 8), (unsigned char)exponent};
    mbedtls_rsa_context key;
    mbedtls_rsa_init(&key, MBEDTLS_RSA_PKCS_V15, 0);
    if (mbedtls_rsa_import_raw(&key, modulus, bytes, NULL, 0, NULL, 0, NULL, 0, e, sizeof e) || mbedtls_rsa_complete(&key)) return 0;
    while (times-- > 0)
        if (mbedtls_rsa_public(&key, message, result)) return 0;
    mbedtls_rsa_free(&key);
    return 1;
}

static int mbedtls_seal(int times) {
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    mbedtls_ecp_group group;
    mbedtls_mpi other;
    mbedtls_ecp_point recipient;
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&random);
    mbedtls_ecp_group_init(&group);
    mbedtls_mpi_init(&other);
    mbedtls_ecp_point_init(&recipient);
    if (mbedtls_ctr_drbg_seed(&random, mbedtls_entropy_func, &entropy, NULL, 0)) return 0;
    if (mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1)) return 0;
    if (mbedtls_ecdh_gen_public(&group, &other, &recipient, mbedtls_ctr_drbg_random, &random)) return 0;
    while (times-- > 0) {
        unsigned char secret[32], key[32];
        mbedtls_mpi own, shared;
        mbedtls_ecp_point point;
        mbedtls_gcm_context cipher;
        mbedtls_mpi_init(&own);
        mbedtls_mpi_init(&shared);
        mbedtls_ecp_point_init(&point);
        mbedtls_gcm_init(&cipher);
        if (mbedtls_ecdh_gen_public(&group, &own, &point, mbedtls_ctr_drbg_random, &random)) return 0;
        if (mbedtls_ecdh_compute_shared(&group, &shared, &recipient, &own, mbedtls_ctr_drbg_random, &random)) return 0;
        if (mbedtls_mpi_write_binary(&shared, secret, sizeof secret) || mbedtls_sha256_ret(secret, sizeof secret, key, 0)) return 0;
        if (mbedtls_gcm_setkey(&cipher, MBEDTLS_CIPHER_ID_AES, key, 256)) return 0;
        if (mbedtls_gcm_crypt_and_tag(&cipher, MBEDTLS_GCM_ENCRYPT, text, nonce, 12, NULL, 0, plain, sealed, 16, tag)) return 0;
        mbedtls_gcm_free(&cipher);
        mbedtls_ecp_point_free(&point);
        mbedtls_mpi_free(&shared);
        mbedtls_mpi_free(&own);
    }
    return 1;
}

int main(int count, char **words) {
    if (count != 3 || !read_modulus()) return 2;
    int times = atoi(words[2]);
    if (!strcmp(words[1], "openssl-rsa-e3")) return !openssl_rsa(3, times);
    if (!strcmp(words[1], "openssl-rsa-e65537")) return !openssl_rsa(65537, times);
    if (!strcmp(words[1], "openssl-seal")) return !openssl_seal(times);
    if (!strcmp(words[1], "mbedtls-rsa-e3")) return !mbedtls_public(3, times);
    if (!strcmp(words[1], "mbedtls-rsa-e65537")) return !mbedtls_public(65537, times);
    if (!strcmp(words[1], "mbedtls-seal")) return !mbedtls_seal(times);
    return 2;
}
