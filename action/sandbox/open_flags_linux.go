package sandbox

import "golang.org/x/sys/unix"

// openFlags need no right to read the program.
const openFlags = unix.O_PATH
