// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Settings
import TestSupport
import Testing

@testable import Configuration

@Suite("Checking a configuration file")
struct ConfigurationCheckTests {
    private func check(_ text: String) throws -> ConfigurationCheck {
        let folder = try TestFolder()
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/f.toml"))
        return ConfigurationCheck(
            file: folder.path + "/f.toml", host: ConfigurationHost(), at: 1_800_000_000)
    }

    @Test("A payment service's name is read by its former key, which is no mistake and remarked on")
    func formerName() throws {
        let lane = "[[lane]]\nname = \"a\"\nreader = \"virtual:/run/r.sock\"\n"
        func former(_ key: String) -> String {
            lane + "[[former-service]]\n\(key) = \"old\"\nsocket = \"/run/old.sock\"\n"
        }
        let now = try ConfigurationFile(file: "f", text: former("service-name"))
        let before = try ConfigurationFile(file: "f", text: former("issuer"))
        #expect(before.formerServices == now.formerServices && now.formerServices.keys.sorted() == ["old"])
        #expect(now.formerNames.isEmpty && before.formerNames.map(\.key) == ["former-service[0].issuer"])
        #expect(before.formerNames.first?.line == 5 && before.formerNames.first?.remedy == "write service-name")
        #expect(try check(former("issuer")).errors.isEmpty)
        #expect(try check(former("issuer")).summary.contains("former-service[0].issuer: is the former name"))
        #expect(try check(former("service-name")).summary.contains("former name") == false)

        // Both, and a word that is neither: nobody is told to write the former one.
        let both = try check(former("service-name = \"new\"\nissuer"))
        #expect(both.errors.map(\.description).first?.hasSuffix("which is there too; remove issuer") == true)
        let neither = try check(former("service-name = \"old\"\nname"))
        #expect(neither.errors.map(\.remedy) == ["use one of receipt-key, service-name, socket"])
    }

    @Test("K5: two lanes with one reader, and a journal folder that nothing can be written to, are refused by name")
    func places() throws {
        let one = "[[lane]]\nname = \"a\"\nreader = \"pcsc:ACS ACR122U 00 00\"\n"
        let two = one + "[[lane]]\nname = \"b\"\nreader = \"pcsc:ACS ACR122U 00 00\"\n"
        #expect(try check(two).errors.map(\.key) == ["lane[1].reader"])
        // A part of the name may be that of two equal readers: no mistake, and remarked on.
        let twins = try check(two.replacing(" 00 00", with: ""))
        #expect(twins.errors.isEmpty && twins.summary.contains("may want the same reader"))

        let folder = try TestFolder()
        func faults(_ directory: String, _ fault: Int32?) throws -> [ConfigurationError] {
            let path = folder.path + "/f.toml"
            try Data((one + "[journal]\ndirectory = \"\(directory)\"\n").utf8).write(to: URL(filePath: path))
            var host = ConfigurationHost()
            host.writingFault = { _ in fault }
            return ConfigurationCheck(file: path, host: host, at: 1_800_000_000).errors
        }
        #expect(try faults(folder.path, nil).isEmpty)
        // Only the daemon's user has to be able to write there.
        #expect(try faults(folder.path, EACCES).isEmpty)
        let readOnly = try #require(try faults(folder.path, EROFS).first)
        #expect(readOnly.key == "journal.directory" && readOnly.problem.contains("read-only"))
        #expect(readOnly.remedy.contains("ReadWritePaths="))
        #expect(try faults(folder.path + "/f.toml", nil).first?.problem == "is no folder")
        let missing = try #require(try faults("/nowhere/at/all", ENOENT).first)
        #expect(missing.key == "journal.directory" && missing.remedy.contains("install -d"))
        // The unit makes its own folder.
        #expect(try faults("/var/lib/nfc-tap", nil).isEmpty)
    }

