// SPDX-License-Identifier: Apache-2.0
/// A remedy that can do no harm: it starts what belongs to us or to pcscd, lets the kernel give up a reader, or writes a
/// file of our own name.
public enum Fix: Equatable, Sendable {
    /// A program and its arguments, found by PATH, and another that runs once the first has succeeded.
    case run([String], then: [String]? = nil)
    /// A file that is made or replaced.
    case write(path: String, text: String)

    /// What `apply` does, as a person would type it.
    public var description: String {
        switch self {
        case .run(let words, let next):
            [words, next].compactMap { $0?.joined(separator: " ") }.joined(separator: " && ")
        case .write(let path, _): "write \(path)"
        }
    }

    /// Applies it.
    ///
    /// - Parameters:
    ///   - tree: files are written below its root. Commands act on the running machine, so that under another root
    ///     nothing is run.
    ///   - run: runs a program to its end, and says whether it succeeded.
    /// - Returns: whether it worked.
    public func apply(to tree: HostTree, run: ([String]) -> Bool) -> Bool {
        switch self {
        case .run(let words, let next): tree.isThisMachine && run(words) && next.map(run) ?? true
        case .write(let path, let text): tree.write(text, to: path)
        }
    }
}
