// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Wire

/// `tills.json`: every till, for this user alone. A change is a new file, on the disk before it takes the old one's place.
struct TillFile: Sendable {
    private let folder: String
    private var path: String { "\(folder)/tills.json" }
    private static let largest = 4 << 20

    init(folder: String) { self.folder = folder }

    /// - Throws: where there is such a file and it cannot be used: a gateway without it would forget who was revoked.
    func load() throws(GatewayError) -> TillBook {
        guard FileSystem.exists(path) else { return TillBook() }
        do throws(SystemError) {
            let bytes = try FileSystem.bytes(of: path, atMost: Self.largest)
            do throws(WireError) { return TillBook(try WireJSON.decode([Till].self, from: bytes)) } catch {
                throw SystemError(code: EBADMSG)
            }
        } catch {
            throw .tills(path: path, errno: error.code)
        }
    }

    func save(_ book: TillBook) throws(GatewayError) {
        do throws(SystemError) {
            guard let bytes = try? WireJSON.encode(book.all) else { throw SystemError(code: EINVAL) }
            try DurableFile.replace(path, with: bytes.span, mode: 0o600)
        } catch {
            throw .tills(path: path, errno: error.code)
        }
    }
}

/// Why the gateway cannot serve.
public enum GatewayError: Error, Equatable, Sendable {
    /// The file of the tills cannot be read or written.
    case tills(path: String, errno: Int32)
    /// An address or a socket cannot be had: which, and why.
    case listen(String, String)
}

extension GatewayError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tills(let path, EBADMSG):
            "\(path) is damaged; restore it from a copy, or remove it and pair every till again"
        case .tills(let path, let code): "\(path) cannot be used: \(SystemError(code: code).remedy)"
        case .listen(let place, let why): "\(place) cannot be opened: \(why)"
        }
    }
}
