// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What the test issuer says about an application cryptogram (tag 9F26).
public enum ARQCVerdict: Equatable, Sendable {
    /// The cryptogram is that of a card of this catalogue over exactly these data.
    case verified
    /// A card of this catalogue, but another cryptogram: data changed, or wrong keys.
    case wrongCryptogram
    /// No issuer master key for this PAN, or a cryptogram version that is not known here.
    case unknownCard
    /// A data object that the cryptogram's version needs is absent or has an impossible length.
    case missing(Tag)
}
