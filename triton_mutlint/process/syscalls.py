"""Linux's system calls that reach beyond a process, by name, with their numbers on each machine (man 2 syscalls)."""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64")
AUDIT = (0xC000003E, 0xC00000B7)  # what the kernel calls them
UNKNOWN = 452  # calls from this number on are newer than this table, and none of the machine's first ABI

# Each row: the call, its number on x86_64, its number on aarch64 (-: there is none).
_TABLE = """
mkdir 83 -            mkdirat 258 34        rmdir 84 -            unlink 87 -           unlinkat 263 35
rename 82 -           renameat 264 38       renameat2 316 276     link 86 -             linkat 265 37
symlink 88 -          symlinkat 266 36      mknod 133 -           mknodat 259 33        creat 85 -
truncate 76 45        chmod 90 -            fchmod 91 52          fchmodat 268 53       chown 92 -
fchown 93 55          lchown 94 -           fchownat 260 54       utime 132 -           utimes 235 -
futimesat 261 -       utimensat 280 88      setxattr 188 5        lsetxattr 189 6       fsetxattr 190 7
removexattr 197 14    lremovexattr 198 15   fremovexattr 199 16   flock 73 32           open_by_handle_at 304 265
mount 165 40          umount2 166 39        pivot_root 155 41     chroot 161 51         fsopen 430 430
fsconfig 431 431      fsmount 432 432       fspick 433 433        move_mount 429 429    open_tree 428 428
mount_setattr 442 442 swapon 167 224        swapoff 168 225       acct 163 89           quotactl 179 60
quotactl_fd 443 443   execve 59 221         execveat 322 281      fork 57 -             vfork 58 -
socket 41 198         connect 42 203        bind 49 200           listen 50 201         accept 43 202
accept4 288 242       ptrace 101 117        process_vm_readv 310 270                    process_vm_writev 311 271
kcmp 312 272          pidfd_open 434 434    pidfd_getfd 438 438   pidfd_send_signal 424 424
process_madvise 440 440                     process_mrelease 448 448                    tkill 200 130
setns 308 268         unshare 272 97        bpf 321 280           perf_event_open 298 241
userfaultfd 323 282   io_uring_setup 425 425                      io_uring_enter 426 426
io_uring_register 427 427                   keyctl 250 219        add_key 248 217       request_key 249 218
shmget 29 194         shmat 30 196          shmctl 31 195         msgget 68 186         msgsnd 69 189
msgctl 71 187         semget 64 190         semop 65 193          semctl 66 191         semtimedop 220 192
mq_open 240 180       mq_unlink 241 181     init_module 175 105   finit_module 313 273  delete_module 176 106
kexec_load 246 104    kexec_file_load 320 294                     reboot 169 142        settimeofday 164 170
clock_settime 227 112 adjtimex 159 171      clock_adjtime 305 266 sethostname 170 161   setdomainname 171 162
setsid 112 157        setpgid 109 154       setpriority 141 140   ioprio_set 251 30     migrate_pages 256 238
move_pages 279 239    sched_setscheduler 144 119                  sched_setparam 142 118
sched_setattr 314 274 syslog 103 116        vhangup 153 58        fanotify_init 300 262
iopl 172 -            ioperm 173 -
clone3 435 435        openat2 437 437       open 2 -              openat 257 56         clone 56 220
ioctl 16 29           fcntl 72 25           kill 62 129           tgkill 234 131        rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240                   prlimit64 302 261     sched_setaffinity 203 122
"""
_ROWS = _TABLE.split()
_NUMBERS = {name: tuple(None if n == "-" else int(n) for n in numbers)
            for name, *numbers in zip(_ROWS[::3], _ROWS[1::3], _ROWS[2::3], strict=True)}

_WRITES = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND
_THREAD = 0x10000  # CLONE_THREAD
_LOCKS_AND_SIGNALS = (6, 7, 37, 38, 8, 15, 1024)  # F_SETLK, F_SETLKW, F_OFD_*, F_SETOWN, F_SETOWN_EX, F_SETLEASE
_TYPING = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: input for whoever reads the terminal

MISSING = ("clone3", "openat2")  # their flags stand in memory; the C library goes on without them
REFUSED_WITH_BITS = (("open", 1, _WRITES), ("openat", 2, _WRITES))  # call, number of the argument, bits of it
REFUSED_WITHOUT_BITS = (("clone", _THREAD),)  # in the first argument
REFUSED_WITH = (("ioctl", _TYPING), ("fcntl", _LOCKS_AND_SIGNALS))  # as the second argument
FOR_ITSELF = (("kill", ()), ("tgkill", ()), ("rt_sigqueueinfo", ()), ("rt_tgsigqueueinfo", ()),
              ("prlimit64", (0,)), ("sched_setaffinity", (0,)))  # the first is the process, or one of these values
_IN_PART = {*MISSING, *(row[0] for row in (*REFUSED_WITH_BITS, *REFUSED_WITHOUT_BITS, *REFUSED_WITH, *FOR_ITSELF))}
REFUSED = tuple(name for name in _NUMBERS if name not in _IN_PART)


def number(name: str, machine: int) -> int | None:
    """The number of a call on a machine, by its place in `MACHINES`; None if it has no such call."""
    return _NUMBERS[name][machine]
