package action

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rotajobs/rota/action/sandbox"
)

// openFailure is the failure of a program that cannot be opened. It names the program as the job does, which may name a link to it, and
// whose section refuses it.
func (c *Commands) openFailure(command string, err error) error {
	prefix := ""
	if !strings.HasPrefix(err.Error(), command+":") {
		prefix = command + ": "
	}
	if errors.Is(err, fs.ErrNotExist) {
		return permanentFailure(codeNotFound, "%s%w", prefix, err)
	}
	return permanentFailure(codeRefusedExec, "%s%w (the section exec of %s decides)", prefix, err, cmp.Or(c.config.Owner, "the server"))
}

// startFailure adds what the first line of a program, or its policy, says about the error of its start.
func startFailure(path string, policy *sandbox.Policy, err error) error {
	reason := ""
	switch line, isScript := firstLineOf(path); {
	case strings.Contains(err.Error(), "enter the working directory"):
		reason = dirFault(policy)
	case isScript && strings.Contains(err.Error(), "no such file"):
		reason = fmt.Sprintf(": its first line names the interpreter %s, which does not exist or is in no directory of read", brief(line))
	case !isScript && strings.Contains(err.Error(), "exec format error"):
		reason = ": it is no program of this machine; the first line of a script names its interpreter, as in #!/bin/sh"
	}
	return failed(codeStart, "%w%s", err, reason)
}

// dirFault says why a program cannot enter a working directory that exists.
func dirFault(policy *sandbox.Policy) string {
	if _, err := os.Stat(policy.Dir); err != nil || policy.Isolation == sandbox.None || coversPattern(slices.Concat(policy.Read, policy.Write), policy.Dir) {
		return ""
	}
	return ": neither read nor write of the section exec contains it"
}

// firstLineOf returns the interpreter that the first line of a script names.
func firstLineOf(path string) (interpreter string, isScript bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	head := make([]byte, 256) // as the kernel
	n, _ := file.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	rest, isScript := strings.CutPrefix(string(line), "#!")
	interpreter, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	return interpreter, isScript
}
