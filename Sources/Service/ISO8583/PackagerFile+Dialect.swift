// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The parts of a packager file that say what a host means.
extension Packager {
    static func codes(_ object: PackagerObject?, _ base: HostCodes?) throws(PackagerError) -> HostCodes {
        guard let object else { return try demanded(base, "codes") }
        try object.only(["approved", "partial", "later", "doubtful", "declined", "reversed", "unknown"])
        func list(_ name: String, _ inherited: Set<String>?) throws(PackagerError) -> Set<String> {
            try demanded(try object.strings(name).map { Set($0) } ?? inherited, object.path + name)
        }
        return HostCodes(
            approved: try list("approved", base?.approved), partial: try list("partial", base?.partial),
            later: try list("later", base?.later), doubtful: try list("doubtful", base?.doubtful),
            declined: try list("declined", base?.declined), reversed: try list("reversed", base?.reversed),
            unknown: try list("unknown", base?.unknown))
    }

    static func answers(_ object: PackagerObject?, _ base: AnswerRules?) throws(PackagerError) -> AnswerRules {
        try object?.only(["match", "reference"])
        let reference = try object?.choice("reference", AnswerRules.Reference.self) ?? base?.reference ?? .ours
        let usual = [7, 32, 37, 41].filter { $0 != 37 || reference == .ours }
        let match = try object?.integers("match") ?? (base?.reference == reference ? base?.match : nil) ?? usual
        for field in match where !AnswerRules.possible.contains(field) || (field == 37 && reference == .host) {
            throw .notInItself("answers.match", field: field)
        }
        guard !match.isEmpty else { throw .missing("answers.match") }
        return AnswerRules(match: match, reference: reference)
    }

    static func network(
        _ object: PackagerObject?, _ base: NetworkRules?, _ version: MessageType.Version
    ) throws(PackagerError) -> NetworkRules {
        guard let object else { return try demanded(base, "network") }
        try object.only([
            "type", "field", "signOn", "signOff", "echo", "cutOver", "keyChange", "obeyed", "accepted", "refused",
        ])
        var obeyed = base?.obeyed ?? [.signOn, .signOff, .echo, .cutOver]
        if let words = try object.strings("obeyed") {
            let known = words.compactMap(NetworkRules.Word.init)
            guard known.count == words.count else {
                throw .notOneOf("network.obeyed", NetworkRules.Word.allCases.map(\.rawValue))
            }
            obeyed = Set(known)
        }
        func text(_ name: String, _ inherited: String?) throws(PackagerError) -> String {
            try demanded(try object.string(name) ?? inherited, object.path + name)
        }
        let digits = try text("type", base?.type.description)
        guard let type = MessageType(digits: digits.utf8), type.answer != nil else {
            throw .wrongKind("network.type", wanted: "four digits of a request as in 0800")
        }
        return NetworkRules(
            type: type, field: try demanded(try object.integer("field") ?? base?.field, "network.field"),
            signOn: try text("signOn", base?.signOn), signOff: try text("signOff", base?.signOff),
            echo: try text("echo", base?.echo),
            cutOver: try text("cutOver", base?.cutOver ?? (version == .iso1987 ? "201" : "821")),
            keyChange: try text("keyChange", base?.keyChange ?? (version == .iso1987 ? "101" : "811")),
            obeyed: obeyed,
            accepted: try demanded(
                try object.strings("accepted").map { Set($0) } ?? base?.accepted, "network.accepted"),
            refused: try text("refused", base?.refused))
    }

    static func requests(
        _ root: PackagerObject, _ base: RequestRules?, _ fields: [Int: FieldRule]
    ) throws(PackagerError) -> RequestRules {
        var constants = base?.constants ?? [:]
        if let object = try root.object("requests") {
            try object.only(Set(RequestRules.Kind.allCases.map(\.rawValue)))
            for kind in RequestRules.Kind.allCases {
                for (key, text) in try object.texts(kind.rawValue) ?? [] {
                    let member = "requests.\(kind.rawValue)"
                    constants[kind, default: [:]][try number(key, text, member, fields)] = text
                }
            }
        }
        let entry = try root.object("entry")
        try entry?.only(["chip", "magstripe"])
        func code(_ name: String, _ inherited: String) throws(PackagerError) -> String {
            guard let text = try entry?.string(name) else { return inherited }
            try fits(text, 22, "entry.\(name)", fields)
            return text
        }
        return RequestRules(
            constants: constants, chipEntry: try code("chip", base?.chipEntry ?? "072"),
            stripeEntry: try code("magstripe", base?.stripeEntry ?? "912"))
    }

    /// Of a field whose text the file may say.
    private static func number(
        _ key: String, _ text: String, _ member: String, _ fields: [Int: FieldRule]
    ) throws(PackagerError) -> Int {
        guard let number = Int(key), (2...128).contains(number) else { throw .fieldOutOfRange("\(member).\(key)") }
        if text.isEmpty, RequestRules.dispensable.contains(number) { return number }
        guard !RequestRules.ofTheProgram.contains(number) else { throw .notInItself(member, field: number) }
        try fits(text, number, member, fields)
        return number
    }

