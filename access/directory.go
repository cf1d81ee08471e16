package access

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// freshFor is how long a snapshot is used before its version is compared with that of the store. Together with the time
// of a request it bounds how long a revoked right lasts on other nodes.
const freshFor = time.Second

// Directory holds the principals of a store in memory. It is safe for concurrent use.
type Directory struct {
	store rota.Store
	clock func() time.Time

	current atomic.Pointer[checked]
	changes atomic.Uint64 // counts known changes of access data
	mu      sync.Mutex    // held while the snapshot is checked or loaded

	mocks     atomic.Pointer[Mocks] // verifiers of unknown users; nil: not known yet
	recorder  recorder
	stopWatch func()
}

// checked is a snapshot, and when it was last known to be current.
type checked struct {
	*snapshot
	at      time.Duration // by the monotonic clock
	changes uint64        // known changes at that time
}

// started is the origin of monotonic times.
var started = time.Now()

// NewDirectory returns the directory of a store. The clock decides whether tokens have expired; nil: the wall clock.
func NewDirectory(store rota.Store, clock func() time.Time) *Directory {
	if clock == nil {
		clock = time.Now
	}
	d := &Directory{store: store, clock: clock, recorder: newRecorder()}
	d.stopWatch = store.Watch(func(events []rota.Event) {
		if slices.ContainsFunc(events, func(e rota.Event) bool { return e.Kind == rota.EventAccessChanged }) {
			d.Invalidate()
		}
	})
	return d
}

// Close ends the use of the store. The store stays open.
func (d *Directory) Close() { d.stopWatch() }

// Invalidate makes the next use of the directory compare its version with that of the store.
func (d *Directory) Invalidate() { d.changes.Add(1) }

// snapshot returns principals that were current at most freshFor ago.
func (d *Directory) snapshot(ctx context.Context) (*snapshot, error) {
	if c := d.current.Load(); d.fresh(c) {
		return c.snapshot, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.current.Load()
	if d.fresh(c) {
		return c.snapshot, nil
	}
	next := &checked{at: time.Since(started), changes: d.changes.Load()} // before the read: a later change is found by the next check
	state, err := d.store.AccessState(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil && c.version == state.Version {
		next.snapshot = c.snapshot
	} else if next.snapshot, err = load(ctx, d.store, state.Version); err != nil {
		return nil, err
	}
	d.current.Store(next)
	return next.snapshot, nil
}

func (d *Directory) fresh(c *checked) bool {
	return c != nil && c.changes == d.changes.Load() && time.Since(started)-c.at < freshFor
}

// snapshot is the principals of one version. Rights are computed when they are first needed.
type snapshot struct {
	version    rota.ID
	principals map[string]*rota.Principal

	byCertificate map[string]*rota.Principal // users by the common name of their certificates

	mu     sync.Mutex
	rights map[string]*rights
	tokens map[string]*rota.AccessToken
}

// load reads all principals. They may be newer than the version, which the next check then finds.
func load(ctx context.Context, store rota.Store, version rota.ID) (*snapshot, error) {
	s := &snapshot{
		version: version, principals: map[string]*rota.Principal{}, byCertificate: map[string]*rota.Principal{},
		rights: map[string]*rights{}, tokens: map[string]*rota.AccessToken{},
	}
	q := rota.NameQuery{Limit: rota.PageMax}
	for {
		page, err := store.Principals(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, p := range page {
			s.principals[p.Name] = p
			if p.Spec.Certificate != "" {
				s.byCertificate[p.Spec.Certificate] = p
			}
		}
		if len(page) < q.Limit {
			return s, nil
		}
		q.After = page[len(page)-1].Name
	}
}

// user returns a user, or nil.
func (s *snapshot) user(name string) *rota.Principal {
	if p := s.principals[name]; p != nil && p.Kind == rota.KindUser {
		return p
	}
	return nil
}

// passwordAt returns when the password of a user was set last; zero for the built-in admin.
func (s *snapshot) passwordAt(name string) time.Time {
	if u := s.user(name); u != nil {
		return u.Spec.PasswordAt
	}
	return time.Time{}
}

// tokensMax bounds the tokens that a snapshot keeps.
const tokensMax = 10_000

// token returns a token that exists. Only tokens that exist are kept, so that guesses cost no memory.
func (d *Directory) token(ctx context.Context, s *snapshot, id string) (*rota.AccessToken, error) {
	s.mu.Lock()
	t := s.tokens[id]
	s.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := d.store.AccessToken(ctx, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if len(s.tokens) >= tokensMax {
		clear(s.tokens)
	}
	s.tokens[id] = t
	s.mu.Unlock()
	return t, nil
}
