// SPDX-License-Identifier: Apache-2.0
// Table: further readers that libccid 1.5.2 names as contactless (Info.plist of Debian 12's package libccid). Nothing but that name
// and the USB id is known of them here; what slots a reader has is what its name says.

extension ReaderModels {
    static let listed: [ReaderModel] = [
        listed("Access IS NFC Smart Module", [0x0DB5_0160, 0x0DB5_0164], marks: ["ACCESSISNFCSMARTMODULE"]),
        listed("ASK CPL108", [0x1FD3_CC1D], marks: ["CPL108"]),
        listed("Bit4id miniLector AIR NFC", [0x25DD_3403], marks: ["MINILECTORAIRNFC"]),
        listed("Bit4id mLector AIR DI", [0x25DD_3503], marks: ["MLECTORAIRDI"], features: [.contactSlot]),
        listed("Blutronics TAURUS NFC", [0x1B0E_5A02], marks: ["TAURUSNFC"]),
        listed("Cherry SmartTerminal ST-1275", [0x046A_0072], marks: ["ST1275"], features: [.contactSlot]),
        listed("Cherry KC 1000 SC/DI", [0x046A_00A2, 0x046A_00A5], marks: ["KC1000SCDI"], features: [.contactSlot]),
        listed("Circle CIR215", [0x31AA_2000, 0x31AA_2001, 0x31AA_2100], marks: ["CIR215"]),
        listed(
            "Circle CIR315", [0x31AA_3000, 0x31AA_3002, 0x31AA_3003], marks: ["CIR315"],
            features: [.contactSlot, .samSlot]),
        listed("Circle CIR415", [0x31AA_4000, 0x31AA_4001], marks: ["CIR415"], features: [.samSlot]),
        listed("Circle CIR615", [0x31AA_6000, 0x31AA_6001], marks: ["CIR615"], features: [.samSlot]),
        listed("Duali DE-620", [0x1DB2_0801], marks: ["DE620"], features: [.contactSlot]),
        listed("Duali DE-ABCM6", [0x1DB2_080C], marks: ["DEABCM6"]),
        listed("Elyctis CL reader", [0x1FFA_0002], marks: ["ELYCTISCLREADER"]),
        listed("Identive Multi-ISO HF", [0x1FFA_000C], marks: ["MULTIISOHF"]),
        listed("ESMART ER773x", [0x2CE4_5020], marks: ["ER773X"], features: [.contactSlot, .samSlot]),
        listed("Feitian VR504", [0x096E_0622], marks: ["VR504"], features: [.contactSlot]),
        listed("Feitian bR500", [0x096E_0623], marks: ["BR500"]),
        listed("Gemalto CR5400", [0x0898_0101], marks: ["CR5400"]),
        listed("Gemalto Prox-DU", [0x08E6_5503], marks: ["PROXDU"], features: [.contactSlot]),
        listed("Gemalto Prox-SU", [0x08E6_5504], marks: ["PROXSU"], features: [.samSlot]),
        listed("HID OMNIKEY 5121", [0x076B_5121], marks: ["CARDMAN5121", "OMNIKEY5121"], features: [.contactSlot]),
        listed("HID OMNIKEY 5122", [0x076B_5412, 0x076B_5432], marks: ["OMNIKEY5122"], features: [.contactSlot]),
        listed("HID OMNIKEY 5421", [0x076B_5421], marks: ["OMNIKEY5421"], features: [.contactSlot]),
        listed("HID OMNIKEY 6321 CLi", [0x076B_6321], marks: ["OMNIKEY6321"]),
        listed("Identiv uTrust 3721", [0x04E6_5613], marks: ["UTRUST3721"]),
        listed("Identiv uTrust 4711 F", [0x04E6_5725], marks: ["UTRUST4711F"], features: [.samSlot]),
        listed("Identiv CLOUD 4510 F", [0x04E6_5721], marks: ["CLOUD4510F"], features: [.samSlot]),
        listed("SCM SCR331-DI", [0x04E6_5111, 0x04E6_5120], marks: ["SCR331DI"], features: [.contactSlot]),
        listed("Kronegger NFC blue", [0x2D25_0000], marks: ["NFCBLUE"]),
        listed("Macally eNetPad", [0x08AE_0BDF], marks: ["ENETPAD"]),
        listed("NXP Pegoda 2", [0x1FC9_0107], marks: ["PEGODA2"]),
        listed("NXP PR533", [0x1FC9_010B], marks: ["PR533"]),
        listed("Planeta RC700-NFC", [0x21AB_0010], marks: ["RC700NFC"]),
        listed("Regula RFID Reader", [0x1C6A_7050], marks: ["REGULARFIDREADER"]),
        listed("REINER SCT cyberJack RFID basis", [0x0C4B_9102], marks: ["CYBERJACKRFIDBASIS"]),
        listed("Sensyl SSC-NFC", [0x356F_22FC], marks: ["SSCNFC"]),
        listed("Sony RC-S300", [0x054C_0DC8, 0x054C_0DC9], marks: ["RCS300"]),
        listed("Sony RC-S660", [0x054C_0D8F], marks: ["RCS660"]),
        listed("SpringCard CrazyWriter", [0x1C34_7113], marks: ["CRAZYWRITER"]),
        listed("SpringCard CSB6", [0x1C34_7121, 0x1C34_7123, 0x1C34_7124], marks: ["CSB6"]),
        listed("SpringCard E518", [0x1C34_6112, 0x1C34_611A], marks: ["E518"]),
        listed("SpringCard EasyFinger", [0x1C34_7136, 0x1C34_7138], marks: ["EASYFINGER"]),
        listed("SpringCard H512", [0x1C34_A1A1], marks: ["H512"]),
        listed("SpringCard H518", [0x1C34_6122, 0x1C34_612A], marks: ["H518"]),
        listed("SpringCard H663", [0x1C34_91B1], marks: ["H663"]),
        listed("SpringCard NFC'Roll", [0x1C34_8141], marks: ["NFCROLL"]),
        listed("SpringCard SpringCore", [0x1C34_6012, 0x1C34_601A], marks: ["SPRINGCORE"]),
        listed("Synnix CL-2100R", [0x1206_2107], marks: ["CL2100R"]),
        listed("Thales RF Reader", [0x17B9_400B], marks: ["THALESRFREADER"]),
        listed("Token2 MFA NFC Reader", [0x349E_0430], marks: ["MFANFCREADER"]),
        listed("ubisys 13.56 MHz RFID", [0x19A6_0009], marks: ["UBISYS1356MHZRFID"]),
        listed("id3 CL1356", [0x0B81_0200, 0x0B81_0220], marks: ["ID3CL1356", "CL1356T", "CL1356AHID"]),
    ]

    /// - Parameter devices: vendor and product of each id as one number.
    private static func listed(
        _ name: String, _ devices: [UInt32], marks: [String], features: Set<ReaderModel.Feature> = []
    ) -> ReaderModel {
        ReaderModel(
            name,
            devices.map { USBDeviceID(UInt16(truncatingIfNeeded: $0 >> 16), UInt16(truncatingIfNeeded: $0)) },
            marks: marks, antenna: "the contactless symbol on the case", features: features,
            quirks: features.isEmpty ? [.knownByName] : [.knownByName, .severalSlots])
    }
}
