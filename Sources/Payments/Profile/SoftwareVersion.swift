// SPDX-License-Identifier: Apache-2.0
/// Three numbers, as Semantic Versioning has them: `0.1.0`.
public struct SoftwareVersion: Comparable, Sendable {
    public let major: Int
    public let minor: Int
    public let patch: Int

    public static func < (left: SoftwareVersion, right: SoftwareVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}

extension SoftwareVersion: LosslessStringConvertible {
    public var description: String { "\(major).\(minor).\(patch)" }

    /// - Returns: `nil` for anything but three numbers of at most six digits between dots.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var numbers: [Int] = []
        for part in parts {
            guard (1...6).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(part)
            else { return nil }
            numbers.append(number)
        }
        (major, minor, patch) = (numbers[0], numbers[1], numbers[2])
    }
}
