// SPDX-License-Identifier: Apache-2.0

/// JSON of texts, whole numbers and flags, which is all that profiles have. Read and written by `WireJSON`, so without duplicate members
/// and with sorted ones: the same content gives the same bytes.
public enum JSONTree: Codable, Equatable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([JSONTree])
    case object([String: JSONTree])

    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONTree].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONTree].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let list): try container.encode(list)
        case .object(let members): try container.encode(members)
        }
    }

    subscript(name: String) -> JSONTree? {
        get {
            guard case .object(let members) = self else { return nil }
            return members[name]
        }
        set {
            guard case .object(var members) = self else { return }
            members[name] = newValue
            self = .object(members)
        }
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// Each value by its place: `terminal.combinations[0].aid`. An empty list or object stands for itself.
    var leaves: [(place: String, value: String)] {
        switch self {
        case .text(let text): [("", "\"\(text)\"")]
        case .number(let number): [("", "\(number)")]
        case .flag(let flag): [("", "\(flag)")]
        case .list(let list):
            list.isEmpty
                ? [("", "[]")]
                : list.enumerated().flatMap { index, value in value.leaves.map { ("[\(index)]\($0.place)", $0.value) } }
        case .object(let members):
            members.isEmpty
                ? [("", "{}")]
                : members.sorted { $0.key < $1.key }.flatMap { name, value in
                    value.leaves.map { leaf in
                        (
                            leaf.place.isEmpty || leaf.place.hasPrefix("[")
                                ? name + leaf.place : "\(name).\(leaf.place)", leaf.value
                        )
                    }
                }
        }
    }
}
