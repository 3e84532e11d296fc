// SPDX-License-Identifier: Apache-2.0
/// The phones and member cards in software, by name. Every call makes a new one.
public enum WalletCatalogue {
    /// The names, in the order in which they are listed.
    public static var names: [String] { entries.map(\.name) }

    /// What a person reads beside the name, or `nil` for a name that is not listed.
    public static func summary(of name: String) -> String? { entries.first { $0.name == name }?.summary }

    /// A new phone or card, or `nil` for a name that is not listed.
    ///
    /// - Parameter payment: a payment card that a phone has besides its passes; member cards ignore it.
    public static func card(named name: String, payment: (any VirtualCard)? = nil) -> (any VirtualCard)? {
        entries.first { $0.name == name }?.make(payment)
    }

    private struct Entry: Sendable {
        let name: String
        /// One line, lower-case, without a final period.
        let summary: String
        let make: @Sendable ((any VirtualCard)?) -> any VirtualCard

        init(_ name: String, _ summary: String, _ make: @escaping @Sendable ((any VirtualCard)?) -> any VirtualCard) {
            self.name = name
            self.summary = summary
            self.make = make
        }
    }

    /// The pass of the club; most phones here have it.
    public static let clubPass = VASPhone.Pass(
        passTypeIdentifier: WalletTestKeys.clubPassType, message: "MEMBER-0001",
        merchantPrivateKey: WalletTestKeys.clubPrivateKey)
    public static let giftPass = VASPhone.Pass(
        passTypeIdentifier: WalletTestKeys.giftPassType, message: "GIFT-4242",
        merchantPrivateKey: WalletTestKeys.giftPrivateKey)

    private static let loyalty = SmartTapPass(
        objectID: [0xF4, 0x27, 0x04, 0xB2, 0x88, 0x02, 0x55, 0xE1], number: "MEMBER-0001")
    private static let giftCard = SmartTapPass(
        kind: "gc", objectID: [0xF4, 0x27, 0x04, 0xB2, 0x88, 0x02, 0x55, 0xE2], number: "6006491234567890",
        pin: "4321")

    private static let apple: [Entry] = [
        Entry("apple-pass", "iPhone with the club's pass") { VASPhone(passes: [clubPass], payment: $0) },
        Entry("apple-two-passes", "iPhone with the passes of club and gift card") {
            VASPhone(passes: [clubPass, giftPass], payment: $0)
        },
        Entry("apple-gift", "iPhone with the gift card's pass only") { VASPhone(passes: [giftPass], payment: $0) },
        Entry("apple-no-pass", "iPhone without a pass of ours") { VASPhone(passes: [], payment: $0) },
        Entry("apple-locked", "iPhone that stays locked") {
            VASPhone(passes: [clubPass], lockedSessions: .max, payment: $0)
        },
        Entry("apple-unlocks", "iPhone that is unlocked before the third look at it") {
            VASPhone(passes: [clubPass], lockedSessions: 2, payment: $0)
        },
        Entry("apple-choice", "iPhone whose user has to choose") {
            VASPhone(passes: [clubPass], needsChoice: true, payment: $0)
        },
        Entry("apple-sign-up", "iPhone that takes addresses only") {
            VASPhone(passes: [], takesSignUpOnly: true, payment: $0)
        },
        Entry("apple-version-2", "iPhone with another version of the protocol") {
            VASPhone(passes: [clubPass], version: [0x02, 0x00], payment: $0)
        },
    ]

    private static let google: [Entry] = [
        Entry("google-pass", "Android phone with a loyalty pass") { SmartTapPhone(passes: [loyalty], payment: $0) },
        Entry("google-several", "Android phone with loyalty pass and gift card") {
            SmartTapPhone(passes: [loyalty, giftCard], payment: $0)
        },
        Entry("google-chained", "Android phone that answers in many parts") {
            SmartTapPhone(passes: [loyalty, giftCard], partLength: 40, payment: $0)
        },
        Entry("google-no-pass", "Android phone with only its customer record") {
            SmartTapPhone(passes: [], payment: $0)
        },
        Entry("google-locked", "Android phone that stays locked") {
            SmartTapPhone(passes: [loyalty], oddity: .locked(sessions: .max), payment: $0)
        },
        Entry("google-unlocks", "Android phone that is unlocked before the third look at it") {
            SmartTapPhone(passes: [loyalty], oddity: .locked(sessions: 2), payment: $0)
        },
        Entry("google-choice", "Android phone that shows its passes to choose from") {
            SmartTapPhone(passes: [loyalty], oddity: .choiceShown, payment: $0)
        },
        Entry("google-transient", "Android phone that fails once in negotiating") {
            SmartTapPhone(passes: [loyalty], oddity: .transientFailures(1), payment: $0)
        },
        Entry("google-wrong-signature", "Android phone that knows another key of the collector") {
            SmartTapPhone(
                passes: [loyalty], collectorPrivateKeys: [2: WalletTestKeys.clubPrivateKey], payment: $0)
        },
        Entry("google-expired-key", "Android phone for which the collector's key has expired") {
            SmartTapPhone(
                passes: [loyalty], collectorPrivateKeys: [3: WalletTestKeys.collectorPrivateKeyVersion2],
                payment: $0)
        },
        Entry("google-forged", "Android phone with a wrong authentication code") {
            SmartTapPhone(passes: [loyalty], oddity: .wrongAuthenticationCode, payment: $0)
        },
        Entry("google-bad-session", "Android phone with a bad session status behind 9000") {
            SmartTapPhone(passes: [loyalty], oddity: .badSessionStatus, payment: $0)
        },
        Entry("google-not-ready", "Android phone that wants to leave the field before anything else") {
            SmartTapPhone(passes: [loyalty], oddity: .notReadyForPayment, payment: $0)
        },
        Entry("google-plaintext", "Android phone that sends its pass in the clear") {
            SmartTapPhone(passes: [loyalty], oddity: .plaintext, payment: $0)
        },
        Entry("google-version-2", "Android phone with other versions of the protocol") {
            SmartTapPhone(passes: [loyalty], oddity: .otherVersions, payment: $0)
        },
        Entry("google-second-select", "Android phone that gives its nonce with the second SELECT") {
            SmartTapPhone(passes: [loyalty], oddity: .secondSelect, payment: $0)
        },
        Entry("google-busy", "Android phone that answers only after it has left the field") {
            SmartTapPhone(passes: [loyalty], oddity: .tooManyRequests, payment: $0)
        },
    ]

    private static let tags: [Entry] = [
        Entry("member-tag", "Type 4 tag with a member's address") { _ in
            MemberTag(uri: "loyalty.example/m/0042-7731")
        },
        Entry("member-card", "card with nothing but a fixed UID") { _ in MemberTag(message: nil) },
        Entry("random-uid", "card with nothing but a random UID") { _ in
            MemberTag(message: nil, uid: [0x08, 0xA1, 0xB2, 0xC3])
        },
    ]

    private static let entries = apple + google + tags
}
