package storetest

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// explainAgrees makes random company for some jobs, and holds what is told of
// them against what a claim does.
func explainAgrees(t *testing.T, h Harness) {
	rapid.Check(t, func(rt *rapid.T) {
		s := h.Open(t)
		defer closeStore(rt, s)
		w := &witness{t: rt, y: &story{TB: t, h: h, s: s, ctx: t.Context(), now: today()}}
		for _, name := range witnessTypes {
			w.y.declareType(name, rota.TypeSpec{})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue": w.as((*witness).enqueue), "group": w.as((*witness).group), "limits": w.as((*witness).limits),
			"pause": w.as((*witness).pause), "reserve": w.as((*witness).reserve), "upkeep": w.as((*witness).upkeep),
			"cancel": w.as((*witness).cancel), "finish": w.as((*witness).finish),
			"check": w.as((*witness).check), "check again": w.as((*witness).check), "check and go on": w.as((*witness).check),
		})
		if err := explainAll(w.y.ctx, s); err != nil {
			rt.Error(err)
		}
	})
}

// witness sends random commands, some of which are refused, and remembers what
// came of them.
type witness struct {
	t       *rapid.T
	y       *story
	groups  []rota.ID
	running []*rota.Job
}

var witnessTypes = []string{"a", "b"}

func (w *witness) as(act func(*witness)) func(*rapid.T) {
	return func(rt *rapid.T) { w.t = rt; act(w) }
}

func (w *witness) draw(label string, most int) int { return rapid.IntRange(0, most).Draw(w.t, label) }

func (w *witness) newJob() rota.NewJob {
	n := rota.NewJob{Type: witnessTypes[w.draw("type", 1)], Priority: new(w.draw("priority", 1))}
	if w.draw("keyed", 1) == 1 {
		n.ConcurrencyKey = new("k")
	}
	if w.draw("delayed", 4) == 4 {
		n.Delay = time.Hour
	}
	return n
}

func (w *witness) enqueue() {
	w.y.send(&rota.Enqueue{Meta: w.y.mint.meta(), Jobs: []rota.NewJob{w.newJob(), w.newJob()}})
}

func (w *witness) group() {
	mode := []rota.GroupMode{rota.GroupParallel, rota.GroupSequential}[w.draw("mode", 1)]
	c := w.y.groupCommand(mode, rota.FailureSkip, w.newJob(), w.newJob(), w.newJob())
	w.y.send(c)
	w.groups = append(w.groups, c.GroupID())
}

func (w *witness) limits() {
	spec := rota.ThrottleSpec{Global: w.draw("global", 3)}
	limit := rota.TypeLimit{Type: "a", Concurrency: w.draw("concurrency", 2)}
	if count := w.draw("rate", 2); count > 0 {
		limit.Rate = rota.Rate{Count: count, Per: time.Hour}
	}
	if limit.Concurrency > 0 || limit.Rate.Count > 0 {
		spec.Types = append(spec.Types, limit)
	}
	if n := w.draw("key", 2); n > 0 {
		spec.Keys = append(spec.Keys, rota.KeyLimit{Key: "k", Concurrency: n})
	}
	w.y.send(&rota.PutThrottle{Meta: w.y.mint.meta(), Spec: spec})
}

func (w *witness) pause() { w.y.pause(witnessTypes[w.draw("type", 1)], w.draw("paused", 1) == 1) }

func (w *witness) reserve() {
	r, err := w.y.s.Reservations(w.y.ctx, rota.ID{}, 1)
	if err == nil && len(r) > 0 && r[0].Status == rota.ReservationActive {
		w.y.release(r[0])
		return
	}
	w.y.reserve()
}

func (w *witness) upkeep() { w.y.sweep(w.draw("limit", 2)); w.y.makeReady() }

func (w *witness) cancel() {
	if len(w.groups) > 0 {
		w.y.send(&rota.CancelGroup{Meta: w.y.mint.meta(), GroupID: w.groups[w.draw("group", len(w.groups)-1)]})
	}
}

func (w *witness) finish() {
	if len(w.running) == 0 {
		return
	}
	j := w.running[0]
	w.running = w.running[1:]
	outcome := []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed}[w.draw("outcome", 1)]
	w.y.mustEnd(j, rota.FinishItem{Outcome: outcome, Permanent: true})
}

// claim claims one job as a worker does.
func (w *witness) claim(worker, typ string) (ids []rota.ID) {
	c := w.y.claimCommand(1, typ)
	c.Worker = worker
	jobs := do[*rota.Claimed](w.y, c).Jobs
	w.running = append(w.running, jobs...)
	return idsOf(jobs)
}

// check explains a queued job and then claims for its type.
func (w *witness) check() {
	jobs, err := w.y.s.Jobs(w.y.ctx, rota.JobQuery{Status: rota.StatusQueued})
	if err != nil || len(jobs) == 0 {
		return
	}
	j := jobs[w.draw("job", len(jobs)-1)]
	reasons, err := w.y.s.Explain(w.y.ctx, j.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	first := w.firstOf(j.Type) == j.ID
	told := func(code rota.ReasonCode) bool {
		return slices.ContainsFunc(reasons, func(r rota.Reason) bool { return r.Code == code })
	}
	if told(rota.ReasonReservation) {
		if taken := w.claim("w1", j.Type); len(taken) > 0 {
			w.t.Fatalf("%v was claimed by a node that is reserved: %+v", taken, reasons)
		}
	}
	held := slices.ContainsFunc(reasons, func(r rota.Reason) bool {
		return r.Code != rota.ReasonOrder && r.Code != rota.ReasonReservation
	})
	switch taken := slices.Contains(w.claim("w2", j.Type), j.ID); {
	case taken && held:
		w.t.Fatalf("it was claimed in spite of %+v", reasons)
	case !taken && first && !held:
		w.t.Fatalf("it was not claimed, and nothing was said of why but %+v", reasons)
	}
}

// firstOf is the first ready job of a type.
func (w *witness) firstOf(typ string) rota.ID {
	queue, err := wholeQueue(w.y.ctx, w.y.s)
	if err != nil {
		w.t.Fatal(err)
	}
	at := slices.IndexFunc(queue, func(j *rota.Job) bool { return j.Type == typ })
	if at < 0 {
		return rota.ID{}
	}
	return queue[at].ID
}
