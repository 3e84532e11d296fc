// SPDX-License-Identifier: Apache-2.0
import Profile
import Testing

@Suite("The oldest firmware of readers that a payment service accepts")
struct FirmwareTests {
    @Test(
        "Row 5 of the guidance: firmware is compared by its numbers, as readers tell it",
        arguments: [
            ("1.4", "1.6"), ("1.6", "1.10"), ("V2.14", "2.15"), ("2", "2.1"), ("3.01", "3.2"), ("1.6.9", "1.7"),
            ("v1.6-rc", "1.7"),
        ])
    func older(own: String, needed: String) throws {
        let (old, new) = (try #require(FirmwareVersion(own)), try #require(FirmwareVersion(needed)))
        #expect(old < new && !(new < old))
    }

    @Test func `zeros at the end change nothing, and words are no version`() {
        #expect(FirmwareVersion("1.6.0") == FirmwareVersion("v1.6") && FirmwareVersion("0") != nil)
        for text in ["", "v", "unknown", ".", "beta."] { #expect(FirmwareVersion(text) == nil, "\(text)") }
        #expect(FirmwareVersion("1234567.1") == nil)
    }

    @Test func `a reader that is older than the profile says is told what it needs`() throws {
        let readers =
            #""minimum": "0.1.0", "readers": [{"model": "PN532", "minimum": "1.6"}, {"model": "ACS ACR1252", "minimum": "2"}]"#
        let profile = try Profile(json: Example.bytes((#""minimum": "0.1.0""#, readers)))
        #expect(profile.neededFirmware("PN532", "1.4")?.description == "1.6")
        // New enough, of another model, or silent about it.
        for (model, firmware) in [("PN532", "1.6"), ("PN532", "2.0"), ("PN533", "1.4"), ("PN532", nil), ("PN532", "?")]
        {
            #expect(profile.neededFirmware(model, firmware) == nil)
        }
        #expect(try Profile(json: Example.bytes()).neededFirmware("PN532", "1.4") == nil)
    }

    @Test(arguments: [
        (#"[{"model": "PN532", "minimum": "new"}]"#, "software.readers[0].minimum"),
        (#"[{"model": "PN532", "minimum": "1"}, {"model": "PN532", "minimum": "2"}]"#, "software.readers[1].model"),
        (#"[{"model": "PN532", "minimum": "1", "maximum": "2"}]"#, "software.readers[0].maximum"),
        ("[]", "software.readers"),
    ])
    func `a fault is refused with its member`(readers: String, field: String) throws {
        let json = try Example.bytes((#""minimum": "0.1.0""#, #""minimum": "0.1.0", "readers": \#(readers)"#))
        do throws(ProfileError) {
            _ = try Profile(json: json)
            Issue.record("taken")
        } catch {
            #expect(error.field == field)
        }
    }
}
