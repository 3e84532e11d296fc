// SPDX-License-Identifier: Apache-2.0
public import POSAPI

/// Looks a machine over for what people with USB readers run into.
public struct Checkup {
    /// What was found, the gravest first.
    public let findings: [Finding]

    /// - Parameter status: what the daemon says of itself; `nil` where nobody could ask it.
    public init(_ facts: HostFacts, status: Status? = nil) {
        let checks = [
            facts.kernelDrivers, facts.nodeRights, facts.pcscService, facts.polkitRule, facts.holders, facts.backends,
            facts.laneReaders, facts.clock, facts.configuration, facts.recipientKey, facts.adapter, facts.installation,
            facts.daemon,
            facts.processLimits, facts.worker, facts.gateway, facts.remote, facts.tills,
        ]
        let found =
            checks.flatMap { $0() } + HostFacts.refusedKeys(status?.refusedKeys ?? [])
            + HostFacts.journal(status?.journal)
        findings = Finding.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity } }
    }

    public var hasErrors: Bool { findings.contains { $0.severity == .error } }
}
