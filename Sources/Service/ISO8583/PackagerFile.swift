// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Packager {
    /// The packagers that come with the program, which a file may name as its base.
    public enum BuiltIn: String, Sendable, CaseIterable {
        case ascii1987 = "1987-ascii-binbitmap"
        case asciiHex1987 = "1987-ascii-hexbitmap"
        case bcd1987 = "1987-bcd"
        case ascii1993 = "1993-ascii-binbitmap"

        /// The file itself: where an engineer begins.
        public var file: [UInt8] {
            switch self {
            case .ascii1987: PackageResources.iso1987_ascii_binbitmap_json
            case .asciiHex1987: PackageResources.iso1987_ascii_hexbitmap_json
            case .bcd1987: PackageResources.iso1987_bcd_json
            case .ascii1993: PackageResources.iso1993_ascii_binbitmap_json
            }
        }
    }

    public init(_ builtIn: BuiltIn) throws(PackagerError) { try self.init(file: builtIn.file) }

    /// Reads a packager file. What the file does not say comes from its base; a field that it names is taken whole from it.
    public init(file: [UInt8]) throws(PackagerError) {
        let root = try PackagerDocument(file).root
        try root.only([
            "name", "base", "version", "mti", "bitmap", "numbers", "text", "binary", "lengths", "separator", "frame",
            "fields", "codes", "answers", "network", "requests", "entry", "reversal", "chip", "mac", "totals",
        ])
        // Every base stands on a built-in file that has none, or one more of them: the way ends.
        let base = try root.choice("base", BuiltIn.self).map { (builtIn) throws(PackagerError) in try Packager(builtIn)
        }
        name = try demanded(try root.string("name"), "name")
        version = try demanded(try Self.version(root) ?? base?.version, "version")
        type = try demanded(try root.choice("mti") ?? base?.type, "mti")
        bitmap = try demanded(try root.choice("bitmap") ?? base?.bitmap, "bitmap")
        frame = try Self.frame(root, base?.frame ?? FrameFormat())
        defaults = try Self.defaults(root, base?.defaults)
        fields = try Self.fields(root, base, defaults)
        codes = try Self.codes(root.object("codes"), base?.codes)
        network = try Self.network(root.object("network"), base?.network, version)
        answers = try Self.answers(root.object("answers"), base?.answers)
        requests = try Self.requests(root, base?.requests, fields)
        reversal = try Self.reversal(root.object("reversal"), base?.reversal)
        chip = try Self.chip(root.object("chip"), base?.chip)
        totals = try Self.totals(root.object("totals"), base?.totals, fields)
        mac = try Self.mac(root.object("mac"), base?.mac, fields)
        try checkReferences()
    }

    private static func version(_ root: PackagerObject) throws(PackagerError) -> MessageType.Version? {
        guard let text = try root.string("version") else { return nil }
        switch text {
        case "1987": return .iso1987
        case "1993": return .iso1993
        default: throw .notOneOf("version", ["1987", "1993"])
        }
    }

    private static func frame(_ root: PackagerObject, _ base: FrameFormat) throws(PackagerError) -> FrameFormat {
        guard let object = try root.object("frame") else { return base }
        try object.only(["length", "countsItself", "tpdu", "destination"])
        var destination = base.destination
        if let text = try object.string("destination") {
            guard text.utf8.count == 4, let number = UInt16(text, radix: 16) else {
                throw .wrongKind("frame.destination", wanted: "four hexadecimal digits as in 0003")
            }
            destination = number
        }
        return FrameFormat(
            length: try object.choice("length") ?? base.length,
            countsItself: try object.flag("countsItself") ?? base.countsItself,
            hasTPDU: try object.flag("tpdu") ?? base.hasTPDU, destination: destination)
    }

    // MARK: - Fields

    private static func defaults(
        _ root: PackagerObject, _ base: FieldDefaults?
    ) throws(PackagerError) -> FieldDefaults {
        FieldDefaults(
            numbers: try root.choice("numbers") ?? base?.numbers, text: try root.choice("text") ?? base?.text,
            binary: try root.choice("binary") ?? base?.binary, lengths: try root.choice("lengths") ?? base?.lengths,
            separator: try separator(root) ?? base?.separator)
    }

    private static func fields(
        _ root: PackagerObject, _ base: Packager?, _ defaults: FieldDefaults
    ) throws(PackagerError) -> [Int: FieldRule] {
        var fields = base?.fields ?? [:]
        // Encodings for all fields count for those of the base, too; built-in fields have none of their own.
        for (number, rule) in fields { fields[number] = try defaults.changed(rule).checked() }
        var seen: Set<Int> = []
        for object in try root.objects("fields") ?? [] {
            let number = try demanded(try object.integer("field"), "fields.field")
            guard (2...128).contains(number), number != 65 else { throw .fieldOutOfRange("fields.field") }
            guard seen.insert(number).inserted else { throw .fieldTwice(number) }
            fields[number] = try rule(
                PackagerObject(document: object.document, node: object.node, path: "fields.\(number)."), number,
                defaults
            ).checked()
        }
        guard !fields.isEmpty else { throw .missing("fields") }
        return fields
    }

    private static func separator(_ root: PackagerObject) throws(PackagerError) -> UInt8? {
        guard let text = try root.string("separator") else { return nil }
        guard text == "D" || text == "=" else { throw .notOneOf("separator", ["D", "="]) }
        return text.utf8.first
    }

    private static func rule(
        _ object: PackagerObject, _ number: Int, _ defaults: FieldDefaults
    ) throws(PackagerError) -> FieldRule {
        try object.only(["field", "name", "format", "encoding", "lengths", "counts", "pad"])
        let notation = try demanded(try object.string("format"), object.path + "format")
        guard let format = FieldFormat(notation) else { throw .notAFormat(field: number, notation) }
        let encoding = try object.choice("encoding", FieldRule.Encoding.self) ?? defaults.encoding(format.content)
        var lengths = FieldRule.LengthEncoding.ascii
        if case .variable = format.length {
            lengths = try demanded(
                try object.choice("lengths") ?? defaults.lengths, object.path + "lengths, or lengths for all fields")
        }
        return FieldRule(
            number: number, name: try demanded(try object.string("name"), object.path + "name"), format: format,
            encoding: try demanded(encoding, object.path + "encoding, or numbers, text and binary for all fields"),
            lengths: lengths, counts: try object.choice("counts") ?? (format.content == .binary ? .bytes : .digits),
            pad: try object.choice("pad") ?? .leftZero, separator: defaults.separator ?? 0x44)
    }

    private func checkReferences() throws(PackagerError) {
        for (member, numbers) in [
            ("network.field", [network.field, 7, 11, 39]),
            ("reversal.fields", reversal.fields + [reversal.reasonField, version == .iso1987 ? 90 : 56]),
            ("reversal.constants", Array(reversal.constants.keys)),
        ] {
            for number in numbers where fields[number] == nil { throw .noSuchField(member, field: number) }
        }
        // What a reversal takes from its original goes into the books: no track, no cryptogram, no PIN.
        for number in reversal.fields where [7, 11, 35, 36, 39, 45, 52, 55].contains(number) {
            throw .notInItself("reversal.fields", field: number)
        }
    }
}