    private static func fits(
        _ text: String, _ number: Int, _ member: String, _ fields: [Int: FieldRule]
    ) throws(PackagerError) {
        guard let rule = fields[number] else { throw .noSuchField(member, field: number) }
        do throws(MessageError) { _ = try rule.encode(Array(text.utf8)) } catch {
            throw .wrongKind("\(member).\(number)", wanted: "a text that the field's format takes, padding included")
        }
    }

    static func totals(
        _ object: PackagerObject?, _ base: TotalsRules?, _ fields: [Int: FieldRule]
    ) throws(PackagerError) -> TotalsRules? {
        guard let object else { return base }
        try object.only(["field", "schemes", "other"])
        let field = try demanded(try object.integer("field") ?? base?.field, "totals.field")
        // Those of the message itself.
        guard !([7, 11, 15, 32, 39, 41, 42, 50, 64, 66, 97, 128] + (74...77) + (86...89)).contains(field) else {
            throw .notInItself("totals.field", field: field)
        }
        var schemes = base?.schemes ?? [:]
        for (name, text) in try object.texts("schemes") ?? [] { schemes[name] = text }
        let other = try demanded(try object.string("other") ?? base?.other, "totals.other")
        for (name, text) in schemes { try fits(text, field, "totals.schemes.\(name)", fields) }
        try fits(other, field, "totals.other", fields)
        return TotalsRules(field: field, schemes: schemes, other: other)
    }

    static func reversal(_ object: PackagerObject?, _ base: ReversalRules?) throws(PackagerError) -> ReversalRules {
        guard let object else { return try demanded(base, "reversal") }
        try object.only(["advice", "fields", "reasonField", "reasons", "constants"])
        var constants = base?.constants ?? [:]
        for (key, text) in try object.texts("constants") ?? [] {
            guard let number = Int(key), (2...128).contains(number) else {
                throw .fieldOutOfRange("reversal.constants.\(key)")
            }
            constants[number] = text
        }
        var reasons = base?.reasons ?? [:]
        for (key, text) in try object.texts("reasons") ?? [] {
            guard let reason = ReversalReason(rawValue: key) else {
                throw .notOneOf("reversal.reasons", ReversalReason.allCases.map(\.rawValue))
            }
            reasons[reason] = text
        }
        for reason in ReversalReason.allCases where reasons[reason] == nil {
            throw .missing("reversal.reasons.\(reason.rawValue)")
        }
        return ReversalRules(
            isAdvice: try demanded(try object.flag("advice") ?? base?.isAdvice, "reversal.advice"),
            fields: try demanded(try object.integers("fields") ?? base?.fields, "reversal.fields"),
            reasonField: try demanded(try object.integer("reasonField") ?? base?.reasonField, "reversal.reasonField"),
            reasons: reasons, constants: constants)
    }

    /// Card number, track data, names, expiry, PIN and offline PIN data: a host has them elsewhere, or never gets them.
    static let forbidden = Tag.ofCardNumber.union(Tag.ofHolder).union([0x5F24, 0x99, 0x9F46])

    static func chip(_ object: PackagerObject?, _ base: ChipRules?) throws(PackagerError) -> ChipRules {
        guard let object else { return try demanded(base, "chip") }
        try object.only(["required", "optional", "visa", "mastercard", "other", "reversal", "expendable", "most"])
        func tags(_ name: String, _ inherited: [Tag]?) throws(PackagerError) -> [Tag] {
            guard let texts = try object.strings(name) else { return try demanded(inherited, object.path + name) }
            var tags: [Tag] = []
            for text in texts {
                guard text.utf8.count <= 8, let number = UInt32(text, radix: 16), Tag(number).isWellFormed,
                    Tag(number).description == text
                else { throw .notADataObject(object.path + name, text) }
                guard !forbidden.contains(Tag(number)) else { throw .forbiddenDataObject(object.path + name, text) }
                tags.append(Tag(number))
            }
            return tags
        }
        var schemes: [ChipRules.Scheme: [Tag]] = [:]
        for scheme in ChipRules.Scheme.allCases {
            schemes[scheme] = try tags(scheme.rawValue, base?.schemes[scheme])
        }
        let reversal = try tags("reversal", base?.reversal)
        // The cryptogram belongs to the payment and is not kept for its reversal.
        guard !reversal.contains(0x9F26) else { throw .forbiddenDataObject("chip.reversal", "9F26") }
        let most = try demanded(try object.integer("most") ?? base?.most, "chip.most")
        guard (1...999).contains(most) else { throw .wrongKind("chip.most", wanted: "a number of bytes from 1 to 999") }
        return ChipRules(
            required: try tags("required", base?.required), optional: try tags("optional", base?.optional),
            schemes: schemes, reversal: reversal, expendable: try tags("expendable", base?.expendable), most: most)
    }
}
