package sqlite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// randomLoad sends random commands of every verb, on a clock that now and then goes back.
type randomLoad struct {
	t          testing.TB
	s          rota.Store
	random     *rand.Rand
	now        time.Time
	jobs       []rota.ID
	leases     []rota.LeaseRef
	recoveries int
}

func newRandomLoad(t testing.TB, s rota.Store, seed uint64) *randomLoad {
	return &randomLoad{t: t, s: s, random: rand.New(rand.NewPCG(seed, 1)), now: noon}
}

func (b *randomLoad) run(steps int) {
	for range steps {
		b.now = b.now.Add(time.Duration(b.random.IntN(20_000)-2_000) * time.Millisecond)
		acts := []func(){
			b.enqueue, b.enqueue, b.enqueue, b.claim, b.claim, b.finish, b.finish, b.finish, b.cancel, b.edit, b.move,
			b.extend, b.note, b.ready, b.normalise, b.reap, b.recover,
		}
		acts[b.random.IntN(len(acts))]()
	}
}

// send applies a command. Refusals are expected, except Internal.
func (b *randomLoad) send(c rota.Command) rota.Reply {
	b.t.Helper()
	results, err := b.s.Apply(b.t.Context(), rota.Batch{Now: b.now, Commands: []rota.Command{c}})
	must(b.t, err)
	if refusal := results[0].Err; refusal != nil && refusal.Code == rota.Internal {
		b.t.Fatal(refusal)
	}
	return results[0].Reply
}

func (b *randomLoad) enqueue() {
	c := enqueue()
	for range 1 + b.random.IntN(3) {
		nj := rota.NewJob{
			Type: []string{"mail", "web", "idle"}[b.random.IntN(3)], Priority: new(b.random.IntN(3)),
			MaxRetries: new(b.random.IntN(3)), Backoff: new(time.Duration(b.random.IntN(30)) * time.Second),
		}
		switch b.random.IntN(5) {
		case 0:
			nj.UniqueKey, nj.UniqueFor = fmt.Sprint("key", b.random.IntN(8)), time.Duration(b.random.IntN(3))*time.Minute
		case 1:
			nj.PlanTime = noon.Add(time.Duration(b.random.IntN(20)) * time.Hour)
		case 2:
			nj.Delay = time.Duration(b.random.IntN(120)) * time.Second
		}
		c.Jobs = append(c.Jobs, nj)
	}
	for _, one := range b.send(c).(*rota.Enqueued).Jobs {
		b.jobs = append(b.jobs, one.Job.ID)
	}
}

func (b *randomLoad) claim() {
	for _, j := range b.send(claim(1 + b.random.IntN(3))).(*rota.Claimed).Jobs {
		b.leases = append(b.leases, lease(j))
	}
}

func (b *randomLoad) finish() {
	outcomes := []rota.FinishItem{
		{Outcome: rota.OutcomeCompleted, Result: json.RawMessage(`{"ok":true}`)},
		{Outcome: rota.OutcomeSkipped},
		{Outcome: rota.OutcomeFailed, Error: "no", ErrorCode: "E1"},
		{Outcome: rota.OutcomeFailed, Permanent: true},
		{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown},
		{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout},
	}
	b.withLease(func(ref rota.LeaseRef) {
		item := outcomes[b.random.IntN(len(outcomes))]
		item.LeaseRef = ref
		for _, answer := range b.send(&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}}).(*rota.Finished).Items {
			if !answer.RetryID.IsZero() {
				b.jobs = append(b.jobs, answer.RetryID)
			}
		}
	})
}

func (b *randomLoad) withLease(use func(rota.LeaseRef)) {
	if len(b.leases) > 0 {
		use(b.leases[b.random.IntN(len(b.leases))])
	}
}

func (b *randomLoad) withJob(use func(rota.ID)) {
	if len(b.jobs) > 0 {
		use(b.jobs[b.random.IntN(len(b.jobs))])
	}
}

func (b *randomLoad) extend() {
	b.withLease(func(ref rota.LeaseRef) {
		b.send(&rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute, Items: []rota.ExtendItem{{LeaseRef: ref, Progress: json.RawMessage(`1`)}}})
	})
}

func (b *randomLoad) note() {
	b.withLease(func(ref rota.LeaseRef) {
		b.send(&rota.Note{Meta: rota.NewMeta(""), Items: []rota.NoteItem{{LeaseRef: ref, Artifacts: []string{"a"}, LogPath: "log"}}})
	})
}

func (b *randomLoad) cancel() {
	b.withJob(func(id rota.ID) { b.send(&rota.Cancel{Meta: rota.NewMeta("ada"), JobID: id, Reason: "no"}) })
}

func (b *randomLoad) edit() {
	b.withJob(func(id rota.ID) {
		b.send(&rota.Edit{Meta: rota.NewMeta("ada"), JobID: id, Priority: new(b.random.IntN(3)), Params: json.RawMessage(`{"n":2}`)})
	})
}

func (b *randomLoad) move() {
	b.withJob(func(id rota.ID) {
		b.withJob(func(anchor rota.ID) {
			b.send(&rota.Move{Meta: rota.NewMeta("ada"), JobID: id, Place: rota.PlaceBefore, Anchor: anchor})
			b.send(&rota.Move{Meta: rota.NewMeta("ada"), JobID: anchor, Place: rota.PlaceTop})
		})
	})
}

func (b *randomLoad) ready()     { b.send(&rota.Ready{Meta: rota.NewMeta("")}) }
func (b *randomLoad) normalise() { b.send(&rota.Normalise{Meta: rota.NewMeta("")}) }
func (b *randomLoad) reap()      { b.send(&rota.Reap{Meta: rota.NewMeta("")}) }

func (b *randomLoad) recover() {
	b.recoveries++
	b.send(&rota.Recover{Meta: rota.NewMeta(""), Runner: "node", Incarnation: rota.ID{6: 0x70, 8: 0x80, 14: byte(b.recoveries), 15: 9}, Limit: 2})
}
