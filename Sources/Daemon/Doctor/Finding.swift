// SPDX-License-Identifier: Apache-2.0
/// Something on this machine that keeps readers or the daemon from working as they should, and what to do about it.
public struct Finding: Equatable, Sendable {
    public enum Severity: String, Sendable, CaseIterable {
        /// Taps do not work, or card data is not protected as documented.
        case error
        /// Works for tests, or until something else happens.
        case warning
        /// Good to know.
        case note
    }

    /// What a finding is about; its name in JSON.
    public enum Subject: String, Sendable, CaseIterable {
        case kernelDriver = "kernel-driver"
        case blacklist
        case nodeRights = "node-rights"
        case pcscd
        case polkit
        case holder
        case backend
        case clock
        case configuration
        case recipientKey = "recipient-key"
        case adapter
        case accounts
        case daemon
        case journal
        case memoryLock = "memory-lock"
        case coreDumps = "core-dumps"
        case worker
        case gateway
        case remote
        case tills
    }

    public let subject: Subject
    public let severity: Severity
    /// One sentence without a final period.
    public let problem: String
    /// A command to run, or what to write where.
    public let remedy: String
    /// The remedy as far as it can be applied without asking; `nil` where it takes a decision.
    public let fix: Fix?

    init(_ subject: Subject, _ severity: Severity, _ problem: String, remedy: String, fix: Fix? = nil) {
        self.subject = subject
        self.severity = severity
        self.problem = problem
        self.remedy = remedy
        self.fix = fix
    }
}
