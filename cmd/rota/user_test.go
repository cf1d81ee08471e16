package main

import (
	"strings"
	"testing"
)

// TestPasswordFromStandardInput: the password is the line on standard input, and a wrong one changes nothing.
func TestPasswordFromStandardInput(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, one := range []struct {
		line, input string
		code        int
		text        string
	}{
		{"user create bob", "", exitUsage, "--no-password"},
		{"user create bob", "short\n", exitUsage, "use at least 12"},
		{"user create bob", "two lines\nof password\n", exitUsage, "several lines"},
		{"user show bob", "", exitNotFound, "there is no user bob"},
		{"user create bob", "correct horse battery\r\n", exitDone, "created user bob"},
		{"user show bob", "", exitDone, "password  set"},
		{"user passwd bob", "another horse battery", exitDone, "changed the password of user bob"},
		{"user passwd bob", "\n", exitUsage, "no password on standard input"},
		{"user passwd nobody", "another horse battery", exitNotFound, "there is no user nobody"},
		{"user edit bob --reset password", "", exitDone, "changed user bob"},
		{"user show bob", "", exitDone, "password  none"},
	} {
		out, errs, code := s.runWith(one.line, terminal{}, map[string]string{"STDIN": one.input})
		if code != one.code || !strings.Contains(out+errs, one.text) {
			t.Errorf("rota %s with %q exits with %d: %s%s", one.line, one.input, code, out, errs)
		}
	}
}

// TestUserChangesOwnPassword: a user that sends a token writes its current password before the new one.
func TestUserChangesOwnPassword(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	if _, errs, code := s.runWith("user create bob", terminal{}, map[string]string{"STDIN": "correct horse battery"}); code != exitDone {
		t.Fatal(errs)
	}
	token, errs, code := s.run("token create --user bob --scope write")
	if code != exitDone {
		t.Fatal(errs)
	}
	for _, one := range []struct {
		input string
		code  int
		text  string
	}{
		{"another horse battery\n", exitUsage, "the current password on the first line"},
		{"a wrong password\nanother horse battery\n", exitDenied, "the current password is wrong"},
		{"correct horse battery\nanother horse battery\n", exitDone, "changed the password of user bob"},
		{"another horse battery\r\nthird horse battery\r\n", exitDone, "changed the password of user bob"},
	} {
		out, errs, code := s.runWith("user passwd bob", terminal{}, map[string]string{"STDIN": one.input, "ROTA_TOKEN": token})
		if code != one.code || !strings.Contains(out+errs, one.text) {
			t.Errorf("with %q it exits with %d: %s%s", one.input, code, out, errs)
		}
	}
}

// TestTokenCreatePrintsOnlyToken: a script can take standard output as the token.
func TestTokenCreatePrintsOnlyToken(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	out, errs, code := s.run("token create --scope read")
	if token, newline := strings.CutSuffix(out, "\n"); code != exitDone || !newline || !strings.HasPrefix(token, "rota_") || strings.ContainsAny(token, " \n") {
		t.Errorf("it exits with %d and prints %q", code, out)
	}
	if !strings.Contains(errs, "scope read") {
		t.Errorf("standard error is %q", errs)
	}
}
