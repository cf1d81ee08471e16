package rota_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
)

// failing is a store that is unavailable, and takes a while to find out.
type failing struct {
	rota.Store
	takes time.Duration
	calls int
	ids   map[rota.ID]bool // of the commands that it received
}

func (f *failing) Apply(_ context.Context, b rota.Batch) ([]rota.Result, error) {
	f.ids[b.Commands[0].Head().ID] = true
	return nil, f.fail()
}

func (f *failing) Execution(context.Context, rota.ID) ([]*rota.Job, error) { return nil, f.fail() }

func (f *failing) fail() error {
	f.calls++
	time.Sleep(f.takes)
	return &rota.Error{Code: rota.Unavailable, Reason: "the disk is full"}
}

func TestClientRepeatsCallsOfUnavailableStore(t *testing.T) {
	for _, test := range []struct {
		name           string
		options        []rota.ClientOption
		takes, timeout time.Duration
		calls          int
		elapsed        time.Duration
	}{
		{"by default", nil, 0, time.Hour, 4, 310 * time.Millisecond},
		{"not at all", []rota.ClientOption{rota.WithRetryFor(0)}, 0, time.Hour, 1, 0},
		{"for three seconds", []rota.ClientOption{rota.WithRetryFor(3 * time.Second)}, 0, time.Hour, 6, 2310 * time.Millisecond},
		{"until the context ends", []rota.ClientOption{rota.WithRetryFor(time.Hour)}, 0, 200 * time.Millisecond, 3, 200 * time.Millisecond},
		{"once if it takes long", nil, 10 * time.Second, time.Hour, 2, 20*time.Second + 10*time.Millisecond},
	} {
		for act, call := range map[string]func(context.Context, *rota.Client) error{
			"a write": func(ctx context.Context, c *rota.Client) error { _, err := c.RunNow(ctx, rota.NewID()); return err },
			"a read":  func(ctx context.Context, c *rota.Client) error { _, err := c.Execution(ctx, rota.NewID()); return err },
		} {
			t.Run(test.name+" "+act, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := &failing{takes: test.takes, ids: map[rota.ID]bool{}}
					ctx, done := context.WithTimeout(t.Context(), test.timeout)
					defer done()
					start := time.Now()
					err := call(ctx, rota.New(store, test.options...))
					if rota.CodeOf(err) != rota.Unavailable || store.calls != test.calls || time.Since(start) != test.elapsed || len(store.ids) > 1 {
						t.Errorf("%d calls in %v with %d command ids: %v", store.calls, time.Since(start), len(store.ids), err)
					}
				})
			})
		}
	}
}

// busy is an error with the time that a server asks to wait.
type busy struct{ error }

func (busy) RetryAfter() time.Duration { return 2 * time.Second }
func (b busy) Unwrap() error           { return b.error }

// busyStore asks to wait.
type busyStore struct{ failing }

func (s *busyStore) Execution(context.Context, rota.ID) ([]*rota.Job, error) {
	return nil, busy{s.fail()}
}

func TestClientWaitsAsLongAsTheServerAsks(t *testing.T) {
	for retryFor, want := range map[time.Duration]struct {
		calls   int
		elapsed time.Duration
	}{time.Second: {1, 0}, 5 * time.Second: {3, 4 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			store, start := &busyStore{}, time.Now()
			_, err := rota.New(store, rota.WithRetryFor(retryFor)).Execution(t.Context(), rota.NewID())
			if rota.CodeOf(err) != rota.Unavailable || store.calls != want.calls || time.Since(start) != want.elapsed {
				t.Errorf("for %v: %d calls in %v: %v", retryFor, store.calls, time.Since(start), err)
			}
		})
	}
}
