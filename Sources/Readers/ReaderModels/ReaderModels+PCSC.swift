// SPDX-License-Identifier: Apache-2.0
// Table: readers that speak CCID, with the ids of libccid 1.5.2's list and the limits of its descriptor listings.

extension ReaderModels {
    static let acs: [ReaderModel] = [
        ReaderModel(
            "ACS ACR122U", [USBDeviceID(0x072F, 0x2200)], marks: ["ACR122U", "ACR122"],
            antenna: "the middle of the top face",
            quirks: [.shortAnswersInLibNFC, .claimedByKernel, .unreliableFirmware], indicator: .pseudoAPDU,
            largestMessage: 271),
        ReaderModel(
            "ACS Touchatag", [USBDeviceID(0x072F, 0x90CC)], marks: ["TOUCHATAG", "ACR38UCCID"],
            antenna: "the middle of the top face", quirks: [.shortAnswersInLibNFC, .sharesDeviceID],
            indicator: .pseudoAPDU),
        ReaderModel(
            "ACS ACR1222", [USBDeviceID(0x072F, 0x2214)], marks: ["ACR1222"],
            antenna: "the top face, beside the display if it has one",
            quirks: [.shortAnswersInLibNFC, .foundByClass], indicator: .pseudoAPDU),
        ReaderModel(
            "ACS ACR1251", [USBDeviceID(0x072F, 0x221A)], marks: ["ACR1251"], antenna: "the middle of the top face",
            features: [.samSlot, .extendedAPDU], quirks: [.severalSlots],
            indicator: .escape(green: 0x02, red: 0x01), largestMessage: 522),
        ReaderModel(
            "ACS ACR1252U",
            [USBDeviceID(0x072F, 0x223B), USBDeviceID(0x072F, 0x223E), USBDeviceID(0x072F, 0x2259)],
            marks: ["ACR1252", "1252IMP"], antenna: "the middle of the top face",
            features: [.samSlot, .extendedAPDU], quirks: [.severalSlots],
            indicator: .escape(green: 0x02, red: 0x01), largestMessage: 522),
        ReaderModel(
            "ACS ACR1255U-J1", [USBDeviceID(0x072F, 0x223F)], marks: ["ACR1255"],
            antenna: "the middle of the face with the lights",
            features: [.extendedAPDU], indicator: .escape(green: 0x01, red: 0x02), largestMessage: 522),
        ReaderModel(
            "ACS ACR1281U", [USBDeviceID(0x072F, 0x2224)], marks: ["ACR1281"],
            antenna: "the top face, behind the slot for cards with contacts",
            features: [.contactSlot, .samSlot, .extendedAPDU], quirks: [.severalSlots],
            indicator: .escape(green: 0x02, red: 0x01), largestMessage: 522),
        ReaderModel(
            "ACS ACR1552U", [USBDeviceID(0x072F, 0x2303), USBDeviceID(0x072F, 0x2308)], marks: ["ACR1552"],
            antenna: "the middle of the top face",
            features: [.samSlot, .extendedAPDU], quirks: [.severalSlots, .foundByClass], largestMessage: 522),
        ReaderModel(
            "ACS ACR1581U", [USBDeviceID(0x072F, 0x2301)], marks: ["ACR1581"],
            antenna: "the top face, behind the slot for cards with contacts",
            features: [.contactSlot, .samSlot, .extendedAPDU], quirks: [.severalSlots, .foundByClass],
            largestMessage: 522),
        ReaderModel(
            "ACS WalletMate", [USBDeviceID(0x072F, 0x226B)], marks: ["WALLETMATE"],
            antenna: "the middle of the top face", features: [.extendedAPDU], quirks: [.foundByClass],
            largestMessage: 522),
    ]

    static let hid: [ReaderModel] = [
        omnikey("5022", 0x5022), omnikey("5023", 0x5023),
        omnikey("5422", 0x5422, features: [.contactSlot, .extendedAPDU], quirks: [.severalSlots]),
        omnikey("5427 CK", 0x5427), omnikey("5127 CK", 0x5127),
        ReaderModel(
            "HID OMNIKEY 5321", [USBDeviceID(0x076B, 0x5321)], marks: ["CARDMAN5321", "OMNIKEY5321"],
            antenna: "the top face, beside the slot for cards with contacts",
            features: [.contactSlot, .extendedAPDU], quirks: [.severalSlots], largestMessage: 520),
        ReaderModel(
            "HID OMNIKEY 5025-CL", [USBDeviceID(0x076B, 0x502A)], marks: ["5025CL"],
            antenna: "the middle of the top face", features: [.extendedAPDU], largestMessage: 520),
    ]

