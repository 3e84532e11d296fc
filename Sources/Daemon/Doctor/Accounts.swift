// SPDX-License-Identifier: Apache-2.0
/// Users and groups of the machine's own files.
struct Accounts: Sendable {
    private let users: [String: (userID: UInt32, groupID: UInt32)]
    private let groups: [String: (groupID: UInt32, members: Set<String>)]

    init(_ tree: HostTree) {
        var users: [String: (userID: UInt32, groupID: UInt32)] = [:]
        for fields in Self.records(tree.text("/etc/passwd"), fields: 4) {
            guard let userID = UInt32(fields[2]), let groupID = UInt32(fields[3]) else { continue }
            users[fields[0]] = (userID, groupID)
        }
        var groups: [String: (groupID: UInt32, members: Set<String>)] = [:]
        for fields in Self.records(tree.text("/etc/group"), fields: 3) {
            guard let groupID = UInt32(fields[2]) else { continue }
            let members = fields.count > 3 ? fields[3].split(separator: ",").map(String.init) : []
            groups[fields[0]] = (groupID, Set(members))
        }
        self.users = users
        self.groups = groups
    }

    func userID(_ name: String) -> UInt32? { users[name]?.userID }
    func userName(_ userID: UInt32) -> String? { users.first { $0.value.userID == userID }?.key }
    func groupID(_ name: String) -> UInt32? { groups[name]?.groupID }
    func groupName(_ groupID: UInt32) -> String? { groups.first { $0.value.groupID == groupID }?.key }

    /// Users whose primary group it is, and those who are listed in it, by name.
    func users(in group: UInt32) -> [String] {
        let listed = groups.values.filter { $0.groupID == group }.flatMap(\.members)
        return Set(users.filter { $0.value.groupID == group }.map(\.key)).union(listed).sorted()
    }

    /// The user's primary group and those it is listed in.
    func groupIDs(ofUser name: String) -> Set<UInt32> {
        var all = Set(groups.values.filter { $0.members.contains(name) }.map(\.groupID))
        if let primary = users[name]?.groupID { all.insert(primary) }
        return all
    }

    private static func records(_ text: String?, fields: Int) -> [[String]] {
        (text ?? "").split(separator: "\n")
            .map { $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init) }
            .filter { $0.count >= fields }
    }
}
