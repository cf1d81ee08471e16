package sqlite

import "golang.org/x/sys/unix"

// mountSmall mounts a file system of 3 MiB. Only root can.
func mountSmall(dir string) error { return unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m") }

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