    private static func omnikey(
        _ number: String, _ product: UInt16, features: Set<ReaderModel.Feature> = [.extendedAPDU],
        quirks: Set<ReaderQuirk> = []
    ) -> ReaderModel {
        ReaderModel(
            "HID OMNIKEY \(number)", [USBDeviceID(0x076B, product)],
            marks: ["OMNIKEY\(number.filter { $0 != " " })", "OMNIKEY\(number.prefix(4))"],
            antenna: "the middle of the top face", features: features, quirks: quirks, largestMessage: 520)
    }

    static let identiv: [ReaderModel] = [
        utrust("Identiv uTrust 3700 F", [0x5790], marks: ["UTRUST3700F", "3700F"]),
        utrust(
            "Identiv uTrust 3701 F", [0x5791], marks: ["UTRUST3701F", "3701F"],
            features: [.samSlot, .extendedAPDU], quirks: [.severalSlots]),
        utrust("Identiv uTrust 3720", [0x5612], marks: ["UTRUST3720", "3720F"]),
        utrust(
            "Identiv uTrust 4701 F", [0x5724], marks: ["UTRUST4701F", "4701F"],
            features: [.contactSlot, .samSlot, .extendedAPDU], quirks: [.severalSlots]),
        utrust(
            "Identiv CLOUD 4700 F", [0x5720], marks: ["CLOUD4700F", "CLOUD4500F"],
            features: [.contactSlot, .extendedAPDU], quirks: [.severalSlots]),
        ReaderModel(
            "SCM SCL010", [USBDeviceID(0x04E6, 0x5291), USBDeviceID(0x04E6, 0x5293)], marks: ["SCL010", "SCL01"],
            antenna: "the middle of the top face", features: [.extendedAPDU], largestMessage: 262),
        ReaderModel(
            "SCM SDI010",
            [USBDeviceID(0x04E6, 0x5121), USBDeviceID(0x04E6, 0x512B), USBDeviceID(0x04E6, 0x512C)],
            marks: ["SDI010", "SDI011", "SDI01"], antenna: "the top face, behind the slot for cards with contacts",
            features: [.contactSlot, .extendedAPDU], quirks: [.severalSlots], largestMessage: 262),
    ]

    private static func utrust(
        _ name: String, _ products: [UInt16], marks: [String], features: Set<ReaderModel.Feature> = [.extendedAPDU],
        quirks: Set<ReaderQuirk> = []
    ) -> ReaderModel {
        ReaderModel(
            name, products.map { USBDeviceID(0x04E6, $0) }, marks: marks, antenna: "the middle of the top face",
            features: features, quirks: quirks, largestMessage: 1_034)
    }

    static let others: [ReaderModel] = [
        ReaderModel(
            "Feitian R502", [USBDeviceID(0x096E, 0x060D), USBDeviceID(0x096E, 0x0608)],
            marks: ["R502", "FEITIAN502CL"],
            antenna: "the middle of the top face", features: [.extendedAPDU], largestMessage: 271),
        ReaderModel(
            "Elatec TWN4", [USBDeviceID(0x09D8, 0x0427), USBDeviceID(0x09D8, 0x0428)], marks: ["TWN4"],
            antenna: "the middle of the top face",
            quirks: [.smallMessages, .severalSlots], largestMessage: 64),
        ReaderModel(
            "SpringCard Prox'N'Roll", [USBDeviceID(0x1C34, 0x7141)], marks: ["PROXNROLL"],
            antenna: "the middle of the top face", largestMessage: 271),
        ReaderModel(
            "SpringCard Puck", [USBDeviceID(0x1C34, 0x6132), USBDeviceID(0x1C34, 0x613A)], marks: ["SPRINGCARDPUCK"],
            antenna: "the middle of the top face", features: [.extendedAPDU], largestMessage: 65_554),
        ReaderModel(
            "Duali Dragon", [USBDeviceID(0x1DB2, 0x088B)], marks: ["DUALIDRAGON"],
            antenna: "the middle of the top face"),
        ReaderModel(
            "NXP PN7462AU", [USBDeviceID(0x1FC9, 0x0117)], marks: ["PN7462"], antenna: "over the board's copper loop",
            largestMessage: 271),
    ]
}
