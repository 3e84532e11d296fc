// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// What is told to be opened can be opened: in the gateway, and in what scripts/install.sh puts onto a machine.
@Suite(.serialized) struct GatewayPagesTests {
    @Test("D1: a gateway without the page of a till or a display refuses to pair it, and says what to do")
    func refused() throws {
        let place = try GatewayShop()
        let pages = place.shop.folder.appending(path: "pages")
        try FileManager.default.removeItem(at: pages.appending(path: "display.html"))
        place.stop(SIGTERM)
        try place.start()
        let display = try place.command("pair", "--lane", "main", "--role", "display")
        #expect(display.status == 1 && display.output.isEmpty, "\(display.output)")
        #expect(display.errors.contains("no display.html was in \(pages.path)"), "\(display.errors)")
        #expect(display.errors.contains("Install the package again") && display.errors.contains("restart"))
        let kiosk = try place.command("--kiosk-url", "--lane", "main")
        #expect(kiosk.status == 1 && kiosk.output.isEmpty && kiosk.errors.contains("display.html"))
        #expect(try place.command("pair", "--lane", "main").status == 0)
        try FileManager.default.removeItem(at: pages)
        place.stop(SIGTERM)
        try place.start()
        #expect(try place.call("GET", "/till/").status == 404)
        let till = try place.command("pair", "--lane", "main")
        #expect(till.status == 1 && till.output.isEmpty && till.errors.contains("no till.html"), "\(till.errors)")
        // Pages of another server need none of these.
        #expect(try place.command("pair", "--lane", "main", "--origin", GatewayShop.origin).status == 0)
    }

    @Test("D1: an installation and the package's sources have every file of till and display")
    func installed() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "installed-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let programs = folder.appending(path: "programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        // Any executable stands for the programs: this is about files beside them.
        for name in ["nfc-tap-programs", "nfc-tap-libnfc-worker"] {
            try FileManager.default.copyItem(at: URL(filePath: "/usr/bin/true"), to: programs.appending(path: name))
        }
        try Data("nfc-tapd\nnfc-tap\n".utf8).write(to: programs.appending(path: "nfc-tap-programs.names"))
        let root = folder.appending(path: "root")
        #expect(try run(Checkout.file("scripts/install.sh").path, [root.path, "/usr", programs.path]) == 0)
        let installed = root.appending(path: "usr/share/nfc-tap/till")
        let files = try FileManager.default.subpathsOfDirectory(atPath: Checkout.file("share/till").path).sorted()
        #expect(files.contains("till.html") && files.contains("display.html") && files.contains("messages/en.json"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: installed.path).sorted() == files)
        // The package is built in a copy of the tree: a folder that install.sh wants has to be in it.
        let copied = try Checkout.text("scripts/make-deb.sh").matches(of: /cp -a (.+) "\$tree"/)
            .flatMap { $0.1.split(separator: " ") }
        #expect(copied.contains("share"), "\(copied)")
        // Where it is not, nothing is installed without a word.
        let copy = folder.appending(path: "tree")
        for name in ["scripts", "systemd", "udev", "docs"] {
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Checkout.file(name), to: copy.appending(path: name))
        }
        let bare = folder.appending(path: "bare").path
        #expect(try run(copy.appending(path: "scripts/install.sh").path, [bare, "/usr", programs.path]) != 0)
    }

    private func run(_ script: String, _ arguments: [String]) throws -> Int32 {
        try Peer.run("/bin/bash", [script] + arguments).status
    }
}
