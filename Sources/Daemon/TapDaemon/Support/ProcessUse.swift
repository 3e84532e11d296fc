// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Metrics

/// What this process takes of the machine, under the names that every exporter uses.
enum ProcessUse {
    static var families: [MetricFamily] {
        var families: [MetricFamily] = []
        func gauge(_ name: String, _ value: Double?, _ help: String) {
            guard let value else { return }
            var family = MetricFamily(name, .gauge, help: help)
            family.add(value)
            families.append(family)
        }
        gauge("process_resident_memory_bytes", residentBytes, "Memory in use.")
        gauge("process_open_fds", openDescriptors.map(Double.init), "Open file descriptors.")
        gauge("process_max_fds", maximumDescriptors, "File descriptors that may be open.")
        var processor = MetricFamily("process_cpu_seconds_total", .counter, help: "Processor time used.")
        processor.add(processorSeconds)
        return families + [processor]
    }

    /// The second number of proc_pid_statm(5), in pages.
    private static var residentBytes: Double? {
        guard let line = try? FileSystem.beginning(of: "/proc/self/statm", 256) else { return nil }
        let text = String(decoding: line.prefix { $0 != 0x0A }, as: UTF8.self)
        let numbers = text.split(separator: " ")
        guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openDescriptors: Int? {
        // One of them is the one that reads.
        FileSystem.entries("/proc/self/fd").map { max(0, $0.count - 1) }
    }

    private static var maximumDescriptors: Double? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Double(limit.rlim_cur)
    }

    private static var processorSeconds: Double { Double(MachineClock.processor) / 1_000_000_000 }
}
