package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

// statusExits maps HTTP status codes to exit codes, for problems with an unknown code.
var statusExits = map[int]int{
	http.StatusBadRequest: exitUsage, http.StatusUnprocessableEntity: exitUsage, http.StatusRequestEntityTooLarge: exitUsage,
	http.StatusUnauthorized: exitDenied, http.StatusForbidden: exitDenied, http.StatusNotFound: exitNotFound,
	http.StatusTooManyRequests: exitUnavailable, http.StatusServiceUnavailable: exitUnavailable,
	http.StatusBadGateway: exitUnavailable, http.StatusGatewayTimeout: exitUnavailable,
}

// refusal converts the problem that the server answered to an error with its text, hint and exit code.
func (a *app) refusal(address string, response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if apiclient.AnsweredByTLS(response, text) {
		return failf(exitUnavailable, faultHints[apiclient.ServerIsTLS], "%s", apiclient.PlainToTLS(address))
	}
	p := apiclient.Problem(response, text)
	if p == nil || p.Title == "" && p.Detail == "" {
		return notRotaError(address, "it answered "+response.Status)
	}
	code, known := exitCodes[rota.Code(p.Code)]
	if !known {
		code = statusExits[response.StatusCode]
	}
	if code == exitDone {
		code = exitFailed
	}
	if response.StatusCode == http.StatusUnauthorized && strings.Contains(p.Hint, "admin.token") { // a token that has ended has its own hint
		p.Hint = a.tokenHint()
	}
	refused := &exitError{code: code, hint: fieldsToFlags(grantsToCommands(requestsToCommands(sanitize(p.Hint)))), err: errors.New(fieldsToFlags(problemText(p)))}
	if p.SQLState != "" {
		refused.statement = p
	}
	for _, e := range p.Errors {
		refused.fields, refused.reasons = append(refused.fields, e.Field), append(refused.reasons, e.Reason)
	}
	return refused
}

// leadingField is the field at the beginning of a problem.
var leadingField = regexp.MustCompile(`^[a-z]+(_[a-z]+)+`)

// privilegeField is the number of a privilege in a request, which means nothing to a user.
var privilegeField = regexp.MustCompile(`^privileges\[[0-9]+\]: `)

// fieldToFlag replaces the field at the beginning of a text by the flag that sets it. Fields whose name is one word
// are left alone: an argument may set them.
func fieldToFlag(text string) string {
	text = privilegeField.ReplaceAllString(text, "")
	field := leadingField.FindString(text)
	flag := string(flagName(nil, field))
	switch flag {
	case "", "params", "merge-params":
		return text
	case "scope-kind", "scope-id":
		flag = "scope"
	}
	return "--" + flag + text[len(field):]
}

// problemText is the text of a problem. It names each invalid field once.
func problemText(p *api.Problem) string {
	text := fieldToFlag(sanitize(cmp.Or(p.Detail, p.Title)))
	if len(p.Errors) == 1 && strings.Contains(text, p.Errors[0].Reason) {
		return text
	}
	for _, e := range p.Errors {
		text += "\n  " + fieldToFlag(sanitize(e.Field+": "+e.Reason))
	}
	return text
}

// adviceCommands maps the HTTP requests in the server's hints to commands.
var adviceCommands = []struct {
	shape   *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`POST (?:/api/v1)?/types/([^ /]+)/(pause|resume)`), "rota type $2 $1"},
	{regexp.MustCompile(`PUT (?:/api/v1)?/types/([^ /.;,]+)`), "rota type put $1"},
	{regexp.MustCompile(`PUT (?:/api/v1)?/limits`), "rota limits set"},
	{regexp.MustCompile(`GET (?:/api/v1)?/jobs/([^ /]+)/explain`), "rota job explain $1"},
	{regexp.MustCompile(`DELETE (?:/api/v1)?/tokens/([a-zA-Z0-9]+)`), "rota token revoke $1"},
	{regexp.MustCompile(`an interval, every (.*), instead of a cron expression`), "--every $1 instead of --cron"},
}

// requestsToCommands replaces HTTP requests in a hint by the commands that send them.
func requestsToCommands(text string) string {
	for _, r := range adviceCommands {
		text = r.shape.ReplaceAllString(text, r.command)
	}
	return text
}

// grantStatement matches the statement in the hint of a denied act.
var grantStatement = regexp.MustCompile(`\bGRANT ([A-Z]+(?: [A-Z]+)*?)(?: ON JOB (\S+))? TO (\S+)$`)

// grantsToCommands replaces the statement that grants a missing privilege by the command that does the same.
func grantsToCommands(text string) string {
	m := grantStatement.FindStringSubmatch(text)
	if m == nil || !isPrivilege([]string{m[1]}) {
		return text
	}
	command := "rota grant " + privilegeWord(m[1])
	if m[2] != "" {
		command += " --job " + m[2]
	}
	return strings.TrimSuffix(text, m[0]) + command + " --to " + m[3]
}

// adviceFlags maps fields in the server's texts to flags, where a command has no field of that name.
var adviceFlags = strings.NewReplacer(
	"with_template", "--with-template",
	"merge_params", "params",
	"without a unique_key", "without --unique",
	"is before starts_at", "is before --starts",
	"or use keys for one key", "or use --key for one key",
	"use EVERY", "use --every",
	"with template instead of type", "with --template instead of --type",
)

// fieldsToFlags replaces fields in a text by the flags that set them.
func fieldsToFlags(text string) string { return adviceFlags.Replace(text) }

func notRotaError(address, why string) error {
	return failf(exitUnavailable, "check --url, ROTA_URL and the data directory", "the program at %s is not a Rota server: %s", address, why)
}

// maySendAgain reports whether sending a request a second time can help: the connection broke after it was made. A
// refused connection or an unknown name would fail again, and a timeout would take as long again.
func maySendAgain(err error) bool {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &timeout) && timeout.Timeout():
		return false
	}
	var dns *net.DNSError
	return !errors.As(err, &dns)
}

// notConnected reports whether no connection was made, so that the server cannot have received the request.
func notConnected(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && operation.Op == "dial"
}

// connectionError converts the error of a request without an answer. wrote says whether the request was a write.
func (a *app) connectionError(err error, wrote bool) error {
	address, _ := a.address()
	if _, invalid := err.(*rota.Error); invalid { // the request could not be built
		return err
	}
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitFailed, err: errors.New("interrupted")}
	}
	if fault, reason := apiclient.TLSFaultOf(address, err); fault != apiclient.NoFault {
		return failf(exitUnavailable, faultHints[fault], "%s", reason)
	}
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next // the innermost error has the reason; the outer ones repeat the address
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		cause = errors.New(name.Err) // without the name of the DNS server
	}
	hint := "check that the server is running and reachable, or name another one with --url"
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = "start a server with rota serve, or name another one with --url"
	case wrote && !notConnected(err):
		hint = "check that the server is running and reachable; the request may have been applied, and is safe to send again if it has a unique key"
	}
	return failf(exitUnavailable, hint, "no server answers at %s: %w", address, cause)
}
