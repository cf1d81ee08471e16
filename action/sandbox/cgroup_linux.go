//go:build amd64 || arm64

package sandbox

import "os"

type cgroup struct{ dir *os.File }

func newCgroup(p Policy) (*cgroup, Policy, error) { return nil, p, nil }
func (g *cgroup) kill() error                     { return nil }
func (g *cgroup) remove() error                   { return nil }
func (g *cgroup) outOfMemory() bool               { return false }
