// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Whole pages from mmap, so that locking and unlocking never touches a neighbour. Wiped before they are let go.
///
/// Each `unsafe` is a use of `base`: memory that Swift does not know of, `capacity` bytes from `init` to `deinit`. Indices are
/// checked before.
@safe struct LockedMemory: ~Copyable {
    private let base: UnsafeMutableRawPointer
    private let isMapped: Bool
    let capacity: Int

    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// Addresses of single pages that were wiped and wait, still locked, for the next secret: five calls of the system
    /// less while a customer waits.
    private static let spare = Mutex<[UInt]>([])
    private static let maximumSpare = 16

    init(capacity wanted: Int) {
        capacity = (max(wanted, 1) + LockedMemory.page - 1) / LockedMemory.page * LockedMemory.page
        if capacity == LockedMemory.page, let address = LockedMemory.spare.withLock({ $0.popLast() }),
            let spare = unsafe UnsafeMutableRawPointer(bitPattern: address)
        {
            unsafe base = spare
            isMapped = true
        } else if let mapped = unsafe LockedMemory.map(capacity) {
            unsafe base = mapped
            isMapped = true
        } else {
            unsafe base = .allocate(byteCount: capacity, alignment: 16)
            isMapped = false
        }
    }

    private static func map(_ capacity: Int) -> UnsafeMutableRawPointer? {
        let address = unsafe mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { return nil }
        // Failure leaves the bytes usable but swappable; the daemon checks RLIMIT_MEMLOCK at its start.
        _ = unsafe mlock(address, capacity)
        _ = unsafe madvise(address, capacity, MADV_DONTDUMP)
        _ = unsafe madvise(address, capacity, MADV_WIPEONFORK)
        return unsafe address
    }

    mutating func store(_ byte: UInt8, at index: Int) {
        precondition(index >= 0 && index < capacity)
        unsafe base.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }

    func load(at index: Int) -> UInt8 {
        precondition(index >= 0 && index < capacity)
        return unsafe base.load(fromByteOffset: index, as: UInt8.self)
    }

    func bytes(count: Int) -> UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: UnsafePointer(base.assumingMemoryBound(to: UInt8.self)), count: count)
    }

    deinit {
        unsafe explicit_bzero(base, capacity)
        guard isMapped else { return unsafe base.deallocate() }
        let isKept = unsafe LockedMemory.keep(base, capacity)
        // Unlocks as well.
        if !isKept { _ = unsafe munmap(base, capacity) }
    }

    private static func keep(_ base: UnsafeMutableRawPointer, _ capacity: Int) -> Bool {
        guard capacity == page else { return false }
        let address = UInt(bitPattern: base)
        return spare.withLock { spare in
            guard spare.count < maximumSpare else { return false }
            spare.append(address)
            return true
        }
    }
}
