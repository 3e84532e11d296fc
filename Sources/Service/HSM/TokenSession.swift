// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import CardBytes
import Synchronization

/// A session of a token, for the thread that has it. Each `unsafe` hands arrays to C for the length of the call; secrets in them
/// are wiped before it returns.
struct TokenSession {
    let module: Int32
    let handle: CK_SESSION_HANDLE

    /// Held while objects are looked for or a copy is made. SoftHSM 2.6.1 shows every session of the process a copy that is still being
    /// made, as an object that the token keeps: a key seemed to be there twice.
    private static let objects = Mutex(())

    static func open(_ module: Int32, token: String, writes: Bool) throws(TokenCode) -> TokenSession {
        var slot: CK_SLOT_ID = 0
        let label = Array(token.utf8)
        try TokenCode.check(unsafe cpkcs11_find_slot(module, label, label.count, &slot))
        var handle: CK_SESSION_HANDLE = 0
        try TokenCode.check(unsafe cpkcs11_open_session(module, slot, writes ? 1 : 0, &handle))
        return TokenSession(module: module, handle: handle)
    }

    /// Somebody else's login is ours: all sessions of a process share it.
    func login(_ pin: SecretBytes) throws(TokenCode) {
        let code = unsafe pin.withUnsafeBytes { bytes -> CK_RV in
            guard let base = bytes.baseAddress else { return CK_RV(CKR_PIN_INCORRECT) }
            return unsafe cpkcs11_login(module, handle, base, bytes.count)
        }
        if code != CKR_USER_ALREADY_LOGGED_IN { try TokenCode.check(code) }
    }

    func close() { _ = cpkcs11_close_session(module, handle) }

    // MARK: - Objects

    /// Up to `most` objects that the token keeps, and how many there are.
    func find(
        _ kind: Int, label: String = "", id: [UInt8] = [], most: Int = 2
    ) throws(TokenCode) -> (objects: [CK_OBJECT_HANDLE], count: Int) {
        var objects = [CK_OBJECT_HANDLE](repeating: 0, count: most)
        var count = most
        let label = Array(label.utf8)
        let code = Self.objects.withLock { _ in
            unsafe cpkcs11_find(
                module, handle, CK_ULONG(kind), 1, label, label.count, id, id.count, &objects, &count)
        }
        try TokenCode.check(code)
        return (Array(objects.prefix(count)), count)
    }

    func number(_ attribute: Int, of object: CK_OBJECT_HANDLE) throws(TokenCode) -> Int {
        var value: CK_ULONG = 0
        try TokenCode.check(unsafe cpkcs11_number(module, handle, object, CK_ULONG(attribute), &value))
        return Int(clamping: value)
    }

