package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// startTime is the time at which every story begins. It has microseconds, to detect a store
// that drops them.
var startTime = time.Date(2026, time.March, 1, 12, 0, 0, 123456000, time.UTC)

// story is one running story: a store, the time of its next batch, and ids that are the same in
// every run.
type story struct {
	testing.TB
	h    Harness
	s    rota.Store
	ctx  context.Context
	now  time.Time
	ids  idGenerator
	sent []rota.Batch
}

func newStory(t testing.TB, h Harness) *story {
	t.Helper()
	s := h.Open(t)
	y := &story{TB: t, h: h, s: s, ctx: context.Background(), now: startTime}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return y
}

// idGenerator generates ids that are the same in every run. Each is a millisecond after the
// previous one, so that ids derived from them keep their order.
type idGenerator struct{ n uint64 }

func (m *idGenerator) next() rota.ID {
	m.n++
	var id rota.ID
	ms := uint64(startTime.UnixMilli()) + m.n
	binary.BigEndian.PutUint64(id[:8], ms<<16)
	sum := sha256.Sum256(id[:8])
	copy(id[6:], sum[:10])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

func (m *idGenerator) meta() rota.Meta {
	return rota.Meta{ID: m.next(), Actor: "ada", RulesVersion: rota.RulesVersion}
}

func (m *idGenerator) seed() rota.Token { return rota.Token(m.next()) }

// advance moves the time of the story forward.
func (y *story) advance(d time.Duration) { y.now = y.now.Add(d) }

// send applies commands as one batch at the time of the story.
func (y *story) send(commands ...rota.Command) []rota.Result {
	y.Helper()
	b := rota.Batch{Now: y.now, Commands: commands}
	y.sent = append(y.sent, b)
	results, err := y.s.Apply(y.ctx, b)
	if err != nil {
		y.Fatalf("apply %s: %v", commands[0].Verb(), err)
	}
	if len(results) != len(commands) {
		y.Fatalf("%d commands got %d results", len(commands), len(results))
	}
	return results
}

// do sends one command that must be applied, and returns its reply.
func do[R rota.Reply](y *story, c rota.Command) R {
	y.Helper()
	r := y.send(c)[0]
	if r.Err != nil {
		y.Fatalf("%s was refused: %v", c.Verb(), r.Err)
	}
	reply, ok := r.Reply.(R)
	if !ok {
		y.Fatalf("%s was answered with %T", c.Verb(), r.Reply)
	}
	return reply
}

// refused sends one command that must be refused with a code and must not change the store. It
// returns the error.
func (y *story) refused(code rota.Code, c rota.Command) *rota.Error {
	y.Helper()
	before := y.dump()
	r := y.send(c)[0]
	if r.Err == nil {
		y.Fatalf("%s was applied, but should have been refused with %s", c.Verb(), code)
	}
	if r.Err.Code != code {
		y.Fatalf("%s was refused with %s (%v), want %s", c.Verb(), r.Err.Code, r.Err, code)
	}
	if r.Reply != nil {
		y.Errorf("%s was refused and answered too: %v", c.Verb(), r.Reply)
	}
	y.wantUnchanged(before)
	return r.Err
}

func (y *story) dump() string {
	y.Helper()
	d, err := Dump(y.ctx, y.s)
	if err != nil {
		y.Fatalf("dump: %v", err)
	}
	return d
}

// wantUnchanged wants the store to be as it was before.
func (y *story) wantUnchanged(before string) {
	y.Helper()
	if diff := difference(before, y.dump()); diff != "" {
		y.Errorf("the store changed:\n%s", diff)
	}
}

// job reads a job.
func (y *story) job(id rota.ID) *rota.Job {
	y.Helper()
	j, err := y.s.Job(y.ctx, id)
	if err != nil {
		y.Fatalf("job %s: %v", id, err)
	}
	return j
}

// queue reads the ids of the ready jobs in order.
func (y *story) queue() []rota.ID {
	y.Helper()
	jobs, err := wholeQueue(y.ctx, y.s)
	if err != nil {
		y.Fatalf("queue: %v", err)
	}
	return idsOf(jobs)
}

func idsOf(jobs []*rota.Job) []rota.ID {
	ids := make([]rota.ID, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	return ids
}

// damage damages a job through the harness.
func (y *story) damage(id rota.ID, how Breakage) {
	y.Helper()
	y.h.Break(y.TB, y.s, id, how)
}

// endedContext returns a context that has ended.
func endedContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx, cancel
}
