// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where the worker program lies.
public enum WorkerProgram {
    public static let name = "nfc-tap-libnfc-worker"
    /// Descriptor on which a worker finds its socket.
    package static let socket: Int32 = 3
    /// Environment variable with the path of the program, before every other place.
    public static let variable = "NFC_TAP_LIBNFC_WORKER"
    private static let installed = "/usr/libexec/nfc-tap/" + name

    /// The path from the environment, or the program beside this one, or the installed one.
    ///
    /// - Returns: `nil` where none of them can be executed.
    public static func find() -> String? {
        if let path = unsafe getenv(variable) { return unsafe String(cString: path) }
        return [besideThisProgram(), installed].compactMap(\.self).first { unsafe access($0, X_OK) == 0 }
    }

    private static func besideThisProgram() -> String? {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe path.withUnsafeMutableBytes { buffer in
            guard let base = unsafe buffer.bindMemory(to: CChar.self).baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", base, buffer.count)
        }
        guard count > 0, let slash = path.prefix(count).lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: path[...slash], as: UTF8.self) + name
    }
}