    /// systemd.exec(5), LimitNOFILE=; getrlimit(2).
    @Test("A6: connections that the process has no descriptors for are refused with both numbers")
    func descriptors() throws {
        let folder = try TestFolder()
        let text = """
            mode = "test"
            [pos]
            connections = 1024
            connections-per-user = 1024
            [terminal]
            id = "00000001"
            merchant = "TEST"
            country = 276
            [[lane]]
            name = "a"
            reader = "pcsc:"
            """
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/f.toml"))
        func faults(_ most: Int?) -> [ConfigurationError] {
            var host = ConfigurationHost()
            host.descriptors = most
            return ConfigurationCheck(file: folder.path + "/f.toml", host: host, at: 1_800_000_000).errors
                .filter { $0.key == "pos.connections" }
        }
        // 2 * 1,024 connections, 48 streams, 64 of gateways, 10 for the lane, 96 for the rest.
        #expect(faults(2_266).isEmpty && faults(nil).isEmpty)
        let fault = try #require(faults(2_265).first)
        #expect(fault.line == 3 && fault.problem.contains("2266") && fault.problem.contains("2265"))
        #expect(fault.remedy.contains("LimitNOFILE=") && fault.remedy.contains("nfc-tapd.service"))
        // Those of gateways count as they are written: 1,024 instead of 64.
        try Data((text + "\n[gateway]\ngroup = 0\nconnections = 1024\n").utf8)
            .write(to: URL(filePath: folder.path + "/f.toml"))
        #expect(faults(3_226).isEmpty && faults(3_225).first?.problem.contains("3226") == true)
    }

    /// systemd/nfc-tapd.service.
    @Test("A6: the unit has descriptors for every configuration that is valid")
    func unit() throws {
        var places = PointOfSaleSettings.ConnectionLimits()
        (places.connections, places.streams, places.relayed) = (1_024, 256, 1_024)
        let most = try #require(try Checkout.number("LimitNOFILE", ofUnit: "nfc-tapd.service"))
        #expect(most >= places.descriptors(lanes: 64))
    }

    @Test("A wrong setting is named with its line, what is wrong and what to do, for people and programs")
    func wrong() throws {
        let found = try check("[psp]\n\nanswer-timeout = \"30\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        let error = try #require(found.errors.first)
        #expect(error.key == "psp.answer-timeout" && error.line == 3)
        #expect(found.summary.contains("/f.toml:3: psp.answer-timeout: ") && found.summary.contains(error.remedy))
        let json = try JSONSerialization.jsonObject(with: Data(found.json.utf8)) as? [String: Any]
        #expect(json?["valid"] as? Bool == false)
        let problem = (json?["problems"] as? [[String: Any]])?.first
        #expect(problem?["key"] as? String == "psp.answer-timeout" && problem?["line"] as? Int == 3)
        #expect(problem?["remedy"] as? String == error.remedy)
    }

    @Test("Everything that is wrong is named at once, in the order of the lines, and nothing that only follows from it")
    func several() throws {
        let found = try check(
            """
            mode = "real"
            speed = 9
            [psp]
            answer-timeout = "30"
            sokcet = "/a"
            connect-timeout = 2
            [[lane]]
            name = "a"
            reader = "usb:1"
            feedback = "loud"
            [[lane]]
            name = "b"
            reader = "pcsc:"
            [[lane]]
            name = "b"
            reader = 7
            [lane-groups]
            bar = ["a", "b"]
            far = ["a", "c"]
            [groups]
            cashier = "no-such-group"
            [offline]
            count = 0
            [[offline.currency]]
            code = "XXX"
            amount = 1
            [[loyalty.programme]]
            id = ""
            [loyalty.programme.apple]
            sign-up = "x"
            [[loyalty.programme]]
            id = "c"
            priority = -1
            [loyalty.programme.google]
            collector = 0
            """)
        let places = found.errors.map { "\($0.line ?? 0) \($0.key)" }
        #expect(
            places == [
                "1 mode", "2 speed", "4 psp.answer-timeout", "5 psp.sokcet", "9 lane[0].reader", "10 lane[0].feedback",
                "15 lane[2].name", "16 lane[2].reader", "19 lane-groups.far", "21 groups.cashier", "23 offline.count",
                "24 offline.currency[0].total", "25 offline.currency[0].code", "28 loyalty.programme[0].id",
                "29 loyalty.programme[0].apple.pass-type", "33 loyalty.programme[1].priority",
                "35 loyalty.programme[1].google.collector",
            ])
        #expect(found.summary.split(separator: "\n").count == found.errors.count)
        #expect(found.summary.contains("/f.toml:5: psp.sokcet: is no setting; use one of "))
        let json = try JSONSerialization.jsonObject(with: Data(found.json.utf8)) as? [String: Any]
        #expect((json?["problems"] as? [[String: Any]])?.count == found.errors.count)
    }

    @Test("What is not TOML is told with its line")
    func noTOML() throws {
        #expect(try check("mode = \"test\"\n= 1\n").errors.first?.line == 2)
    }

