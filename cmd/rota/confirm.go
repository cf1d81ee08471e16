package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// confirm asks a person before something is done to many. A script that cannot be asked has to say that it means it.
func (a *app) confirm(yes bool, question func() string) error {
	switch {
	case yes:
		return nil
	case !a.terminal.in || !a.terminal.err:
		return usagef("give --yes", "this is done to many at once, and there is no terminal to ask at: nothing was done")
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question())
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // no answer is no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitFailed, err: errors.New("nothing was done"), hint: "answer y, or give --yes"}
}
