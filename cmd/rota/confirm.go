package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// confirm asks a person before something that cannot be taken back is done to many. A script is not asked: it has said
// what it wants by its flags.
func (a *app) confirm(yes bool, question string) error {
	if yes || !a.screen.in || !a.screen.err {
		return nil
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // no answer is no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitFailed, err: errors.New("nothing was done"), hint: "answer y, or give --yes"}
}
