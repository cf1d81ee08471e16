package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// patch replaces a text that occurs once in a file of the standard library, and adds
// something at the end of the file.
type patch struct{ file, old, new, add string }

// patches shift the wall clock of every program that is built with them by CLOCK_OFFSET, a
// number of seconds. The modification times of files, which the kernel sets from the
// clock of the machine, are shifted alike. The processes that the program starts get the
// shift, too, even if they are given an environment of their own. In a bubble of
// testing/synctest its clock holds.
var patches = []patch{
	{
		"time/time.go",
		"\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {",
		"\tsec, nsec, mono := runtimeNow()\n\tif !runtimeIsBubbled() {\n\t\tsec += int64(ClockOffset / Second)\n\t}\n\tif mono == 0 {",
		"",
	},
	{
		"time/zoneinfo_unix.go",
		"import (\n",
		"import (\n",
		`
// ClockOffset is what Now adds to the clock of the machine.
var ClockOffset = readClockOffset()

func readClockOffset() Duration {
	text, _ := syscall.Getenv("CLOCK_OFFSET")
	if text == "" {
		return 0
	}
	n, err := atoi(text)
	if err != nil {
		panic("CLOCK_OFFSET is " + text + ", want a number of seconds")
	}
	return Duration(n) * Second
}
`,
	},
	{
		"os/stat_linux.go",
		"time.Unix(fs.sys.Mtim.Unix())",
		"time.Unix(fs.sys.Mtim.Unix()).Add(time.ClockOffset)",
		"",
	},
	{
		"os/file_posix.go",
		"syscall.NsecToTimespec(t.UnixNano())",
		"syscall.NsecToTimespec(t.Add(-time.ClockOffset).UnixNano())",
		"",
	},
	{
		"os/exec/exec.go",
		"\tenv, dedupErr := dedupEnv(env)\n",
		"\tenv, dedupErr := dedupEnv(append(env[:len(env):len(env)], clockVariables()...))\n",
		`
func clockVariables() (list []string) {
	for _, name := range []string{"CLOCK_OFFSET", "LD_PRELOAD"} {
		if value := os.Getenv(name); value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}
`,
	},
}

// writeOverlay writes the patched files and the list that go build -overlay reads. They
// are always in the same place, so that what is built with them is built once.
func writeOverlay() (list string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "rota-hours")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	replace := map[string]string{}
	for _, p := range patches {
		original := filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(p.file))
		source, err := os.ReadFile(original)
		if err != nil {
			return "", err
		}
		patched, err := p.apply(string(source))
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, strings.ReplaceAll(p.file, "/", "_"))
		if err := os.WriteFile(replace[original], []byte(patched), 0o644); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o644)
}

func (p patch) apply(source string) (string, error) {
	if n := strings.Count(source, p.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times; see how this Go reads the time, and change patches", p.file, p.old, n)
	}
	return strings.Replace(source, p.old, p.new, 1) + p.add, nil
}
