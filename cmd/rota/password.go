package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/rotajobs/rota/access"
)

// newPassword reads a new password: on a terminal it asks twice and does not show it, otherwise it reads standard input
// without the line break at its end.
func (a *app) newPassword(ctx context.Context, user, command string) (string, error) {
	file, isFile := a.in.(*os.File)
	if !a.terminal.in || !isFile {
		return a.passwordFromInput(command)
	}
	first, err := a.askPassword(ctx, file, "New password of "+sanitize(user)+": ")
	switch {
	case err != nil:
		return "", err
	case first == "":
		return "", noPassword(command)
	}
	if err := access.CheckPassword(first); err != nil {
		return "", err
	}
	second, err := a.askPassword(ctx, file, "The same again: ")
	switch {
	case err != nil:
		return "", err
	case first != second:
		return "", usagef("type the same password twice", "the passwords differ; nothing was done")
	}
	return first, nil
}

// changedPassword reads the current and the new password of the user of the request.
func (a *app) changedPassword(ctx context.Context, user string) (current, next string, err error) {
	file, isFile := a.in.(*os.File)
	if !a.terminal.in || !isFile {
		lines, err := a.passwordLines("rota user passwd " + user)
		if err == nil && len(lines) != 2 {
			err = usagef("write the current password on the first line and the new one on the second", "standard input has %s, not two", plural(len(lines), "line", "lines"))
		}
		if err != nil {
			return "", "", err
		}
		return lines[0], lines[1], nil
	}
	if current, err = a.askPassword(ctx, file, "Current password of "+sanitize(user)+": "); err != nil {
		return "", "", err
	}
	next, err = a.newPassword(ctx, user, "rota user passwd "+user)
	return current, next, err
}

func (a *app) passwordFromInput(command string) (string, error) {
	lines, err := a.passwordLines(command)
	switch {
	case err != nil:
		return "", err
	case len(lines) > 1:
		return "", usagef("write the password on one line", "standard input has several lines")
	}
	return lines[0], nil
}

// passwordLines returns the lines of standard input, at least one that is not empty.
func (a *app) passwordLines(command string) ([]string, error) {
	text, err := readAtMost(a.in, "standard input")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if lines[0] == "" {
		return nil, noPassword(command)
	}
	return lines, nil
}

// withHint adds to the hint of a usage error.
func withHint(err error, hint string) error {
	var refused *exitError
	if errors.As(err, &refused) && refused.code == exitUsage {
		refused.hint += "; " + hint
	}
	return err
}

// noPassword refuses a missing password. The hint names the command that the user typed.
func noPassword(command string) error {
	return usagef("type it, or write it to standard input: "+shortened(command)+" < FILE", "there is no password on standard input")
}

// askPassword reads a line without echo. A signal restores the terminal before the program ends.
func (a *app) askPassword(ctx context.Context, file *os.File, question string) (string, error) {
	fd := int(file.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, state) }()
	hideInput(fd) // before the question: what is pasted at once would be shown
	if err := a.writeQuestion(question); err != nil {
		return "", usagef("write the password to standard input", "the password cannot be asked for: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := readHidden(file)
		read <- line{text, err}
	}()
	select {
	case got := <-read:
		_ = a.writeQuestion("\n")
		return string(got.text), got.err
	case <-ctx.Done():
		_ = term.Restore(fd, state)
		_ = a.writeQuestion("\n")
		return "", &exitError{code: exitFailed, err: errors.New("interrupted; nothing was done")}
	}
}
