package action

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Programs are the programs that jobs may name, and directories of such programs, also by the links that usually lead to them: where
// /bin is a link to /usr/bin, a job may name /bin/sh if /usr/bin/sh is in allow.
func (c *CommandConfig) Programs() (paths []string) {
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, path := range c.Allow {
		path = filepath.Clean(path)
		add(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			add(realPath(path))
		} else {
			add(filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path)))
		}
	}
	for _, link := range []string{"/bin", "/sbin", "/usr/sbin"} {
		real := realPath(link)
		for _, path := range slices.Clone(paths) {
			if rest, is := strings.CutPrefix(path+"/", real+"/"); is {
				add(filepath.Join(link, rest))
			}
		}
	}
	return paths
}

// AllowsProgram reports whether Programs of a server contain a program.
func AllowsProgram(programs []string, path string) bool { return coversPath(programs, path) }

// Variables are the variables that jobs may set.
func (c *CommandConfig) Variables() (names []string) {
	fixed := map[string]bool{}
	for _, entry := range c.Env {
		if name, _, isFixed := strings.Cut(entry, "="); isFixed {
			fixed[name] = true
		}
	}
	for _, name := range slices.Concat(settable, c.Env) {
		if !strings.Contains(name, "=") && !fixed[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
