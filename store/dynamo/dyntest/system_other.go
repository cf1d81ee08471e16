//go:build !linux

package dyntest

import "os/exec"

// On other systems Shared starts a server for each test.
const endsWithParent = false

func endWithParent(*exec.Cmd) {}

func waitStopped(int) error { return nil }
