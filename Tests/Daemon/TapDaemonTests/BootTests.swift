// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import TestSupport
import Testing

@testable import TapDaemon

@Suite("The machine's start, which ends what may be stored (acceptance test 5)")
struct BootTests {
    private let digits = "0123456789abcdef0123456789abcdef"

    @Test("The kernel's word and the service manager's are the same for the same start")
    func forms() {
        let kernel = "01234567-89ab-cdef-0123-456789abcdef\n"
        #expect(DaemonConfiguration.boot(kernel: kernel, manager: nil) == digits)
        #expect(DaemonConfiguration.boot(kernel: "", manager: digits) == digits)
        #expect(DaemonConfiguration.boot(kernel: kernel, manager: String(digits.reversed())) == digits)
    }

    @Test("What is no name of a start counts for none", arguments: ["", "%b", "0123", "x"])
    func none(text: String) {
        #expect(DaemonConfiguration.boot(kernel: text, manager: text) == nil)
        #expect(DaemonConfiguration.boot(kernel: "", manager: nil) == nil)
    }

    @Test("The unit, whose /proc has processes only, hands the service manager's word over")
    func unit() throws {
        let lines = try Checkout.text("systemd/nfc-tapd.service")
            .split(separator: "\n")
        #expect(lines.contains("ProcSubset=pid") && lines.contains("Environment=NFC_TAP_BOOT_ID=%b"))
    }
}