    @Test("A right file says what it sets up")
    func right() throws {
        let found = try check("[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        #expect(found.errors.isEmpty && found.summary.hasSuffix("valid, test mode, 1 lane"))
        #expect(found.json.contains(#""valid":true"#) && found.json.contains(#""lanes":1"#))
    }

    /// A check of a file whose recipient's key is the one of RFC 7517, appendix A.1, with other members.
    private func check(key members: String, in folder: TestFolder) throws -> ConfigurationCheck {
        let path = try folder.write(
            "psp.jwk",
            #"{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","#
                + #""y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"\#(members)}"#)
        let file = try folder.write(
            "f.toml", "[psp]\nrecipient-key = \"\(path)\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        return ConfigurationCheck(file: file, host: ConfigurationHost(), at: 1_800_000_000)
    }

    @Test("B3 a key whose time is over, or has not come, is wrong, and still read at a start")
    func period() throws {
        let folder = try TestFolder()
        for members in [#","kid":"a","exp":1800000000"#, #","kid":"a","nbf":1800000001"#] {
            let found = try check(key: members, in: folder)
            #expect(found.errors.map(\.key) == ["psp.recipient-key"] && found.errors.first?.line == 2)
            #expect(try ConfigurationFile(path: found.file).adapter.recipient?.keyID == "a")
        }
        #expect(try check(key: #","kid":"a","nbf":1800000000,"exp":1800000001"#, in: folder).errors.isEmpty)
    }

    @Test("F5 a key without kid is right, and its check says which name it has")
    func withoutName() throws {
        let folder = try TestFolder()
        let found = try check(key: "", in: folder)
        // Computed with jwcrypto 1.1.0.
        let thumbprint = "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s"
        #expect(found.errors.isEmpty && found.summary.contains(thumbprint) && found.json.contains(thumbprint))
        let named = try check(key: #","kid":"a""#, in: folder)
        #expect(named.errors.isEmpty && !named.json.contains("remarks"))
    }

    @Test("Groups of lanes name lanes that exist, each once")
    func groups() throws {
        let lanes = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n[[lane]]\nname = \"b\"\nreader = \"pcsc:\"\n"
        #expect(try check(lanes + "[lane-groups]\nbar = [\"a\", \"b\"]\n").errors.isEmpty)
        for wrong in ["[\"a\", \"far\"]", "[]", "[\"a\", \"a\"]", "\"a\"", "[1]"] {
            #expect(try check(lanes + "[lane-groups]\nbar = \(wrong)\n").errors.first?.key == "lane-groups.bar")
        }
        #expect(try check(lanes + "[terminal]\nmax-tap-retries = 0\n").errors.first?.key == "terminal.max-tap-retries")
    }

    private func check(readers: String...) throws -> ConfigurationCheck {
        try check(
            readers.enumerated().map { "[[lane]]\nname = \"till-\($0)\"\nreader = \"\($1)\"\n" }.joined())
    }

    @Test("R16: two lanes cannot have one device, and two parts of a name that may be one reader's are told")
    func oneReader() throws {
        for reader in ["libnfc:pn53x_usb", "virtual:/tmp/a.sock"] {
            let found = try check(readers: reader, reader)
            #expect(found.errors.map(\.key) == ["lane[1].reader"] && found.errors.first?.line == 6)
            #expect(found.errors.first?.problem == "is that of the lane till-0, too")
        }
        for (one, other) in [
            ("pcsc:ACR122U", "pcsc:acr122u"), ("pcsc:", "pcsc:ACR122U"), ("pcsc:ACR122U PICC", "pcsc:PICC"),
        ] {
            let found = try check(readers: one, other)
            #expect(found.errors.isEmpty && found.summary.contains("lanes till-0 and till-1 may want the same reader"))
            #expect(found.json.contains("may want the same reader"))
        }
        let apart = try check(readers: "pcsc:ACR122U", "pcsc:OMNIKEY 5022", "libnfc:pn53x_usb", "virtual:/tmp/a.sock")
        #expect(apart.errors.isEmpty && !apart.json.contains("remarks"))
    }

    @Test("R7: a reader with several slots of which the configuration names none is told")
    func slots() throws {
        for text in ["ACR1281U", "OMNIKEY CardMan 5321", "SDI010"] {
            #expect(
                try check(readers: "pcsc:\(text)").summary.contains("has several slots, and pcsc:\(text) names none"))
        }
        for text in ["ACR1281U PICC", "OMNIKEY CardMan 5321 00 01", "ACR122U", ""] {
            #expect(try !check(readers: "pcsc:\(text)").json.contains("remarks"), "\(text)")
        }
    }
}
