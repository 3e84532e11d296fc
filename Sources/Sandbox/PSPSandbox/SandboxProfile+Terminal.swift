// SPDX-License-Identifier: Apache-2.0
extension SandboxProfile {
    /// EMV's test terminal: docs/examples/terminal-test.json when this was built.
    static var terminal: String { String(decoding: PackageResources.terminal_test_json, as: UTF8.self) }
}
