// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Clocks of a program that are not the machine's: as after a sleep, and with a wall clock that somebody has moved. They
/// can be moved while the program runs. Its monotonic clock is left alone.
///
/// No machine is suspended for it. What sleep does to USB is made apart, by devices that go and come.
final class MovedClock {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "clock-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let source = Checkout.file("Tests/Rigs/Clock/clock.c")
        try Peer.compile(source.path, to: library)
        try sleeps(seconds: 0)
        try isAhead(by: .zero)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// For a program that is to live by these clocks.
    var environment: [String: String] {
        [
            "LD_PRELOAD": library, "ASLEEP": file("asleep").path, "SHIFTED": file("shifted").path,
            "SYNCHRONIZED": file("synchronized").path,
        ]
    }

    /// From now on the machine has slept so long in all.
    func sleeps(seconds: Int) throws { try write(seconds, "asleep") }

    /// From now on the wall clock is so far ahead of the true time, or behind it.
    func isAhead(by time: Duration) throws { try write(Int(time.components.seconds), "shifted") }

    /// From now on the kernel says that a time service leads the wall clock, or that none does.
    func isSynchronized(_ whether: Bool) throws { try write(whether ? 1 : 0, "synchronized") }

    private func write(_ number: Int, _ name: String) throws {
        try "\(number)\n".write(to: file(name), atomically: true, encoding: .utf8)
    }

    private var library: String { folder.appending(path: "libclock.so").path }
    private func file(_ name: String) -> URL { folder.appending(path: name) }
}

extension Duration {
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
    static func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }
}
