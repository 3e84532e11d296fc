// SPDX-License-Identifier: Apache-2.0
import Foundation

/// In which order a program gives its files their names and waits for the disk, as the kernel is asked for it: `Tests/Rigs/Disk`.
public struct DiskLog {
    private let folder: URL

    public init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Peer.compile(Checkout.file("Tests/Rigs/Disk/disk.c").path, to: library)
    }

    public func remove() { try? FileManager.default.removeItem(at: folder) }

    /// For a program that is to be watched.
    public var environment: [String: String] { ["LD_PRELOAD": library, "DISK": log.path] }

    /// A line for each act, oldest first.
    public func lines() throws -> [String] {
        guard FileManager.default.fileExists(atPath: log.path) else { return [] }
        return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Files whose names a power cut may take though something stays that was written after them: strict POSIX, where a name is on the
    /// disk when its folder was synced, and not before.
    ///
    /// - Parameter resting: endings of files that are made under their names and on which something rests. Whatever is renamed does.
    public func uncertainNames(resting: [String] = []) throws -> [String] {
        // What is not on the disk yet, and the folders that are to be synced for it.
        var waiting: [String: Set<String>] = [:]
        var uncertain: [String] = []
        for line in try lines() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "make" where resting.contains { words[1].hasSuffix($0) }:
                waiting[words[1]] = [Self.folder(words[1])]
            case "rename":
                waiting[words[1]] = nil
                waiting[words[2]] = [Self.folder(words[1]), Self.folder(words[2])]
            case "remove": waiting[words[1]] = nil
            case "sync":
                let before = waiting
                waiting = waiting.mapValues { $0.subtracting([words[1]]) }.filter { !$0.value.isEmpty }
                // A folder settles names; whatever else is synced may rest on them.
                guard before == waiting else { continue }
                uncertain += waiting.keys.filter { $0 != words[1] }.map { "\($0), and \(words[1]) is synced" }
            default: break
            }
        }
        return uncertain + waiting.keys.map { "\($0), to the end" }
    }

    private static func folder(_ path: String) -> String { URL(filePath: path).deletingLastPathComponent().path }

    private var library: String { folder.appending(path: "libdisk.so").path }
    private var log: URL { folder.appending(path: "log") }
}
