package sqlite

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// scenario prepares a store and returns a batch that changes several rows. There is one for each
// verb, so that tests can interrupt each verb at every statement.
type scenario struct {
	name    string
	prepare func(t testing.TB, s rota.Store) rota.Batch
}

var (
	noon            = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	incarnation     = rota.ID{6: 0x70, 8: 0x80, 15: 1}
	nextIncarnation = rota.ID{6: 0x70, 8: 0x80, 15: 2}
)

var scenarios = slices.Concat(queueScenarios, relatedScenarios, webhookScenarios)

var queueScenarios = []scenario{
	{"enqueue", func(t testing.TB, s rota.Store) rota.Batch {
		return at(0, enqueue(
			rota.NewJob{Type: "mail", UniqueKey: "k"}, rota.NewJob{Type: "mail", Delay: time.Hour},
			rota.NewJob{Type: "mail", PlanTime: noon}))
	}},
	{"ready", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail", Delay: time.Minute}, rota.NewJob{Type: "mail", Delay: time.Second})))
		return at(2*time.Minute, &rota.Ready{Meta: rota.NewMeta("")})
	}},
	{"claim", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"}, rota.NewJob{Type: "web"}, rota.NewJob{Type: "mail"})))
		return at(time.Second, claim(10))
	}},
	{"extend", func(t testing.TB, s rota.Store) rota.Batch {
		extend := &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute}
		for _, j := range running(t, s, 3) {
			extend.Items = append(extend.Items, rota.ExtendItem{LeaseRef: lease(j), Progress: json.RawMessage(`{"done":3}`)})
		}
		return at(5*time.Second, extend)
	}},
	{"note", func(t testing.TB, s rota.Store) rota.Batch {
		note := &rota.Note{Meta: rota.NewMeta("")}
		for _, j := range running(t, s, 2) {
			note.Items = append(note.Items, rota.NoteItem{LeaseRef: lease(j), Artifacts: []string{"a.txt", "b.txt"}, LogPath: "log"})
		}
		return at(5*time.Second, note)
	}},
	{"finish", func(t testing.TB, s rota.Store) rota.Batch {
		jobs := running(t, s, 4)
		return at(5*time.Second, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{
			{LeaseRef: lease(jobs[0]), Outcome: rota.OutcomeCompleted, Result: json.RawMessage(`1`)},
			{LeaseRef: lease(jobs[1]), Outcome: rota.OutcomeFailed, Error: "again"},
			{LeaseRef: lease(jobs[2]), Outcome: rota.OutcomeFailed, Permanent: true},
			{LeaseRef: lease(jobs[3]), Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout},
		}})
	}},
	{"cancel queued", func(t testing.TB, s rota.Store) rota.Batch {
		job := apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail", UniqueKey: "k"})))[0].Reply.(*rota.Enqueued).Jobs[0].Job
		return at(time.Second, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: job.ID, Reason: "no"})
	}},
	{"cancel running", func(t testing.TB, s rota.Store) rota.Batch {
		return at(time.Second, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: running(t, s, 1)[0].ID, Reason: "no"})
	}},
	{"edit", func(t testing.TB, s rota.Store) rota.Batch {
		return at(time.Second, &rota.Edit{
			Meta: rota.NewMeta("ada"), JobID: queued(t, s, 2)[0].ID, Priority: new(7), Params: json.RawMessage(`{"n":2}`),
		})
	}},
	{"delay", func(t testing.TB, s rota.Store) rota.Batch {
		return at(time.Second, &rota.Edit{
			Meta: rota.NewMeta("ada"), JobID: queued(t, s, 2)[0].ID, Delay: new(time.Hour), MergeParams: json.RawMessage(`{"n":2}`),
		})
	}},
	{"run now", func(t testing.TB, s rota.Store) rota.Batch {
		j := running(t, s, 1)[0]
		apply(t, s, at(2*time.Second, finish(j, rota.OutcomeFailed)))
		return at(3*time.Second, &rota.Edit{Meta: rota.NewMeta("ada"), JobID: j.ID, RunNow: true})
	}},
	{"move", func(t testing.TB, s rota.Store) rota.Batch {
		jobs := queued(t, s, 5)
		move := func(id, before rota.ID) rota.Batch {
			return at(time.Second, &rota.Move{Meta: rota.NewMeta("ada"), JobID: id, Place: rota.PlaceBefore, Anchor: before})
		}
		for range 4 { // each halves the gap before the second job, until there is none
			apply(t, s, move(jobs[4].ID, jobs[1].ID))
			apply(t, s, move(jobs[3].ID, jobs[1].ID))
		}
		return move(jobs[4].ID, jobs[1].ID)
	}},
	{"normalise", func(t testing.TB, s rota.Store) rota.Batch {
		jobs := queued(t, s, 4)
		apply(t, s, at(time.Second, &rota.Move{Meta: rota.NewMeta("ada"), JobID: jobs[3].ID, Place: rota.PlaceTop}))
		return at(2*time.Second, &rota.Normalise{Meta: rota.NewMeta("")})
	}},
	{"reap", func(t testing.TB, s rota.Store) rota.Batch {
		running(t, s, 3)
		return at(time.Hour, &rota.Reap{Meta: rota.NewMeta("")})
	}},
	{"recover", func(t testing.TB, s rota.Store) rota.Batch {
		running(t, s, 3)
		return at(2*time.Second, &rota.Recover{Meta: rota.NewMeta(""), Runner: "node", Incarnation: nextIncarnation})
	}},
	{"all", func(t testing.TB, s rota.Store) rota.Batch {
		jobs := queued(t, s, 2)
		return at(time.Second, &rota.All{Meta: rota.NewMeta("ada"), Members: []rota.Command{
			&rota.Cancel{Meta: rota.NewMeta("ada"), JobID: jobs[1].ID},
			enqueue(rota.NewJob{Type: "mail"}),
		}})
	}},
}

func at(after time.Duration, c rota.Command) rota.Batch {
	return rota.Batch{Now: noon.Add(after), Commands: []rota.Command{c}}
}

func enqueue(jobs ...rota.NewJob) *rota.Enqueue {
	return &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: jobs}
}

func claim(limit int) *rota.Claim {
	return &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "node", Incarnation: incarnation, Types: []string{"mail", "web"}, Limit: limit,
		Lease: time.Minute, Seed: rota.Token(rota.NewID()),
	}
}

func queued(t testing.TB, s rota.Store, n int) []*rota.Job {
	t.Helper()
	jobs := make([]rota.NewJob, n)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "mail", UniqueKey: string(rune('a' + i))}
	}
	var all []*rota.Job
	for _, one := range apply(t, s, at(0, enqueue(jobs...)))[0].Reply.(*rota.Enqueued).Jobs {
		all = append(all, one.Job)
	}
	return all
}

func running(t testing.TB, s rota.Store, n int) []*rota.Job {
	t.Helper()
	queued(t, s, n)
	return apply(t, s, at(time.Second, claim(n)))[0].Reply.(*rota.Claimed).Jobs
}

func lease(j *rota.Job) rota.LeaseRef {
	return rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
}
