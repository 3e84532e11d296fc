// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import Testing

@testable import TapDaemon

struct InstallationKeyTests {
    private func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "installation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.path)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `the first start makes a key that only its owner reads, and every later one finds it again`() throws {
        try inFolder { folder in
            let key = try InstallationKey.inFolder(folder)
            #expect(try InstallationKey.inFolder(folder).verificationKey == key.verificationKey)
            #expect(try mode(folder + "/installation.key") == 0o600)
            let published = try Data(contentsOf: URL(filePath: folder + "/installation.jwk"))
            #expect(try VerificationKey(jwk: Array(published)) == key.verificationKey)
            #expect(!String(decoding: published, as: UTF8.self).contains(#""d":"#))
        }
    }

    @Test func `what a found key signs is verified by the public half that was published at first`() throws {
        try inFolder { folder in
            let published = try InstallationKey.inFolder(folder).verificationKey
            let token = try JWS.sign("{}".utf8, key: InstallationKey.inFolder(folder), type: "test+jws")
            #expect(try JWS.verify(token, with: published, type: "test+jws") == Array("{}".utf8))
        }
    }

    @Test func `the public half is written where bytes, kind or mode differ, and waits for no disk otherwise`() throws {
        try inFolder { folder in
            let path = folder + "/installation.jwk"
            func number() throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            }
            let key = try InstallationKey.inFolder(folder).verificationKey
            let (published, first) = (try Data(contentsOf: URL(filePath: path)), try number())
            _ = try InstallationKey.inFolder(folder)
            #expect(try number() == first)
            for wrong in [0o600, 0o666] {
                try FileManager.default.setAttributes([.posixPermissions: wrong], ofItemAtPath: path)
                _ = try InstallationKey.inFolder(folder)
                #expect(try mode(path) == 0o644)
            }
            try FileManager.default.moveItem(atPath: path, toPath: path + ".elsewhere")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".elsewhere")
            _ = try InstallationKey.inFolder(folder)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeRegular)
            for other in [nil, Data(), published + Data(" ".utf8), Data(SigningKey().verificationKey.jwk.utf8)] {
                try FileManager.default.removeItem(atPath: path)
                try other?.write(to: URL(filePath: path))
                #expect(try InstallationKey.inFolder(folder).verificationKey == key)
                #expect(try Data(contentsOf: URL(filePath: path)) == published)
            }
        }
    }

    @Test(arguments: ["", "{}", "not a key", String(repeating: "x", count: 5_000)])
    func `a spoilt file is reported and never replaced`(text: String) throws {
        try inFolder { folder in
            let path = folder + "/installation.key"
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(throws: InstallationKeyError.self) { try InstallationKey.inFolder(folder) }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(text.utf8))
        }
    }

    @Test func `a link in its place is not followed`() throws {
        try inFolder { folder in
            let path = folder + "/installation.key"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
            #expect(throws: InstallationKeyError.unreadable(path, errno: ELOOP)) {
                try InstallationKey.inFolder(folder)
            }
        }
    }

    @Test func `a folder that is not there is named`() {
        #expect(throws: InstallationKeyError.unwritable("/nowhere/installation.key", errno: ENOENT)) {
            try InstallationKey.inFolder("/nowhere")
        }
    }
}