/// Encodings of all fields that do not say otherwise.
struct FieldDefaults: Equatable, Sendable {
    let numbers: FieldRule.Encoding?
    let text: FieldRule.Encoding?
    let binary: FieldRule.Encoding?
    let lengths: FieldRule.LengthEncoding?
    let separator: UInt8?

    func encoding(_ content: FieldFormat.Content) -> FieldRule.Encoding? {
        switch content {
        case .text(.digits), .track, .signed: numbers
        case .text: text
        case .binary: binary
        }
    }

    /// A field of the base under these.
    func changed(_ rule: FieldRule) -> FieldRule {
        FieldRule(
            number: rule.number, name: rule.name, format: rule.format,
            encoding: encoding(rule.format.content) ?? rule.encoding, lengths: lengths ?? rule.lengths,
            counts: rule.counts, pad: rule.pad, separator: separator ?? rule.separator)
    }
}

extension FieldRule {
    /// Itself, unless its settings exclude each other.
    func checked() throws(PackagerError) -> FieldRule {
        let isBinary = format.content == .binary
        switch encoding {
        case .bcd:
            switch format.content {
            case .text(.digits), .track, .signed: break
            case .text, .binary: throw .doesNotFit(field: number, .bcdOfCharacters)
            }
            guard counts == .digits || pad == .rightF else { throw .doesNotFit(field: number, .uncountedDigits) }
        case .binary, .hex:
            guard isBinary else { throw .doesNotFit(field: number, .binaryOfCharacters) }
        case .ascii, .ebcdic:
            guard !isBinary else { throw .doesNotFit(field: number, .charactersOfBinary) }
        }
        if case .variable(let digits, let most) = format.length, encoding == .hex, counts == .digits {
            guard most * 2 <= (digits == 2 ? 99 : 999) else { throw .doesNotFit(field: number, .lengthTooSmall) }
        }
        return self
    }
}
