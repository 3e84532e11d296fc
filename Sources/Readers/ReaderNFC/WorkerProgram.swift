// SPDX-License-Identifier: Apache-2.0
import Linux

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
        if let path = Environment.value(variable) { return path }
        return [Environment.beside(name), installed].compactMap(\.self).first { FileSystem.isExecutable($0) }
    }
}
