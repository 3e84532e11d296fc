// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A machine's sleep as a program sees it in the clocks: the one that counts it is ahead of the one that does not.
///
/// No machine is suspended for it. What sleep does to USB is made apart, by devices that go and come.
final class SleepingClock {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "clock-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let source = Checkout.file("Tests/Rigs/Clock/asleep.c")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library, source.path]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "clang, which the toolchain has")
        try sleeps(seconds: 0)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// For a program that is to live by this clock.
    var environment: [String: String] { ["LD_PRELOAD": library, "ASLEEP": file.path] }

    /// From now on the machine has slept so long in all.
    func sleeps(seconds: Int) throws { try "\(seconds)\n".write(to: file, atomically: true, encoding: .utf8) }

    private var library: String { folder.appending(path: "libasleep.so").path }
    private var file: URL { folder.appending(path: "seconds") }
}
