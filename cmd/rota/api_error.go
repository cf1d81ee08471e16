package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// statusExits is what a refusal without a code that is known exits with.
var statusExits = map[int]int{
	http.StatusBadRequest: exitUsage, http.StatusUnprocessableEntity: exitUsage, http.StatusRequestEntityTooLarge: exitUsage,
	http.StatusUnauthorized: exitDenied, http.StatusForbidden: exitDenied, http.StatusNotFound: exitNotFound,
	http.StatusTooManyRequests: exitUnavailable, http.StatusServiceUnavailable: exitUnavailable,
	http.StatusBadGateway: exitUnavailable, http.StatusGatewayTimeout: exitUnavailable,
}

// refusal is the server's answer as an error: what it says, its hint, and the exit code of its kind.
func (a *app) refusal(address string, response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	var p httpapi.Problem
	if json.Unmarshal(text, &p) != nil || p.Title == "" && p.Detail == "" {
		return notRotaError(address, "it answered "+response.Status)
	}
	code, known := exitCodes[rota.Code(p.Code)]
	if !known {
		code = statusExits[response.StatusCode]
	}
	if code == exitDone {
		code = exitFailed
	}
	if response.StatusCode == http.StatusUnauthorized {
		p.Hint = a.tokenHint()
	}
	refused := &exitError{code: code, hint: requestsToCommands(sanitize(p.Hint)), err: errors.New(problemText(p))}
	if p.SQLState != "" {
		refused.statement = &p
	}
	for _, e := range p.Errors {
		refused.fields, refused.reasons = append(refused.fields, e.Field), append(refused.reasons, e.Reason)
	}
	return refused
}

// problemText names each field that is wrong once.
func problemText(p httpapi.Problem) string {
	text := sanitize(firstNonEmpty(p.Detail, p.Title))
	if len(p.Errors) == 1 && strings.Contains(text, p.Errors[0].Reason) {
		return text
	}
	for _, e := range p.Errors {
		text += "\n  " + sanitize(e.Field+": "+e.Reason)
	}
	return text
}

// adviceCommands is what a server advises to send, as the commands that send it.
var adviceCommands = []struct {
	shape   *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`POST (?:/api/v1)?/types/([^ /]+)/(pause|resume)`), "rota type $2 $1"},
	{regexp.MustCompile(`PUT (?:/api/v1)?/types/([^ /.;,]+)`), "rota type put $1"},
	{regexp.MustCompile(`PUT (?:/api/v1)?/limits`), "rota limits set"},
	{regexp.MustCompile(`GET (?:/api/v1)?/jobs/([^ /]+)/explain`), "rota job explain $1"},
}

// requestsToCommands puts commands in place of requests, for somebody who types them.
func requestsToCommands(text string) string {
	for _, r := range adviceCommands {
		text = r.shape.ReplaceAllString(text, r.command)
	}
	return text
}

func notRotaError(address, why string) error {
	return &exitError{
		code: exitUnavailable, err: fmt.Errorf("what listens at %s is not a Rota server: %s", address, why),
		hint: "see that --url, ROTA_URL or the data directory name the right one",
	}
}

// maySendAgain reports whether a request may have arrived although no answer did. A connection that was refused carried
// nothing, and one that timed out would only do so again.
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

// notConnected reports whether no connection was made, so that nothing can have arrived.
func notConnected(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && operation.Op == "dial"
}

// connectionError explains that no answer came, to a request that was to change something or to one that was not.
func (a *app) connectionError(err error, wrote bool) error {
	address, _ := a.address()
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitFailed, err: errors.New("interrupted")}
	}
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next // the last one says what happened, those before it repeat the address
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		cause = errors.New(name.Err) // the rest says whom this machine asked
	}
	hint := "see that it is up and reachable, or name another with --url"
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = "start one with rota serve, or name another with --url"
	case wrote && !notConnected(err):
		hint = "see that it is up and reachable; what was sent may have been done, and is safe to send again if it has a unique key"
	}
	return &exitError{code: exitUnavailable, err: fmt.Errorf("no server answers at %s: %w", address, cause), hint: hint}
}
