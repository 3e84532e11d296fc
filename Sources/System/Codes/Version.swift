// SPDX-License-Identifier: Apache-2.0
/// The version of all programs of this package. The scripts that build packages read it from this line.
public enum Version {
    public static let text = "0.1.0"
}
