package action

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/rotajobs/rota"
)

// The codes of what goes wrong with a request, for programs. A status has the
// code http_404.
const (
	codeParams   = "payload"        // the params are wrong in a way that no schema sees
	codeRefused  = "guard"          // the guard keeps it from being reached
	codeRedirect = "http_redirects" // an answer points to where the request does not go
	codeNetwork  = "network"        // no answer came
	codeGone     = "gone"           // there is nobody to tell any more
	codeLate     = "late"           // the answer took too long
	codeDown     = "receiver_down"  // it was not sent, since others were not answered
	codeDisabled = "disabled"       // the server is not set to do this
)

// failure is an error of a run with a code of its own.
type failure struct {
	code string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Code names what went wrong.
func (f *failure) Code() string { return f.code }

func failed(code, format string, args ...any) error {
	return &failure{code, fmt.Errorf(format, args...)}
}

// permanentFailure is a failure that no retry mends.
func permanentFailure(code, format string, args ...any) error {
	return rota.Permanent(failed(code, format, args...))
}

// requestError turns what a client says of a request that was not answered into the
// error of a run. It leaves out the address, which may hold a key.
func requestError(ctx context.Context, host string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errAnswerTimeout) {
			return failed(codeLate, "%s: %w", host, cause)
		}
		return cause
	}
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var own *failure
	var dns *net.DNSError
	switch {
	case errors.As(err, &own):
		return err
	case isRefused(err):
		return &failure{codeRefused, err}
	}
	if errors.As(err, &dns) { // without whom we asked
		return failed(codeNetwork, "%s: the name cannot be resolved: %s", host, dns.Err)
	}
	return failed(codeNetwork, "%s: %s", host, brief(err.Error()))
}

// errAnswerTimeout is the cause of a context that ended because an answer took too long.
var errAnswerTimeout = errors.New("the answer took too long")

// brief keeps what others wrote short, and on one line.
func brief(text string) string {
	const most = 512
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
