// SPDX-License-Identifier: Apache-2.0
import StrictJSON

/// A JSON document whose members are taken one by one; what nobody took is an error.
struct PackagerDocument {
    private let bytes: [UInt8]
    private let index: JSONIndex
    private let children: [Int: [Int]]

    init(_ bytes: [UInt8]) throws(PackagerError) {
        self.bytes = bytes
        do {
            index = try JSONIndex(bytes.span)
        } catch {
            throw .notJSON(offset: Self.offset(error))
        }
        guard index.nodes.first?.kind == .object else { throw .notJSON(offset: 0) }
        children = Dictionary(grouping: index.nodes.indices) { [index] in index.nodes[$0].parent }
    }

    private static func offset(_ error: JSONIndexError) -> Int? {
        switch error {
        case .truncated: nil
        case .unexpected(let offset), .nestedTooDeep(let offset), .duplicateMember(let offset),
            .tooManyMembers(let offset):
            offset
        }
    }

    var root: PackagerObject { PackagerObject(document: self, node: 0, path: "") }

    func child(_ name: String, of node: Int) -> Int? { children(of: node).first { self.name($0) == name } }
    func children(of node: Int) -> [Int] { children[node] ?? [] }
    func kind(_ node: Int) -> JSONIndex.Kind { index.nodes[node].kind }
    func name(_ node: Int) -> String { String(decoding: bytes[index.nodes[node].name], as: UTF8.self) }
    func string(_ node: Int) -> String? { index.string(index.nodes[node], in: bytes.span) }
    func integer(_ node: Int) -> Int? { index.integer(index.nodes[node], in: bytes.span).flatMap { Int(exactly: $0) } }
    func raw(_ node: Int) -> ArraySlice<UInt8> { bytes[index.nodes[node].value] }
}

/// One object of the document.
struct PackagerObject {
    let document: PackagerDocument
    let node: Int
    /// Names on the way here, for messages: `frame.`, `fields.35.`.
    let path: String

    func only(_ names: Set<String>) throws(PackagerError) {
        for child in document.children(of: node) where !names.contains(document.name(child)) {
            throw .unknownMember(path + document.name(child))
        }
    }

    func string(_ name: String) throws(PackagerError) -> String? {
        guard let child = document.child(name, of: node) else { return nil }
        guard let text = document.string(child) else { throw .wrongKind(path + name, wanted: "a text in quotes") }
        return text
    }

    func integer(_ name: String) throws(PackagerError) -> Int? {
        guard let child = document.child(name, of: node) else { return nil }
        guard let value = document.integer(child) else { throw .wrongKind(path + name, wanted: "a whole number") }
        return value
    }

    func flag(_ name: String) throws(PackagerError) -> Bool? {
        guard let child = document.child(name, of: node) else { return nil }
        switch String(decoding: document.raw(child), as: UTF8.self) {
        case "true": return true
        case "false": return false
        default: throw .wrongKind(path + name, wanted: "true or false")
        }
    }

    func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String, _: Value.Type = Value.self
    ) throws(PackagerError) -> Value? where Value.RawValue == String {
        guard let text = try string(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .notOneOf(path + name, Value.allCases.map(\.rawValue))
        }
        return value
    }

    func object(_ name: String) throws(PackagerError) -> PackagerObject? {
        guard let child = document.child(name, of: node) else { return nil }
        guard document.kind(child) == .object else { throw .wrongKind(path + name, wanted: "an object in braces") }
        return PackagerObject(document: document, node: child, path: "\(path)\(name).")
    }

    /// Names and texts of an object whose names are data.
    func texts(_ name: String) throws(PackagerError) -> [(String, String)]? {
        guard let object = try object(name) else { return nil }
        var pairs: [(String, String)] = []
        for child in document.children(of: object.node) {
            let key = document.name(child)
            guard let text = document.string(child) else {
                throw .wrongKind(object.path + key, wanted: "a text in quotes")
            }
            pairs.append((key, text))
        }
        return pairs
    }

    private func elements(_ name: String) throws(PackagerError) -> [Int]? {
        guard let child = document.child(name, of: node) else { return nil }
        guard document.kind(child) == .array else { throw .wrongKind(path + name, wanted: "a list in brackets") }
        return document.children(of: child)
    }

    func strings(_ name: String) throws(PackagerError) -> [String]? {
        guard let elements = try elements(name) else { return nil }
        let texts = elements.compactMap(document.string)
        guard texts.count == elements.count else { throw .wrongKind(path + name, wanted: "a list of texts in quotes") }
        return texts
    }

    func integers(_ name: String) throws(PackagerError) -> [Int]? {
        guard let elements = try elements(name) else { return nil }
        let values = elements.compactMap(document.integer)
        guard values.count == elements.count else { throw .wrongKind(path + name, wanted: "a list of whole numbers") }
        return values
    }

    func objects(_ name: String) throws(PackagerError) -> [PackagerObject]? {
        guard let elements = try elements(name) else { return nil }
        guard elements.allSatisfy({ document.kind($0) == .object }) else {
            throw .wrongKind(path + name, wanted: "a list of objects in braces")
        }
        return elements.map { PackagerObject(document: document, node: $0, path: "\(path)\(name).") }
    }
}

/// What has to be there, in the file or in its base.
func demanded<Value>(_ value: Value?, _ member: String) throws(PackagerError) -> Value {
    guard let value else { throw .missing(member) }
    return value
}
