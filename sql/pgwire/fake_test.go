package pgwire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

// fakeStore is what all fake sessions of a server write to.
type fakeStore struct {
	mu      sync.Mutex
	written []string
	running chan struct{} // a statement that waits has begun
	ended   chan error    // and why it ended
	memory  atomic.Int64  // of all sessions
}

func newFakeStore() *fakeStore {
	return &fakeStore{running: make(chan struct{}, 10), ended: make(chan error, 10)}
}

func (s *fakeStore) write(all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = append(s.written, all...)
}

func (s *fakeStore) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.written, " ")
}

// fakeSession is a session that understands a few made-up statements, each of which does
// one thing that the protocol has to cope with.
type fakeSession struct {
	store    *fakeStore
	memory   *session.Memory
	settings map[string]string
	status   session.Status
	implicit bool
	pending  []string
}

func newFakeSession(s *fakeStore) *fakeSession {
	return &fakeSession{store: s, memory: session.NewMemory(&s.memory), status: session.Idle, settings: map[string]string{"statement_timeout": "0", "timezone": "UTC", "application_name": ""}}
}

var fakeColumns = map[string][]system.Column{
	"rows": {{Name: "n", Kind: system.Kind(kind.Int4)}}, "wide": {{Name: "t", Kind: system.Kind(kind.Text)}},
	"one":   {{Name: "a", Kind: system.Kind(kind.Int4)}, {Name: "b", Kind: system.Kind(kind.Text)}, {Name: "c", Kind: system.Kind(kind.Boolean)}},
	"unfit": {{Name: "n", Kind: system.Kind(kind.Int4)}},
	"echo":  {{Name: "v", Kind: system.Kind(kind.Text)}},
	"now":   {{Name: "now", Kind: system.Kind(kind.Timestamp)}},
	"none":  {},
}

func (f *fakeSession) Run(ctx context.Context, text string, args []any, each func(*session.Answer) error) error {
	var list []string
	for one := range strings.SplitSeq(text, ";") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	for _, one := range list {
		if len(list) > 1 {
			f.BeginImplicit()
		}
		a, err := f.do(ctx, one, args)
		if err != nil {
			return err
		}
		if err := each(a); err != nil {
			return err
		}
	}
	return f.Sync(ctx)
}

func (f *fakeSession) Prepare(_ context.Context, text string, params []kind.Kind) (*session.Prepared, error) {
	text = strings.TrimSpace(text)
	word, _, _ := strings.Cut(text, " ")
	if word == "bad" {
		return nil, f.fail(&session.Error{State: "42601", Message: "bad statement", Hint: "write a good one", Position: 3})
	}
	p := &session.Prepared{Text: text, Params: params, Columns: fakeColumns[word], Empty: text == ""}
	if word == "echo" && len(params) == 0 {
		p.Params = []kind.Kind{kind.Text}
	}
	for i, k := range p.Params {
		if k == kind.Unknown {
			p.Params[i] = kind.Text
		}
	}
	return p, nil
}

func (f *fakeSession) Execute(ctx context.Context, p *session.Prepared, args []any) (*session.Answer, error) {
	return f.do(ctx, p.Text, args)
}

func (f *fakeSession) BeginImplicit() {
	if f.status == session.Idle {
		f.status, f.implicit = session.Open, true
	}
}

func (f *fakeSession) Sync(context.Context) error {
	if f.status == session.Idle || !f.implicit {
		return nil
	}
	all := f.pending
	f.end()
	for _, one := range all {
		if one == "conflict" {
			return &session.Error{State: "40001", Message: "could not serialize access"}
		}
	}
	f.store.write(all)
	return nil
}

func (f *fakeSession) end() { f.status, f.implicit, f.pending = session.Idle, false, nil }

func (f *fakeSession) fail(err error) error {
	if f.status == session.Open {
		f.status = session.Failed
	}
	if f.implicit {
		f.end()
	}
	return err
}

func (f *fakeSession) Memory() *session.Memory { return f.memory }

func (f *fakeSession) Fail() { _ = f.fail(nil) }

func (f *fakeSession) Status() session.Status { return f.status }

func (f *fakeSession) Setting(name string) (string, bool) {
	value, known := f.settings[strings.ToLower(name)]
	return value, known
}

func (f *fakeSession) Set(name, value string) error {
	if name == "nonsense" {
		return &session.Error{State: "42704", Message: "unrecognized setting nonsense"}
	}
	f.settings = maps.Clone(f.settings)
	f.settings[strings.ToLower(name)] = value
	return nil
}

func (f *fakeSession) do(ctx context.Context, text string, args []any) (*session.Answer, error) {
	word, rest, _ := strings.Cut(text, " ")
	if f.status == session.Failed && word != "commit" && word != "rollback" {
		return nil, &session.Error{State: "25P02", Message: "current transaction is aborted"}
	}
	a, err := f.act(ctx, word, rest, args)
	if err != nil {
		return nil, f.fail(err)
	}
	return a, nil
}

func (f *fakeSession) act(ctx context.Context, word, rest string, args []any) (*session.Answer, error) {
	a := &session.Answer{Tag: strings.ToUpper(word), Columns: fakeColumns[word]}
	switch word {
	case "begin":
		f.status, f.implicit = session.Open, false
	case "commit":
		if f.status == session.Open {
			f.store.write(f.pending)
		} else {
			a.Tag = "ROLLBACK"
		}
		f.end()
	case "rollback":
		f.end()
	case "write", "conflict":
		if word == "conflict" {
			rest = word
		}
		if f.status == session.Idle {
			f.store.write([]string{rest + "!"}) // not in a transaction
		} else {
			f.pending = append(f.pending, rest)
		}
	case "rows", "wide":
		n, _ := strconv.Atoi(rest)
		for i := range min(n, 50_000) { // a fuzzer may ask for any number
			if word == "wide" {
				a.Rows = append(a.Rows, []any{strings.Repeat("x", 1000)})
				continue
			}
			a.Rows = append(a.Rows, []any{int64(i + 1)})
		}
		a.Tag = fmt.Sprintf("SELECT %d", n)
	case "one":
		a.Rows, a.Tag = [][]any{{int64(1), "x y", int64(1)}, {int64(-2), nil, nil}}, "SELECT 2"
	case "unfit":
		a.Rows, a.Tag = [][]any{{"apple"}}, "SELECT 1"
	case "echo":
		a.Rows, a.Tag = [][]any{{fmt.Sprintf("%T %v", args[0], args[0])}}, "SELECT 1"
	case "now":
		a.Rows, a.Tag = [][]any{{"2026-11-15T10:00:00.120000Z"}}, "SELECT 1"
	case "none":
		a.Rows, a.Tag = [][]any{{}}, "SELECT 1"
	case "notice":
		a.Notices = []string{"mind the gap"}
	case "set":
		name, value, _ := strings.Cut(rest, "=")
		return a, f.Set(name, value)
	case "forget":
		a.Tag, a.Deallocate = "DEALLOCATE", &rest
	case "wait":
		f.store.running <- struct{}{}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
		f.store.ended <- context.Cause(ctx)
		return nil, &session.Error{State: "57014", Message: "the statement was cancelled", Err: ctx.Err()}
	case "linger": // runs for 100 ms and ignores the context
		f.store.running <- struct{}{}
		time.Sleep(100 * time.Millisecond)
	case "internal":
		return nil, errors.New("an internal secret")
	case "panic":
		panic("requested by the test")
	default:
		return nil, &session.Error{State: "42601", Message: "unknown statement " + word, Hint: "use another statement", Position: 1}
	}
	return a, nil
}
