package storetest

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// explainAgrees creates jobs, groups, limits and reservations at random, and compares the
// reasons of jobs with what a claim does.
func explainAgrees(t *testing.T, h Harness) {
	rapid.Check(t, func(rt *rapid.T) {
		s := h.Open(t)
		defer closeStore(rt, s)
		w := &claimChecker{t: rt, y: &story{TB: t, h: h, s: s, ctx: t.Context(), now: currentTime()}}
		for _, name := range checkedTypes {
			w.y.declareType(name, rota.TypeSpec{})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue": w.action((*claimChecker).enqueue), "group": w.action((*claimChecker).group), "limits": w.action((*claimChecker).limits),
			"pause": w.action((*claimChecker).pause), "reserve": w.action((*claimChecker).reserve), "maintenance": w.action((*claimChecker).maintenance),
			"cancel": w.action((*claimChecker).cancel), "finish": w.action((*claimChecker).finish),
			"check": w.action((*claimChecker).check), "check again": w.action((*claimChecker).check), "check and go on": w.action((*claimChecker).check),
		})
		if err := explainAll(w.y.ctx, s); err != nil {
			rt.Error(err)
		}
	})
}

// claimChecker sends random commands, some of which are refused, and remembers groups and
// running jobs.
type claimChecker struct {
	t       *rapid.T
	y       *story
	groups  []rota.ID
	running []*rota.Job
}

var checkedTypes = []string{"a", "b"}

func (w *claimChecker) action(act func(*claimChecker)) func(*rapid.T) {
	return func(rt *rapid.T) { w.t = rt; act(w) }
}

func (w *claimChecker) draw(label string, most int) int {
	return rapid.IntRange(0, most).Draw(w.t, label)
}

func (w *claimChecker) newJob() rota.NewJob {
	n := rota.NewJob{Type: checkedTypes[w.draw("type", 1)], Priority: new(w.draw("priority", 1))}
	if w.draw("keyed", 1) == 1 {
		n.ConcurrencyKey = new("k")
	}
	if w.draw("delayed", 4) == 4 {
		n.Delay = time.Hour
	}
	return n
}

func (w *claimChecker) enqueue() {
	w.y.send(&rota.Enqueue{Meta: w.y.ids.meta(), Jobs: []rota.NewJob{w.newJob(), w.newJob()}})
}

func (w *claimChecker) group() {
	mode := []rota.GroupMode{rota.GroupParallel, rota.GroupSequential}[w.draw("mode", 1)]
	c := w.y.groupCommand(mode, rota.FailureSkip, w.newJob(), w.newJob(), w.newJob())
	w.y.send(c)
	w.groups = append(w.groups, c.GroupID())
}

func (w *claimChecker) limits() {
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
	if n := w.draw("each key", 2); n > 0 {
		spec.EachKey = []rota.EachKeyLimit{{Pattern: "k*", Concurrency: n}}
	}
	if n := w.draw("each key of type", 2); n > 0 {
		spec.EachKeyOfType = []rota.EachKeyOfTypeLimit{{Type: "a", Concurrency: n}}
	}
	w.y.send(&rota.PutThrottle{Meta: w.y.ids.meta(), Spec: spec})
}

func (w *claimChecker) pause() { w.y.pause(checkedTypes[w.draw("type", 1)], w.draw("paused", 1) == 1) }

func (w *claimChecker) reserve() {
	r, err := w.y.s.Reservations(w.y.ctx, rota.ID{}, 1)
	if err == nil && len(r) > 0 && r[0].Status == rota.ReservationActive {
		w.y.release(r[0])
		return
	}
	w.y.reserve()
}

func (w *claimChecker) maintenance() { w.y.sweep(w.draw("limit", 2)); w.y.makeReady() }

func (w *claimChecker) cancel() {
	if len(w.groups) > 0 {
		w.y.send(&rota.CancelGroup{Meta: w.y.ids.meta(), GroupID: w.groups[w.draw("group", len(w.groups)-1)]})
	}
}

func (w *claimChecker) finish() {
	if len(w.running) == 0 {
		return
	}
	j := w.running[0]
	w.running = w.running[1:]
	outcome := []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed}[w.draw("outcome", 1)]
	w.y.mustFinish(j, rota.FinishItem{Outcome: outcome, Permanent: true})
}

// claim claims one job for a worker.
func (w *claimChecker) claim(worker, typ string) (ids []rota.ID) {
	c := w.y.claimCommand(1, typ)
	c.Worker = worker
	jobs := do[*rota.Claimed](w.y, c).Jobs
	w.running = append(w.running, jobs...)
	return idsOf(jobs)
}

// check explains a queued job and then claims a job of its type.
func (w *claimChecker) check() {
	jobs, err := w.y.s.Jobs(w.y.ctx, rota.JobQuery{Status: rota.StatusQueued})
	if err != nil || len(jobs) == 0 {
		return
	}
	j := jobs[w.draw("job", len(jobs)-1)]
	reasons, err := w.y.s.Explain(w.y.ctx, j.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	first := w.firstReadyOf(j.Type) == j.ID
	given := func(code rota.ReasonCode) bool {
		return slices.ContainsFunc(reasons, func(r rota.Reason) bool { return r.Code == code })
	}
	if given(rota.ReasonReservation) {
		if taken := w.claim("w1", j.Type); len(taken) > 0 {
			w.t.Fatalf("%v was claimed by a node that is reserved: %+v", taken, reasons)
		}
	}
	held := slices.ContainsFunc(reasons, func(r rota.Reason) bool {
		return r.Code != rota.ReasonOrder && r.Code != rota.ReasonReservation
	})
	switch taken := slices.Contains(w.claim("w2", j.Type), j.ID); {
	case taken && held:
		w.t.Fatalf("the job was claimed in spite of %+v", reasons)
	case !taken && first && !held:
		w.t.Fatalf("the job was not claimed, and the only reasons are %+v", reasons)
	}
}

// firstReadyOf returns the first ready job of a type.
func (w *claimChecker) firstReadyOf(typ string) rota.ID {
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
