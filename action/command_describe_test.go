package action

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestProgramsIncludeUsualLinks(t *testing.T) {
	if real, err := filepath.EvalSymlinks("/bin"); err != nil || real == "/bin" {
		t.Skip("skipped: /bin is no link here")
	}
	for allow, want := range map[string]bool{"/bin/sh": true, "/usr/bin/sh": true, "/usr/bin": true, "/bin": true, "/": true, "/usr/bin/env": false, "/usr/local/bin": false} {
		c := CommandConfig{CommandRules: CommandRules{Allow: []string{allow}}}
		if AllowsProgram(c.Programs(), "/bin/sh") != want {
			t.Errorf("%s: %v", allow, c.Programs())
		}
	}
}

func TestVariablesAreThoseThatJobsMaySet(t *testing.T) {
	c := CommandConfig{CommandRules: CommandRules{Env: []string{"A", "B=1", "PATH=/bin", "HOME"}}}
	if got := c.Variables(); !slices.Equal(got, []string{"HOME", "LANG", "TZ", "SHELL", "LOGNAME", "A"}) {
		t.Error(got)
	}
}
