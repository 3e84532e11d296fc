// SPDX-License-Identifier: Apache-2.0
import ReaderCore
import ReaderModels
import Testing

struct ReaderModelTests {
    @Test(arguments: [
        ("ACS ACR122U PICC Interface", "ACS ACR122U"), ("ACS ACR1251 Dual Reader", "ACS ACR1251"),
        ("ACS ACR1252 Dual Reader", "ACS ACR1252U"), ("ACS ACR1252 Reader", "ACS ACR1252U"),
        ("ACS ACR1255U-J1", "ACS ACR1255U-J1"), ("ACS ACR1281U", "ACS ACR1281U"),
        ("HID Global OMNIKEY 5022 Smart Card Reader", "HID OMNIKEY 5022"),
        ("HID Global OMNIKEY 5422 Smartcard Reader", "HID OMNIKEY 5422"),
        ("HID OMNIKEY 5427 CK", "HID OMNIKEY 5427 CK"), ("OMNIKEY CardMan 5321", "HID OMNIKEY 5321"),
        ("Identiv uTrust 3700 F CL Reader", "Identiv uTrust 3700 F"),
        ("Identiv Identiv uTrust 4701 F Dual Interface Reader", "Identiv uTrust 4701 F"),
        ("SCM Microsystems Inc. SCL010 Contactless Reader", "SCM SCL010"), ("Feitian R502", "Feitian R502"),
        ("Elatec TWN4 SmartCard NFC", "Elatec TWN4"), ("SpringCard Prox'N'Roll", "SpringCard Prox'N'Roll"),
        ("SpringCard Puck", "SpringCard Puck"), ("DUALi DRAGON NFC READER", "Duali Dragon"),
        ("NXP PN7462AU CCID", "NXP PN7462AU"),
    ])
    func `a name that libccid lists finds its model`(name: String, model: String) {
        #expect(ReaderModels.model(named: name)?.name == model)
    }

    @Test(arguments: [
        ("ACS ACR122U PICC Interface [ACR122U PICC Interface] (8841) 00 00", "ACS ACR122U"),
        ("acr122u-a9", "ACS ACR122U"), ("ACS  ACR 122 U", "ACS ACR122U"), ("ACR122 NFC Reader", "ACS ACR122U"),
        ("ACS ACR1222L", "ACS ACR1222"), ("ACS ACR1252 1S CL Reader [ACR1252 Dual Reader PICC]", "ACS ACR1252U"),
        ("ACS ACR1281 1S Dual Reader", "ACS ACR1281U"), ("ACS ACR1581 1S Dual Reader", "ACS ACR1581U"),
        ("SCM Micro / SCL3711-NFC&RW - PN533 v2.7 (0x07)", "SCM SCL3711"), ("NXP / PN533", "NXP PN533"),
        ("OMNIKEY 5022-CL 0", "HID OMNIKEY 5022"),
    ])
    func `what clones and versions add to a name does not matter`(name: String, model: String) {
        #expect(ReaderModels.model(named: name)?.name == model)
    }

    @Test(arguments: ["", "Virtual PCD 00 00", "ACR12", "ACR12255", "Yubico YubiKey", "OMNIKEY 3121", "\u{1F4B3}"])
    func `a name of no known model finds none`(name: String) {
        #expect(ReaderModels.model(named: name) == nil)
    }

    @Test(arguments: [
        ("pn532_uart:/dev/ttyUSB0", "PN532 board"), ("pn532_uart:/dev/ttyUSB0:115200", "PN532 board"),
        ("pn53x_usb:001:004", "NXP PN533"), ("acr122_usb:001:005", "ACS ACR122U"),
    ])
    func `a connection string of libnfc finds a model by its driver`(connection: String, model: String) {
        #expect(ReaderModels.model(connection: connection)?.name == model)
    }

    @Test func `a connection string of an unknown driver finds none`() {
        #expect(ReaderModels.model(connection: "user defined device") == nil)
        #expect(ReaderModels.model(connection: "") == nil)
    }

    @Test func `every model is found by its ids and by its own name`() {
        for model in ReaderModels.all {
            for device in model.devices { #expect(ReaderModels.model(of: device) == model) }
            #expect(ReaderModels.model(named: model.name) == model, "\(model.name)")
            #expect(!model.antenna.isEmpty)
        }
    }

    @Test func `no USB id and no name stands for two models`() {
        let ids = ReaderModels.all.flatMap(\.devices)
        #expect(Set(ids).count == ids.count)
        let names = ReaderModels.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func `readers that people have are in the table`() {
        let names = Set(ReaderModels.all.map(\.name))
        #expect(
            names.isSuperset(of: [
                "ACS ACR122U", "ACS ACR1252U", "ACS ACR1255U-J1", "ACS ACR1281U", "ACS ACR1581U", "SCM SCL3711",
                "Identiv uTrust 3700 F", "HID OMNIKEY 5022", "HID OMNIKEY 5427 CK", "PN532 board", "NXP PN533",
            ]))
    }

    @Test func `what the kernel's pn533_usb binds is marked`() {
        // The ids of that module's own table.
        let bound = [
            USBDeviceID(0x04CC, 0x2533), USBDeviceID(0x04E6, 0x5591), USBDeviceID(0x054C, 0x02E1),
            USBDeviceID(0x072F, 0x2200),
        ]
        for device in bound { #expect(ReaderModels.model(of: device)?.quirks.contains(.claimedByKernel) == true) }
        #expect(ReaderModels.all.count { $0.quirks.contains(.claimedByKernel) } == bound.count)
    }

    @Test func `a reader with several slots says that names tell them apart`() {
        for model in ReaderModels.all where !model.features.isDisjoint(with: [.contactSlot, .samSlot]) {
            #expect(model.quirks.contains(.severalSlots), "\(model.name)")
        }
    }

    @Test func `each quirk is explained to a person in one sentence`() {
        for quirk in ReaderQuirk.allCases {
            #expect(quirk.explanation.hasSuffix("."))
            #expect(quirk.explanation.utf8.count <= 120)
        }
    }
}

struct USBDeviceIDTests {
    @Test func `sysfs' digits are read, and printed in lower case`() {
        #expect(USBDeviceID(vendor: "072f", product: "2200") == USBDeviceID(0x072F, 0x2200))
        #expect(USBDeviceID(0x4E6, 0x005A).description == "04e6:005a")
    }

    @Test(arguments: [("72f", "2200"), ("072f", ""), ("072g", "2200"), ("+72f", "22000")])
    func `anything but four digits is no id`(vendor: String, product: String) {
        #expect(USBDeviceID(vendor: vendor, product: product) == nil)
    }
}
