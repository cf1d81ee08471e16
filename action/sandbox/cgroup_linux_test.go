//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// emptyTree is a directory in place of a cgroup, so that the test needs no right to create cgroups.
func emptyTree(t *testing.T) *tree { return &tree{path: t.TempDir()} }

func TestSweepRemovesGroupsOfEarlierServers(t *testing.T) {
	tree := emptyTree(t)
	own := groupPrefix + strconv.Itoa(os.Getpid()) + "-1"
	for _, name := range []string{own, groupPrefix + strconv.Itoa(1<<30) + "-1", groupPrefix + "1-1", "other"} {
		if err := os.Mkdir(filepath.Join(tree.path, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree.sweep()
	left, _ := os.ReadDir(tree.path)
	if len(left) != 2 || left[0].Name() != "other" || left[1].Name() != groupPrefix+"1-1" {
		t.Errorf("left are %v", left)
	}
}

func TestGroupOfEarlierServerIsNotUsed(t *testing.T) {
	tree := emptyTree(t)
	next := groupCount.Load() + 1
	taken := filepath.Join(tree.path, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), next))
	if err := os.Mkdir(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := tree.create(); err != nil || path == taken {
		t.Errorf("created %s, %v", path, err)
	}
}

// A server that lost the right to write to a cgroup kills its programs nevertheless.
func TestKillReachesShimIfGroupCannotBeKilled(t *testing.T) {
	for _, isolation := range []Isolation{Landlock, None} {
		t.Run(string(isolation), func(t *testing.T) {
			needs(t, isolation)
			withoutCgroups(t)
			p, err := Start(Command{Program: program(t, "/bin/sleep"), Args: []string{"600"}, Policy: policy(isolation)})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.Mkdir(dir+"/cgroup.kill", 0o755); err != nil { // cannot be written
				t.Fatal(err)
			}
			file, err := os.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			p.group = &cgroup{path: dir, dir: file}
			if err := p.Kill(); err == nil || !strings.Contains(err.Error(), "cgroup.kill") {
				t.Errorf("got %v", err)
			}
			if err := os.Remove(dir + "/cgroup.kill"); err != nil {
				t.Fatal(err)
			}
			if exit, _ := waitWithin(t, p, endMax/2); !exit.Killed {
				t.Errorf("exit %+v", exit)
			}
		})
	}
}
