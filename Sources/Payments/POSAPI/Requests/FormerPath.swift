// SPDX-License-Identifier: Apache-2.0

/// A path that the API had before version 0.2.0 of its contract.
public enum FormerPath {
    private static let names = ["day-ends": "days"]

    /// What to write instead of a former path, for the `field` of `request.unknown_path`.
    ///
    /// - Parameter name: the path's first part after `/v1`.
    /// - Returns: `nil` for a name that was never one.
    public static func remedy(_ name: String?) -> String? {
        guard let name, let new = names[name] else { return nil }
        return "/v1/\(name), which is now /v1/\(new)"
    }
}
