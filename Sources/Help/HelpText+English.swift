extension HelpText {
    static func english(_ topic: HelpTopic) -> HelpText {
        switch topic {
        case .taps:
            HelpText(
                "Taking cards",
                "Payment: have the final amount first, tips and surcharges included, then run nfc-tap pay 12.50 EUR or let the till do it. The customer holds card, phone or watch to the reader until it has been read, and takes it away.",
                "Refund: nfc-tap refund 12.50 EUR gives money back to the card that is held to the reader.",
                "Card checks: nfc-tap verify, look-up and store-card read a card without an amount.",
                "Passes: nfc-tap loyalty reads member cards in phones and never a payment card.",
                "The tap is not yet the approval: wait for the result. nfc-tap try does all of this without money.")
        case .holding:
            HelpText(
                "Where to hold the card",
                "Hold one card or phone flat on the reader's mark, still, for about a second. Take other cards out of the way: two at a time cannot be read.",
                "Phones and watches have their antenna in different places; move the upper back of a phone slowly over the mark. It has to be unlocked where it asks for that.",
                "Metal under the reader makes its field small. Below are the places by model, from shapes and makers' drawings."
            )
        case .retries:
            HelpText(
                "When a card has to be presented again",
                "A card that was moved too early, lay beside another or was too far away is asked for again within the same payment. Nothing is charged until it was read in full.",
                "After a failed read use the same card once more, then another card, then another way to pay. Some cards insist on their contact chip or a PIN: take them at a terminal that has both."
            )
        case .declined:
            HelpText(
                "Declined",
                "Nothing was charged. The reason is shown where it is known: funds, expiry, limit, a wrong number.",
                "Do not repeat the same card many times. Offer another card, another way to pay or a payment link.",
                "Where the issuer wants to be called or the card to be kept, follow what your payment service has told you; do not argue about it with the customer."
            )
        case .unknown:
            HelpText(
                "Outcome unknown",
                "The payment was sent and no clear answer came. Do not charge again: the order is blocked until it is settled.",
                "The daemon asks until it knows, and takes the payment back should it have been booked without an answer. Look at the transaction after a minute: nfc-tap status and the event say how it ended.",
                "Where the customer cannot wait, take another way to pay; what was booked by mistake is reversed.")
        case .pin:
            HelpText(
                "PIN and accessibility",
                "There is no PIN entry on this system. Small amounts need none; phones and watches verify their owner themselves.",
                "A card that asks for a PIN is declined with the hint to use another terminal. Keep one at hand, or a payment link, for customers who cannot use a phone.",
                "Customers who do not see the display are told in words: say when to present the card and when it was read. Tones for approved, declined and again differ on readers that have a buzzer."
            )
        case .queue:
            HelpText(
                "Payments that wait",
                "Where your payment service permits it, a payment that cannot be sent is stored and sent later. It is not approved before that: the risk of a decline is the shop's.",
                "nfc-tap status shows how many wait. Let them be sent before an update, and within the time that your contract names."
            )
        case .receipts:
            HelpText(
                "Receipts",
                "nfc-tap receipt prints the copy of the customer or of the merchant, again whenever it is needed. It says what is true at that time: a payment that was taken back says so.",
                "Where the payment service gives an address, the customer gets the receipt by a QR code.")
        case .loyalty:
            HelpText(
                "Passes and member cards",
                "Passes are read with the payment, or by themselves with nfc-tap loyalty; then no payment card is ever asked for.",
                "A phone has to be unlocked. On some readers the customer has to open the pass first, because the reader cannot ask for it."
            )
        case .checks:
            HelpText(
                "Look up, store card, verify",
                "Look up finds earlier transactions of a card. Store card keeps it with your payment service for later: the customer must know how and why beforehand, and what you told them is kept as the consent. Verify asks the issuer whether the card is good.",
                "No amount is involved in any of them.")
        case .terms:
            HelpText(
                "Terms",
                "Live payments need the terms of your payment service, accepted once for the merchant by an administrator. Test mode needs none.",
                "Accept them when you set the system up, not in front of a customer.")
        case .practice:
            HelpText(
                "Trying it without money",
                "nfc-tap try starts a daemon with a virtual reader and a pretended payment service in a folder of its own, takes a payment with a card in software, prints the receipt, and leaves nothing behind. It never reaches a real card, a real reader or a real payment service.",
                "The last two digits of the amount choose the outcome, see docs/sandbox.md: 12.51 is declined for insufficient funds."
            )
        }
    }
}
