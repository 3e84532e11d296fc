// SPDX-License-Identifier: Apache-2.0
/// The keys whose private halves `nfc-tap-psp-sandbox` publishes: whoever has them opens what is sealed to them, and signs
/// what is trusted under them. None is of use for live payments, whatever it is called and whatever for.
enum PublishedSandboxKeys {
    /// RFC 7638.
    static let thumbprints: Set<String> = [
        // Opens reads.
        "zWwk1Nh8LRKe5jD4XGOY6FIggmNj4mgr5xgkEqBCdA4",
        // Signs profiles.
        "RYriOMy-GooTS4rgR6s85A_ibuUM1EAupCbnHXssBb0",
        // Signs receipts for batches.
        "iXlnYjS2kDnykcvwZG2MYzMZCB04lKrnFPIArAeyZ1c",
    ]
}