    func bytes(_ attribute: Int, of object: CK_OBJECT_HANDLE) throws(TokenCode) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: 2_048)
        var count = value.count
        try TokenCode.check(unsafe cpkcs11_bytes(module, handle, object, CK_ULONG(attribute), &value, &count))
        return Array(value.prefix(count))
    }

    /// A copy of a key, which ends with this session and stays in the token as the key does. `nil` where the token makes none, for
    /// whatever reason: if it is lost, the next call hears that.
    func copy(_ key: CK_OBJECT_HANDLE) -> CK_OBJECT_HANDLE? {
        var copy: CK_OBJECT_HANDLE = 0
        let code = Self.objects.withLock { _ in unsafe cpkcs11_copy(module, handle, key, &copy) }
        guard code == CKR_OK else { return nil }
        do throws(TokenCode) {
            if try number(CKA_EXTRACTABLE, of: copy) == 0, try number(CKA_SENSITIVE, of: copy) == 1 { return copy }
        } catch {
            // What cannot be asked about is not used either.
        }
        destroy(copy)
        return nil
    }

    /// Of a copy; whatever the token answers, it ends with the session.
    func destroy(_ copy: CK_OBJECT_HANDLE) { _ = cpkcs11_destroy(module, handle, copy) }

    // MARK: - Work

    /// The x coordinate on which the key and a point agree, 32 bytes. No object is left in the token.
    func agree(_ key: CK_OBJECT_HANDLE, point: [UInt8]) throws(TokenCode) -> SecretBytes {
        var secret = [UInt8](repeating: 0, count: 32)
        defer { Self.wipe(&secret) }
        try TokenCode.check(unsafe cpkcs11_agree(module, handle, key, point, point.count, &secret))
        return SecretBytes(secret)
    }

    /// - Returns: `nil` where the token takes the mechanism and not the ciphertext.
    func decrypt(
        _ ciphertext: [UInt8], mechanism: Int, key: CK_OBJECT_HANDLE
    ) throws(TokenCode) -> SecretBytes? {
        var output = [UInt8](repeating: 0, count: ciphertext.count)
        defer { Self.wipe(&output) }
        var count = output.count
        var began: Int32 = 0
        let code = unsafe cpkcs11_decrypt_rsa(
            module, handle, key, CK_ULONG(mechanism), ciphertext, ciphertext.count, &output, &count, &began)
        guard code != CKR_OK else {
            return SecretBytes(capacity: count) { $0.append(contentsOf: output.prefix(count)) }
        }
        let answer = TokenCode(number: code)
        // A fault of the ciphertext must not look like one of the token, and a general error may be either.
        let isUnclear = [CKR_GENERAL_ERROR, CKR_FUNCTION_FAILED].contains(Int(code))
        guard began == 1, answer.loss == nil || isUnclear else { throw answer }
        return nil
    }

    /// - Parameter mechanism: CKM_ECDSA over a digest, CKM_SHA256_HMAC or CKM_AES_CMAC over a message.
    func sign(_ message: SecretBytes, mechanism: Int, key: CK_OBJECT_HANDLE) throws(TokenCode) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: 128)
        var count = output.count
        let code = unsafe message.withUnsafeBytes { bytes -> CK_RV in
            guard let base = bytes.baseAddress else { return CK_RV(CKR_ARGUMENTS_BAD) }
            return unsafe cpkcs11_sign(
                module, handle, key, CK_ULONG(mechanism), base, bytes.count, &output, &count)
        }
        try TokenCode.check(code)
        return Array(output.prefix(count))
    }

    /// AES-256-GCM: ciphertext with its tag.
    func encrypt(
        _ content: SecretBytes, nonce: [UInt8], associated: [UInt8], key: CK_OBJECT_HANDLE
    ) throws(TokenCode) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: content.count + 16)
        var count = output.count
        let code = unsafe content.withUnsafeBytes { bytes -> CK_RV in
            guard let base = bytes.baseAddress else { return CK_RV(CKR_ARGUMENTS_BAD) }
            return unsafe cpkcs11_gcm(
                module, handle, key, 1, nonce, associated, associated.count, base, bytes.count, &output, &count)
        }
        try TokenCode.check(code)
        return Array(output.prefix(count))
    }

    func decrypt(
        _ sealed: [UInt8], nonce: [UInt8], associated: [UInt8], key: CK_OBJECT_HANDLE
    ) throws(TokenCode) -> SecretBytes {
        var output = [UInt8](repeating: 0, count: sealed.count)
        defer { Self.wipe(&output) }
        var count = output.count
        let code = unsafe cpkcs11_gcm(
            module, handle, key, 0, nonce, associated, associated.count, sealed, sealed.count, &output, &count)
        try TokenCode.check(code)
        return SecretBytes(capacity: count) { $0.append(contentsOf: output.prefix(count)) }
    }

    /// Whole blocks of 8 bytes, by CKM_DES3_ECB or CKM_DES3_CBC.
    func encrypt(_ blocks: [UInt8], mechanism: Int, key: CK_OBJECT_HANDLE) throws(TokenCode) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: blocks.count)
        var count = output.count
        let code = unsafe cpkcs11_encrypt(
            module, handle, key, CK_ULONG(mechanism), blocks, blocks.count, &output, &count)
        try TokenCode.check(code)
        return Array(output.prefix(count))
    }

    /// A key for codes, as it came wrapped (RFC 3394): AES that signs, or DES that encrypts. It ends with the session.
    func unwrap(_ wrapped: [UInt8], _ type: Int, by key: CK_OBJECT_HANDLE) throws(TokenCode) -> CK_OBJECT_HANDLE {
        var object: CK_OBJECT_HANDLE = 0
        let code = Self.objects.withLock { _ in
            unsafe cpkcs11_unwrap(module, handle, key, CK_ULONG(type), wrapped, wrapped.count, &object)
        }
        try TokenCode.check(code)
        return object
    }

    /// Makes a key that cannot leave the token.
    func make(_ key: TokenKey, signs: Bool) throws(TokenCode) {
        let label = Array(key.label.utf8)
        let id = key.id.isEmpty ? label : key.id
        let code =
            switch key.kind {
            case .p256:
                unsafe cpkcs11_generate_p256(
                    module, handle, signs ? 1 : 0, label, label.count, id, id.count)
            case .secret:
                unsafe cpkcs11_generate_secret(
                    module, handle, signs ? 0 : 1, label, label.count, id, id.count)
            case .rsa, .des: CK_RV(CKR_FUNCTION_NOT_SUPPORTED)
            }
        try TokenCode.check(code)
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        unsafe cpkcs11_wipe(&bytes, bytes.count)
    }
}
