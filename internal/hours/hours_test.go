package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestClocksAreShifted runs date as a program in C and as one in Go, which starts another
// with an environment of its own.
func TestClocksAreShifted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the library is for glibc")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler is on this machine")
	}
	dir := t.TempDir()
	library, err := buildLibrary(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := writeOverlay()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "date")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "testdata/date.go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, m := range moments {
		cmd := exec.Command(program)
		cmd.Env = append(cmd.Environ(), "LD_PRELOAD="+library, "CLOCK_OFFSET="+offset(m.at, time.Now()), "TZ="+m.zone)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		lines := strings.Fields(string(out))
		if len(lines) != 3 {
			t.Fatalf("%s: got %q", m, out)
		}
		for i, clock := range []string{"Go", "a file", "C"} {
			if got := utc(lines[i]); got.Sub(m.at).Abs() > time.Minute {
				t.Errorf("%s: %s has %s", m, clock, got)
			}
		}
	}
}

func TestAPatchThatDoesNotFitIsRefused(t *testing.T) {
	p := patch{file: "a.go", old: "now()", new: "later()", add: "\n// end"}
	if got, err := p.apply("x := now()"); got != "x := later()\n// end" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, source := range []string{"", "now() now()"} {
		if got, err := p.apply(source); err == nil {
			t.Errorf("%q became %q", source, got)
		}
	}
}
