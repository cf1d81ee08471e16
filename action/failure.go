package action

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Error codes of requests. An unexpected status has a code such as http_404.
const (
	codeParams   = "payload"        // params that are invalid in a way that the schema cannot check
	codeRefused  = "guard"          // the guard refused the address
	codeRedirect = "http_redirects" // a redirect that is not followed
	codeNetwork  = "network"        // no answer
	codeGone     = "gone"           // the webhook was removed or refuses deliveries for good
	codeLate     = "late"           // the answer took too long
	codeDown     = "receiver_down"  // not sent, because the receiver did not answer before
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

// permanentFailure is a failure that is not retried.
func permanentFailure(code, format string, args ...any) error {
	return rota.Permanent(failed(code, format, args...))
}

// requestError converts the error of a request without an answer to the error of a run.
// It omits the URL, which may contain a secret.
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
	if errors.As(err, &dns) { // without the address of the name server
		return failed(codeNetwork, "%s: the name cannot be resolved: %s", host, dns.Err)
	}
	return failed(codeNetwork, "%s: %s", host, brief(engine.Mask(ctx, err.Error(), false)))
}

// errAnswerTimeout is the cause of a context that ended because the answer took too long.
var errAnswerTimeout = errors.New("the answer took too long")

// brief shortens a text from outside and puts it on one line.
func brief(text string) string {
	const most = 512
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
