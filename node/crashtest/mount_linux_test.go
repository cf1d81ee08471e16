package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// mountSmall mounts a disk of 6 MiB for its owner alone. Only root may.
func mountSmall(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return unix.Mount("tmpfs", dir, "tmpfs", 0, "size=6m,mode=0700")
}

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
