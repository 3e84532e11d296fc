// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What the files below a folder hold, by their names in it. Another process reads them: by closing a file of a journal that
/// it has open this one would give up SQLite's locks on it (sqlite.org/howtocorrupt.html, 2.2). The next program that looks
/// into the journal would take it for nobody's, and cut off the index that is mapped here.
///
/// - Throws: `Unread` where there is no file, or one that cannot be read: whoever finds nothing must have looked.
public func filesOnDisk(in folder: String) throws -> [(name: String, bytes: Data)] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().compactMap { name in
        try bytes(of: folder + "/" + name).map { (name: name, bytes: $0) }
    }
    guard !files.isEmpty else { throw Unread(path: folder) }
    return files
}

private struct Unread: Error { let path: String }

/// - Returns: `nil` for what is no file, or has gone meanwhile, as a log does.
private func bytes(of path: String) throws -> Data? {
    let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    guard kind == .typeRegular else { return nil }
    let copy = try Peer.run("/bin/cat", [path])
    guard copy.status == 0 else {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        throw Unread(path: path)
    }
    return copy.bytes
}
