// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The Python client, made from the contract as it is now, with the real daemon: what its own tests ask for is in
/// clients/python/tests.
@Suite("The Python client", .timeLimit(.minutes(5)))
struct PythonClientTests {
    @Test(
        "A package that is made from the contract reserves, captures, refunds, ends the day, and loses no sale with an answer"
    )
    func life() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let present = try Program.tap.run(
            ["virtual", "--control", shop.readerSocket, "present", "visa"], in: shop.folder)
        #expect(present.status == 0, "\(present.errors)")
        let package = shop.folder.appending(path: "python").path
        let made = try Peer.run(Checkout.file("clients/make-python-client.sh").path, [Peer.python, package])
        try #require(made.status == 0, "\(made.output)\(made.errors)")
        let result = try Peer.run(
            "/usr/bin/env", ["PYTHONPATH=\(package)", Peer.python, "\(package)/tests/life.py", shop.posSocket])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.errors.contains("Ran 12 tests") && result.errors.hasSuffix("OK\n"), "\(result.errors)")
    }

    @Test("D4: the examples of the Python client's README run as they stand, and what makes it says where it is")
    func examples() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let package = shop.folder.appending(path: "python").path
        let made = try Peer.run(Checkout.file("clients/make-python-client.sh").path, [Peer.python, package])
        try #require(made.status == 0, "\(made.output)\(made.errors)")
        #expect(made.output.contains(package) && made.output.contains(".whl"), "\(made.output)")
        let page = try Checkout.text("clients/python/README.md")
        let examples = page.matches(of: #/```python\n([\s\S]*?)```/#).map { String($0.1) }
        #expect(examples.count == 2)
        for (place, example) in examples.enumerated() {
            let file = shop.folder.appending(path: "example-\(place).py")
            try Data(example.utf8).write(to: file)
            let run = try Peer.run(
                "/usr/bin/env",
                ["PYTHONPATH=\(package)", "NFC_TAP_SOCKET=\(shop.posSocket)", Peer.python, file.path])
            #expect(run.status == 0, "\(example)\(run.output)\(run.errors)")
            #expect(run.output.contains(place == 0 ? "paid" : "captured: done"), "\(run.output)\(run.errors)")
        }
    }
}
