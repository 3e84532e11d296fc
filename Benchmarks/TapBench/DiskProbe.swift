// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What this machine's disk takes for one durable write: a tap makes several, each before the step it is about.
enum DiskProbe {
    /// - Returns: nanoseconds of each, sorted.
    static func writes(in folder: String, count: Int) throws -> [Double] {
        let path = folder + "/probe"
        let descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError.failed("cannot write to \(folder)") }
        defer {
            _ = close(descriptor)
            _ = unsafe unlink(path)
        }
        let page = [UInt8](repeating: 0x5A, count: 4_096)
        var times: [Double] = []
        for _ in 0..<count {
            let start = Stopwatch.wallTime()
            guard unsafe write(descriptor, page, page.count) == page.count, fsync(descriptor) == 0 else {
                throw BenchmarkError.failed("cannot write to \(folder)")
            }
            times.append(Double(Stopwatch.wallTime() - start))
        }
        return times.sorted()
    }
}
