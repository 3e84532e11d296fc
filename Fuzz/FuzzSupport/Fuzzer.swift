// SPDX-License-Identifier: Apache-2.0
import CFuzz
import Glibc

/// libFuzzer around one function.
public enum Fuzzer {
    /// Runs until libFuzzer's options say stop; a trap in `target` is the finding.
    public static func run(_ target: @escaping @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32) -> Never {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        exit(unsafe LLVMFuzzerRunDriver(&count, &arguments, target))
    }

    public static func bytes(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        guard let data = unsafe data else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: data, count: count))
    }

    /// `--seeds FOLDER` as the first arguments: where to write inputs to begin with.
    public static var seedFolder: String? {
        let arguments = CommandLine.arguments
        return arguments.count > 2 && arguments[1] == "--seeds" ? arguments[2] : nil
    }

    /// Writes one seed; the folder must exist.
    public static func write(_ seed: [UInt8], to folder: String, named name: String) {
        guard let file = unsafe fopen("\(folder)/\(name)", "w") else { exit(1) }
        guard unsafe fwrite(seed, 1, seed.count, file) == seed.count, unsafe fclose(file) == 0 else { exit(1) }
    }
}
