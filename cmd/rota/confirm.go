package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// confirm asks the user before a command changes many jobs. Without a terminal it refuses, unless --yes was given.
func (a *app) confirm(yes bool, question func() string) error {
	switch {
	case yes:
		return nil
	case !a.terminal.in || !a.terminal.err:
		return usagef("add --yes to run it without confirmation", "this command changes many jobs and there is no terminal to ask on; nothing was done")
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question())
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // no answer means no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitFailed, err: errors.New("nothing was done"), hint: "answer y, or add --yes"}
}
