// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What the issuer answered to an online request, for a restart (EMV Contactless Book A §6.2, Online Response Data).
public struct OnlineResponse: Equatable, Sendable {
    /// Authorisation Response Code (8A), two ASCII characters.
    public var authorisationResponseCode: [UInt8]
    /// Issuer Authentication Data (91), 8…16 bytes; empty where there is none.
    public var issuerAuthenticationData: [UInt8]
    /// Issuer script templates (71, 72), encoded; empty where there are none.
    public var scripts: [UInt8]

    /// Longest scripts that a terminal takes, in bytes (EMV Book 3 §10.10).
    public static let longestScripts = 128

    public init(authorisationResponseCode: [UInt8], issuerAuthenticationData: [UInt8] = [], scripts: [UInt8] = []) {
        self.authorisationResponseCode = authorisationResponseCode
        self.issuerAuthenticationData = issuerAuthenticationData
        self.scripts = scripts
    }

    /// Whether there is something for the card: issuer authentication data or a script.
    public var hasCardData: Bool { !issuerAuthenticationData.isEmpty || !scripts.isEmpty }

    /// Whether all of it can be brought to a card: 91 of 8 to 16 bytes or none, and scripts that are templates 71 and 72
    /// with at least one command (86) each, no longer than `longestScripts`.
    public var isWellFormed: Bool {
        let data = issuerAuthenticationData.count
        guard data == 0 || (8...16).contains(data), scripts.count <= OnlineResponse.longestScripts else { return false }
        guard let templates = scriptCommands else { return false }
        return templates.allSatisfy { !$0.isEmpty }
    }

    /// How many commands a card gets of it: EXTERNAL AUTHENTICATE, and those of the scripts.
    public var commandCount: Int {
        (issuerAuthenticationData.isEmpty ? 0 : 1) + (scriptCommands ?? []).reduce(0) { $0 + $1.count }
    }

    /// The commands of each script template in their order; `nil` where the scripts are no BER-TLV, another object stands
    /// beside the templates, or a command is no APDU.
    var scriptCommands: [[CommandAPDU]]? {
        do {
            var templates: [[CommandAPDU]] = []
            for template in try TLV.children(scripts) {
                guard template.tag == .issuerScriptTemplate1 || template.tag == .issuerScriptTemplate2 else {
                    return nil
                }
                let objects = try TLV.children(scripts, in: template.value)
                templates.append(
                    try objects.filter { $0.tag == .issuerScriptCommand }.map {
                        try CommandAPDU(Array(scripts[$0.value]))
                    })
            }
            return templates
        } catch {
            return nil
        }
    }
}
