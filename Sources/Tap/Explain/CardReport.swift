// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
public import EMV

/// What a card says of itself, made fit to be shown: values that identify account or holder are masked unless the caller
/// asks for them.
public struct CardReport: Equatable, Sendable {
    public struct Line: Equatable, Sendable {
        public let tag: String
        /// By the dictionary, `nil` for a tag it does not know.
        public let name: String?
        /// In hexadecimal; `nil` where it is hidden.
        public let value: String?
        /// Number of bytes, shown or hidden.
        public let length: Int
    }

    public struct Application: Equatable, Sendable {
        public let aid: String
        public let label: String?
        /// The scheme of the application, by its AID; `nil` if that is not known.
        public let scheme: String?
        /// Whether that scheme's kernel is not public, so that no terminal of everybody's takes a payment from it.
        public let isKernelSecret: Bool
        /// The name that the card would have shown (9F12, in the code table of 9F11); `nil` where it gives none that can be.
        public let preferredName: String?
        /// 1…15, lower first; 0 where the card gives none.
        public let priority: Int
        /// Digits, all but the last four as `*` unless unmasked; `nil` where the card gave none.
        public let cardNumber: String?
        /// `YYYY-MM-DD` as 5F24 says, `YYYY-MM` where only the track does.
        public let expiry: String?
        /// One phrase: how far the reading of this application came.
        public let end: String
        public let objects: [Line]
    }

    public let applications: [Application]
    /// One phrase on the card as a whole.
    public let end: String
    /// Whether the data of an application were read, to the end or in part.
    public let hasRead: Bool

    /// - Parameter unmasked: show everything the card sent, its number and its holder's name included.
    public init(_ outcome: CardInspectionOutcome, unmasked: Bool) {
        hasRead = outcome.hasRead
        applications = outcome.applications.map { CardReport.application($0, unmasked: unmasked) }
        end =
            switch outcome.end {
            case .complete: outcome.hasRead ? "read completely" : "no application let itself be read"
            case .emptyDirectory:
                "the payment directory (PPSE) names no application: a phone may have no card in it, or none chosen"
            case .noDirectory(let status): "no contactless payment directory (PPSE), status word \(status)"
            case .torn: "card left the field before everything was read"
            }
    }

    private static func application(_ application: InspectedApplication, unmasked: Bool) -> Application {
        // Tags like 9F6E mean something else for each kernel.
        let kernel = CodeNames.kernel(application.adfName)
        return Application(
            aid: Hex.string(application.adfName),
            label: application.objects.value(of: 0x50).map(CardText.ascii),
            scheme: PaymentNetwork(aid: application.adfName)?.name,
            isKernelSecret: PaymentNetwork(aid: application.adfName).map { !$0.hasPublicKernel } ?? false,
            preferredName: preferredName(of: application),
            priority: Int(application.priority & 0x0F),
            cardNumber: cardNumber(of: application, unmasked: unmasked),
            expiry: expiry(of: application),
            end: phrase(application.end),
            objects: application.objects.map { object in
                Line(
                    tag: object.tag.description,
                    name: DataDictionary.element(object.tag, kernel: kernel)?.name,
                    value: unmasked || AccountData.kind(object.tag, count: object.value.count) == nil
                        ? Hex.string(object.value) : nil,
                    length: object.value.count)
            })
    }

    /// A receipt's paper has letters of table 1 at best (EMV Book 4 §11.3); a screen has those of table 5 too.
    private static func preferredName(of application: InspectedApplication) -> String? {
        guard let bytes = application.objects.value(of: 0x9F12) else { return nil }
        let table = application.objects.value(of: 0x9F11)?.first
        guard table == 5 else { return SelectedApplication.text(bytes, table: table) }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) || $0 >= 0xA1 }) else { return nil }
        return CardText.cyrillic(bytes)
    }

    private static func cardNumber(of application: InspectedApplication, unmasked: Bool) -> String? {
        let track = application.objects.value(of: 0x57) ?? application.objects.value(of: 0x9F6B)
        guard
            let digits = application.objects.value(of: 0x5A).flatMap({ BCD.digits($0) })
                ?? track.flatMap({ Track2Equivalent($0)?.pan }), digits.count >= 8
        else { return nil }
        let text = digits.map(String.init).joined()
        return unmasked ? text : String(repeating: "*", count: digits.count - 4) + text.suffix(4)
    }

    private static func expiry(of application: InspectedApplication) -> String? {
        if let date = application.objects.value(of: 0x5F24).flatMap({ EMVDate(yymmdd: $0) }) {
            return CardText.date(date)
        }
        let tracks = [Tag(0x57), 0x9F6B].lazy.compactMap { application.objects.value(of: $0) }
        guard let track = tracks.compactMap({ Track2Equivalent($0) }).first,
            let packed = BCD.pack(track.expiry, count: 2), let date = EMVDate(yymmdd: packed + [0x01])
        else { return nil }
        return String(CardText.date(date).dropLast(3))
    }

    private static func phrase(_ end: InspectedApplication.End) -> String {
        switch end {
        case .complete: "read completely"
        case .notSelected(let status): "not selected, status word \(status)"
        case .notProcessed(let status) where status == .commandNotAllowed:
            "selected, but it wants its holder first (unlock the phone), status word \(status)"
        case .notProcessed(let status): "selected, but no processing options, status word \(status)"
        case .malformed: "answers that are no valid data objects"
        case .torn: "card left the field"
        }
    }
}

/// Text of card data, printable whatever the card sent.
enum CardText {
    /// Bytes outside the printable ASCII range become `?`.
    static func ascii(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    /// ISO/IEC 8859-5: the Cyrillic block in its order, but for four places.
    static func cyrillic(_ bytes: [UInt8]) -> String {
        let scalars = bytes.compactMap { byte -> Unicode.Scalar? in
            switch byte {
            case 0xAD: "\u{AD}"
            case 0xF0: "\u{2116}"
            case 0xFD: "\u{A7}"
            case 0xA1...: Unicode.Scalar(UInt32(byte) + 0x360)
            default: Unicode.Scalar(byte)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    static func date(_ date: EMVDate) -> String {
        "\(date.year)-\(twoDigits(date.month))-\(twoDigits(date.day))"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
