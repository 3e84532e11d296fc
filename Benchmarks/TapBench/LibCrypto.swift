// SPDX-License-Identifier: Apache-2.0
import Glibc

/// OpenSSL's libcrypto, looked up when the benchmark runs, so that nothing needs it to be built.
@safe struct LibCrypto {
    private typealias FromBytes = @convention(c) (UnsafePointer<UInt8>, Int32, OpaquePointer?) -> OpaquePointer?
    private typealias New = @convention(c) () -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer?) -> Void
    private typealias SetKey = @convention(c) (OpaquePointer, OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
    private typealias Decrypt =
        @convention(c) (
            Int32, UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>, OpaquePointer, Int32
        ) -> Int32
    private typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?

    private let fromBytes: FromBytes
    private let new: New
    private let free: Free
    private let setKey: SetKey
    private let decrypt: Decrypt
    let version: String

    /// - Throws: `.missing` where this machine has none.
    init() throws {
        guard let library = unsafe dlopen("libcrypto.so.3", RTLD_NOW),
            let fromBytes = unsafe dlsym(library, "BN_bin2bn"), let new = unsafe dlsym(library, "RSA_new"),
            let free = unsafe dlsym(library, "RSA_free"), let setKey = unsafe dlsym(library, "RSA_set0_key"),
            let decrypt = unsafe dlsym(library, "RSA_public_decrypt"),
            let version = unsafe dlsym(library, "OpenSSL_version")
        else { throw BenchmarkError.missing("no libcrypto.so.3: apt-get install libssl3") }
        unsafe self.fromBytes = unsafeBitCast(fromBytes, to: FromBytes.self)
        unsafe self.new = unsafeBitCast(new, to: New.self)
        unsafe self.free = unsafeBitCast(free, to: Free.self)
        unsafe self.setKey = unsafeBitCast(setKey, to: SetKey.self)
        unsafe self.decrypt = unsafeBitCast(decrypt, to: Decrypt.self)
        let text = unsafe unsafeBitCast(version, to: Version.self)(0)
        self.version = unsafe text.map { unsafe String(cString: $0) } ?? "OpenSSL"
    }

    /// A key that is freed with its last user.
    @safe private final class Key {
        let pointer: OpaquePointer
        private let free: Free

        init(_ pointer: OpaquePointer, _ free: Free) {
            unsafe self.pointer = pointer
            unsafe self.free = free
        }

        deinit { unsafe free(pointer) }
    }

    /// The public operation without padding, as often as it is called.
    func publicOperation(modulus: [UInt8], exponent: [UInt8]) throws -> ([UInt8]) -> [UInt8]? {
        guard let pointer = unsafe new(),
            unsafe setKey(
                pointer, fromBytes(modulus, Int32(modulus.count), nil),
                fromBytes(exponent, Int32(exponent.count), nil), nil) == 1
        else { throw BenchmarkError.failed("OpenSSL refuses the key") }
        let key = unsafe Key(pointer, free)
        let noPadding: Int32 = 3
        let decrypt = unsafe decrypt
        return { signature in
            var result = [UInt8](repeating: 0, count: modulus.count)
            let count = unsafe decrypt(Int32(signature.count), signature, &result, key.pointer, noPadding)
            return count == result.count ? result : nil
        }
    }
}
