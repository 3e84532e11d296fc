// SPDX-License-Identifier: Apache-2.0
import Glibc

extension SystemError {
    /// What is the matter with a file, folder, device or address that could not be opened, made or written, and what to do: one phrase
    /// about "it".
    package var remedy: String {
        switch code {
        case EROFS:
            "it is on a disk that is mounted read-only: mount that for writing, or name the folder in ReadWritePaths= of the unit"
        case ENOSPC, EDQUOT: "its disk is full: free space there"
        case ENOENT: "it is not there: correct the path, or make the folder for this program's user"
        case ENOTDIR: "a part of its path is no folder: correct the path"
        case EISDIR: "it is a folder: name a file in it"
        case ENAMETOOLONG: "its path is too long: choose a shorter one"
        case ELOOP: "its path leads over a link that is not followed: name the place itself"
        case EFBIG: "it is larger than what is expected there: name another file"
        case ENODATA: "it is empty: name another file"
        case ESPIPE: "it is no file: name one"
        case EACCES, EPERM: "this user may not: check its owner and mode"
        case EIO: "its disk fails: look into the kernel's log"
        case EBUSY: "another program uses it: stop that program"
        case EAGAIN: "another program uses it, or no thread is left: stop that program, or raise TasksMax= of the unit"
        case ENOTTY: "it is no serial line: correct the path"
        case ENXIO, ENODEV: "no device answers there: connect it, or correct the path"
        case EADDRINUSE: "another program listens there: stop that program, or choose another place"
        case EADDRNOTAVAIL, EAFNOSUPPORT: "this machine has no such address: choose another one"
        case ECONNREFUSED: "nobody listens there: start the program that should"
        case EHOSTUNREACH, ENETUNREACH, ETIMEDOUT: "that machine is not reached: check the network"
        case EMFILE: "this process has no file descriptor left: raise LimitNOFILE= of its unit, or ulimit -n"
        case ENFILE: "this machine has no file descriptor left: raise fs.file-max"
        case ENOBUFS, ENOMEM: "no memory is left: end other programs, or raise MemoryMax= of the unit"
        default: "\(words), number \(code) of errno(3): check its owner and mode, and the disk"
        }
    }

    /// By strerror(3).
    private var words: String {
        guard let text = unsafe strerror(code) else { return "unknown" }
        return unsafe String(cString: text)
    }
}

extension SystemError: CustomStringConvertible {
    public var description: String { remedy }
}
