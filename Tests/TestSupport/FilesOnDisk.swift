// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What the files below a folder hold, by their names in it. Another process reads them: by closing a file of a journal that
/// it has open this one would give up SQLite's locks on it (sqlite.org/howtocorrupt.html, 2.2). The next program that looks
/// into the journal would take it for nobody's, and cut off the index that is mapped here.
public func filesOnDisk(in folder: String) throws -> [(name: String, bytes: Data)] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return try names.sorted().compactMap { name in
        let path = folder + "/" + name
        // What has gone meanwhile, as the log of a transaction does, holds nothing.
        let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        return kind == .typeRegular ? (name, try output(of: "/bin/cat", [path])) : nil
    }
}

private func output(of program: String, _ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return output
}
