package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// server sends requests to a Rota server.
type server struct {
	base    string // of all addresses
	token   string
	http    *http.Client
	timeout time.Duration // of an answer that need not be waited for

	claims lull // a server may be too full for those who wait,
	others lull // and not for the rest
	met    atomic.Bool
	denied atomic.Pointer[rota.Error] // it does not accept the token, and need not be asked again
}

// request is one call of the server.
type request struct {
	act    string // what is being done, for errors
	method string
	path   string // behind the base
	body   any
	key    string        // the same when it is sent again, which is then not done twice; empty: none is needed
	wait   time.Duration // how long the server is asked to wait
	lull   *lull
}

// answerMax bounds what is read of one answer: the params of one claim, as text
// and twice.
const answerMax = 256 << 20

// apiAt is where the API of a server is.
func apiAt(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "":
		return "", rota.Invalidf("url", "is not the address of a server; write it like http://127.0.0.1:7420")
	case u.User != nil:
		return "", rota.Invalidf("url", "has a name or a password in it, which would end up in logs; give the token by itself")
	}
	return strings.TrimRight(u.String(), "/") + "/api/v1", nil
}

// newClient makes the client of one worker. HTTP/1 is enough for its three
// requests at once, and a connection that went dead is left with the request
// that found out.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	transport.ForceAttemptHTTP2 = false
	return &http.Client{Transport: transport}
}

// quiet is a client that follows no redirect: a server that has moved is for a
// person to know, and the token is for nobody else.
func quiet(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// call sends a request and reads its answer. After a failure it first lets some
// time pass, so that a server that comes back is not met by all of its workers
// at once.
func (s *server) call(ctx context.Context, r request, into any) error {
	if err := s.denied.Load(); err != nil {
		return err
	}
	if err := r.lull.wait(ctx); err != nil {
		return rota.Errorf(rota.Unavailable, r.act, "%w", err)
	}
	err := s.once(ctx, r, into)
	var later *retryLater
	switch {
	case errors.As(err, &later):
		r.lull.failed(later.after)
	case undecided(err):
		r.lull.failed(0)
	default:
		r.lull.passed()
	}
	if rota.CodeOf(err) == rota.Denied {
		s.denied.Store(asError(err))
	}
	return err
}

// undecided reports whether an error says nothing of what was asked for.
func undecided(err error) bool {
	switch rota.CodeOf(err) {
	case rota.Unavailable, rota.Busy, rota.Internal:
		return true
	}
	return false
}

func (s *server) once(ctx context.Context, r request, into any) error {
	ctx, done := context.WithTimeout(ctx, r.wait+s.timeout)
	defer done()
	message, err := s.message(ctx, r)
	if err != nil {
		return err
	}
	answer, err := s.http.Do(message)
	if err != nil {
		return s.lost(ctx, r.act, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	switch {
	case err != nil:
		return s.lost(ctx, r.act, err)
	case len(text) > answerMax:
		return rota.Errorf(rota.Internal, r.act, "the server's answer is longer than %d bytes", answerMax)
	}
	return s.read(r.act, answer, text, into)
}

func (s *server) message(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		text, err := encode(r.body)
		if err != nil {
			return nil, rota.Errorf(rota.Invalid, r.act, "cannot be written as JSON: %w", err)
		}
		body = bytes.NewReader(text)
	}
	message, err := http.NewRequestWithContext(ctx, r.method, s.base+r.path, body)
	if err != nil {
		return nil, rota.Errorf(rota.Invalid, r.act, "%w", err)
	}
	message.Header.Set("Authorization", "Bearer "+s.token)
	message.Header.Set("Accept", "application/json")
	if body != nil {
		message.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		message.Header.Set("Idempotency-Key", r.key)
	}
	return message, nil
}

// encode writes JSON whose documents stay as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// lost is the error of a request without an answer. Connections that nobody
// uses may be as dead as this one was.
func (s *server) lost(ctx context.Context, act string, err error) error {
	s.http.CloseIdleConnections()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return rota.Errorf(rota.Unavailable, act, "%w", cause)
	}
	var outer *url.Error // it repeats the address
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return rota.Errorf(rota.Unavailable, act, "no server answers at %s: %w", s.address(), err)
}

// address is the server's, as people write it.
func (s *server) address() string { return strings.TrimSuffix(s.base, "/api/v1") }
