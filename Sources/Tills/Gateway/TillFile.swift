// SPDX-License-Identifier: Apache-2.0
import Crypto
import Glibc
import Linux
import PaymentValues

/// `tills.json`: every till, for this user alone. A change is a new file, on the disk before it takes the old one's place.
///
/// `{"sha256":"…","tills":[…]}` without blanks; the sum is that of the list's bytes, SHA-256 in lower-case hexadecimal. A bit that
/// flips could otherwise make a revoked till valid again. A file of before is the list alone.
struct TillFile: Sendable {
    private let folder: String
    private var path: String { "\(folder)/tills.json" }
    private static let largest = 4 << 20
    private static let head = Array(#"{"sha256":""#.utf8)
    private static let middle = Array(#"","tills":"#.utf8)
    /// Characters of the sum.
    private static let sumLength = 64

    init(folder: String) { self.folder = folder }

    /// A file of before is written anew with its sum, as far as the disk takes it now.
    ///
    /// - Throws: where there is such a file and it cannot be used: a gateway without it would forget who was revoked.
    func load() throws(GatewayError) -> TillRegistry {
        guard FileSystem.exists(path) else { return TillRegistry() }
        let book: TillRegistry
        let isSummed: Bool
        do throws(SystemError) {
            let bytes = try FileSystem.bytes(of: path, atMost: Self.largest)
            isSummed = bytes.starts(with: Self.head)
            book = try Self.book(isSummed ? Self.list(in: bytes) : bytes)
        } catch {
            throw .tills(path: path, errno: error.code)
        }
        if !isSummed { try? save(book) }
        return book
    }

    func save(_ book: TillRegistry) throws(GatewayError) {
        do throws(SystemError) {
            guard let list = try? WireJSON.encode(book.all) else { throw SystemError(code: EINVAL) }
            let bytes = Self.head + Self.sum(of: list) + Self.middle + list + Array("}\n".utf8)
            try DurableFile.replace(path, with: bytes.span, mode: 0o600)
        } catch {
            throw .tills(path: path, errno: error.code)
        }
    }

    private static func sum(of list: [UInt8]) -> [UInt8] { Array(LowerHex.text(SHA256.hash(data: list)).utf8) }

    /// - Throws: `EBADMSG` unless each byte is as it was written.
    private static func list(in bytes: [UInt8]) throws(SystemError) -> [UInt8] {
        let sum = bytes.dropFirst(head.count).prefix(sumLength)
        let rest = bytes.dropFirst(head.count + sumLength)
        let list = Array(rest.dropFirst(middle.count).dropLast(2))
        guard rest.starts(with: middle), bytes.suffix(2) == Array("}\n".utf8), sum.elementsEqual(Self.sum(of: list))
        else { throw SystemError(code: EBADMSG) }
        return list
    }

    private static func book(_ list: [UInt8]) throws(SystemError) -> TillRegistry {
        guard let tills = try? WireJSON.decode([Till].self, from: list),
            Set(tills.map(\.till)).count == tills.count
        else { throw SystemError(code: EBADMSG) }
        return TillRegistry(tills)
    }
}

/// Why the gateway cannot serve.
public enum GatewayError: Error, Equatable, Sendable {
    /// The file of the tills cannot be read or written.
    case tills(path: String, errno: Int32)
    /// An address or a socket cannot be had: which, why, and what to do.
    case listen(String)
}

extension GatewayError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tills(let path, EBADMSG):
            "\(path) is damaged; restore it from a copy, or remove it and pair every till again"
        case .tills(let path, let code): "\(path) cannot be used: \(SystemError(code: code).remedy)"
        case .listen(let why): why
        }
    }
}
