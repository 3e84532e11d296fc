import Glibc

/// OpenSSL's libcrypto, looked up when the benchmark runs, so that nothing needs it to be built.
@safe struct LibCrypto {
    private typealias FromBytes = @convention(c) (UnsafePointer<UInt8>, Int32, OpaquePointer?) -> OpaquePointer?
    private typealias New = @convention(c) () -> OpaquePointer?
    private typealias SetKey = @convention(c) (OpaquePointer, OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
    private typealias Decrypt =
        @convention(c) (
            Int32, UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>, OpaquePointer, Int32
        ) -> Int32
    private typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?

    private let fromBytes: FromBytes
    private let new: New
    private let setKey: SetKey
    private let decrypt: Decrypt
    let version: String

    /// - Returns: `nil` where this machine has none.
    init?() {
        guard let library = unsafe dlopen("libcrypto.so.3", RTLD_NOW),
            let fromBytes = unsafe dlsym(library, "BN_bin2bn"), let new = unsafe dlsym(library, "RSA_new"),
            let setKey = unsafe dlsym(library, "RSA_set0_key"),
            let decrypt = unsafe dlsym(library, "RSA_public_decrypt"),
            let version = unsafe dlsym(library, "OpenSSL_version")
        else { return nil }
        unsafe self.fromBytes = unsafeBitCast(fromBytes, to: FromBytes.self)
        unsafe self.new = unsafeBitCast(new, to: New.self)
        unsafe self.setKey = unsafeBitCast(setKey, to: SetKey.self)
        unsafe self.decrypt = unsafeBitCast(decrypt, to: Decrypt.self)
        let text = unsafe unsafeBitCast(version, to: Version.self)(0)
        self.version = unsafe text.map { unsafe String(cString: $0) } ?? "OpenSSL"
    }

    /// The public operation without padding, as often as it is called. The key lives as long as the process.
    func publicOperation(modulus: [UInt8], exponent: [UInt8]) -> (([UInt8]) -> [UInt8]?)? {
        guard let key = unsafe new(),
            unsafe setKey(
                key, fromBytes(modulus, Int32(modulus.count), nil), fromBytes(exponent, Int32(exponent.count), nil),
                nil) == 1
        else { return nil }
        let noPadding: Int32 = 3
        let decrypt = unsafe decrypt
        return { signature in
            var result = [UInt8](repeating: 0, count: modulus.count)
            let count = unsafe decrypt(Int32(signature.count), signature, &result, key, noPadding)
            return count == result.count ? result : nil
        }
    }
}
