import Glibc

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
        guard let file = unsafe fopen("/proc/self/statm", "re") else { return nil }
        defer { _ = unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let numbers = text.split(separator: " ")
        guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openDescriptors: Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { _ = unsafe closedir(folder) }
        var entries = 0
        while unsafe readdir(folder) != nil { entries += 1 }
        // `.`, `..` and the one that reads.
        return max(0, entries - 3)
    }

    private static var maximumDescriptors: Double? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Double(limit.rlim_cur)
    }

    private static var processorSeconds: Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}
