package sqlite

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// relatedScenarios are the scenarios on related rows.
var relatedScenarios = []scenario{
	{"put type", func(t testing.TB, s rota.Store) rota.Batch {
		return at(0, &rota.PutType{Meta: rota.NewMeta("ada"), Name: "mail", Spec: rota.TypeSpec{Description: "letters"}})
	}},
	{"switch type", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, at(0, &rota.PutType{Meta: rota.NewMeta("ada"), Name: "mail"}))
		return at(time.Second, &rota.SwitchType{Meta: rota.NewMeta("ada"), Name: "mail", Paused: true})
	}},
	{"put template", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		return at(0, &rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "digest", Spec: rota.TemplateSpec{Type: "web", Params: []byte(`{"n":1}`)}})
	}},
	{"set owner", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, at(0, &rota.PutPrincipal{Meta: rota.NewMeta("ada"), Name: "bob", Kind: rota.KindUser}))
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "digest", rota.ScheduleSpec{Every: time.Hour})
		return at(time.Second, &rota.SetOwner{Meta: rota.NewMeta("ada"), Name: "digest", Owner: "bob"})
	}},
	{"archive", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour})
		declare(t, s, "daily", rota.ScheduleSpec{Every: 24 * time.Hour})
		return at(time.Second, &rota.Archive{Meta: rota.NewMeta("ada"), Name: "digest"})
	}},
	{"put limits", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, putLimits(0, rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 9, Per: time.Minute}}}}))
		running(t, s, 2)
		return putLimits(2*time.Second, rota.ThrottleSpec{Global: 5, Keys: []rota.KeyLimit{{Key: "k", Concurrency: 2}}})
	}},
	{"put schedule", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "first", rota.ScheduleSpec{Every: time.Hour})
		declare(t, s, "second", rota.ScheduleSpec{Every: time.Hour})
		declare(t, s, "third", rota.ScheduleSpec{Every: time.Hour, DependsOn: []string{"first"}})
		return at(time.Second, putSchedule(t, "third", rota.ScheduleSpec{Every: time.Hour, DependsOn: []string{"second"}}))
	}},
	{"switch schedule", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour})
		return at(time.Second, &rota.SwitchSchedule{Meta: rota.NewMeta("ada"), Name: "hourly", State: rota.ScheduleDisabled})
	}},
	{"delete schedule", func(t testing.TB, s rota.Store) rota.Batch {
		fireBlocked(t, s)
		return at(2*time.Hour, &rota.DeleteSchedule{Meta: rota.NewMeta("ada"), Name: "first"})
	}},
	{"fire", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail", ConcurrencyKey: "k"})
		declare(t, s, "hourly", rota.ScheduleSpec{
			Every: time.Hour, Overlap: rota.OverlapSkip, Scopes: []rota.Scope{{Kind: "shard", ID: "1"}, {Kind: "shard", ID: "2"}},
		})
		apply(t, s, at(0, &rota.Trigger{Meta: rota.NewMeta("ada"), Schedule: "hourly"}))
		return at(time.Hour, dueFire(t, s, "hourly", time.Hour)) // creates SKIPPED executions
	}},
	{"fire once", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "once", rota.ScheduleSpec{At: noon.Add(time.Hour)})
		return at(time.Hour, dueFire(t, s, "once", time.Hour))
	}},
	{"trigger", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour})
		return at(time.Second, &rota.Trigger{Meta: rota.NewMeta("ada"), Schedule: "hourly"})
	}},
	{"backfill", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour, Overlap: rota.OverlapSkip})
		return at(5*time.Hour, &rota.Backfill{Meta: rota.NewMeta("ada"), Schedule: "hourly", Times: []rota.FireTime{
			{At: noon.Add(time.Hour)}, {At: noon.Add(2 * time.Hour)},
		}})
	}},
	{"finish of a dependency", func(t testing.TB, s rota.Store) rota.Batch {
		fireBlocked(t, s)
		j := apply(t, s, at(time.Hour, claim(1)))[0].Reply.(*rota.Claimed).Jobs[0]
		return at(2*time.Hour, finish(j, rota.OutcomeCompleted))
	}},
	{"enqueue group", func(t testing.TB, s rota.Store) rota.Batch {
		return at(0, newGroup(rota.GroupSequential, rota.FailureStop, 3))
	}},
	{"cancel group", func(t testing.TB, s rota.Store) rota.Batch {
		id := apply(t, s, at(0, newGroup(rota.GroupParallel, "", 3)))[0].Reply.(*rota.GroupEnqueued).Group.ID
		apply(t, s, at(time.Second, claim(1)))
		return at(2*time.Second, &rota.CancelGroup{Meta: rota.NewMeta("ada"), GroupID: id, Reason: "no"})
	}},
	{"death of a member", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, at(0, newGroup(rota.GroupParallel, rota.FailureSkip, 3)))
		j := apply(t, s, at(time.Second, claim(1)))[0].Reply.(*rota.Claimed).Jobs[0]
		end := finish(j, rota.OutcomeFailed)
		end.Items[0].Permanent = true
		return at(2*time.Second, end)
	}},
	{"finish of a key", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, putLimits(0, rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 1}}}))
		enqueueKeyed(t, s, 3)
		j := apply(t, s, at(time.Second, claim(3)))[0].Reply.(*rota.Claimed).Jobs[0]
		return at(2*time.Second, finish(j, rota.OutcomeCompleted))
	}},
	{"claim of a rate", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, putLimits(0, rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 2, Per: time.Minute}}}}))
		queued(t, s, 3)
		return at(time.Second, claim(3))
	}},
	{"reserve", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, at(0, &rota.Reserve{Meta: rota.NewMeta("ada"), Node: "node", For: time.Minute}))
		return at(time.Hour, &rota.Reserve{Meta: rota.NewMeta("eve"), Node: "other"}) // the first has expired
	}},
	{"direct", func(t testing.TB, s rota.Store) rota.Batch {
		return at(time.Second, directCommand(reserveNode(t, s)))
	}},
	{"release", func(t testing.TB, s rota.Store) rota.Batch {
		return at(time.Second, &rota.Release{Meta: rota.NewMeta("ada"), ReservationID: reserveNode(t, s)})
	}},
	{"finish of a direct run", func(t testing.TB, s rota.Store) rota.Batch {
		j := apply(t, s, at(time.Second, directCommand(reserveNode(t, s))))[0].Reply.(*rota.Directed).Job
		return at(2*time.Second, finish(j, rota.OutcomeCompleted))
	}},
	{"expire", func(t testing.TB, s rota.Store) rota.Batch {
		fireBlocked(t, s)
		reserveNode(t, s)
		return at(100*time.Hour, &rota.Expire{Meta: rota.NewMeta("")})
	}},
	{"sweep", func(t testing.TB, s rota.Store) rota.Batch {
		enqueueKeyed(t, s, 5)
		apply(t, s, putLimits(time.Second, rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 2}}}))
		return at(2*time.Second, &rota.Sweep{Meta: rota.NewMeta("")})
	}},
	{"sweep of each key", func(t testing.TB, s rota.Store) rota.Batch {
		enqueueKeyed(t, s, 5)
		apply(t, s, putLimits(time.Second, rota.ThrottleSpec{EachKey: []rota.EachKeyLimit{{Pattern: "*", Concurrency: 2}}}))
		return at(2*time.Second, &rota.Sweep{Meta: rota.NewMeta("")})
	}},
	{"sweep of each key of a type", func(t testing.TB, s rota.Store) rota.Batch {
		enqueueKeyed(t, s, 5)
		apply(t, s, putLimits(time.Second, rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 2}}}))
		return at(2*time.Second, &rota.Sweep{Meta: rota.NewMeta("")})
	}},
	{"finish of a key and a type", func(t testing.TB, s rota.Store) rota.Batch {
		apply(t, s, putLimits(0, rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}}}))
		enqueueKeyed(t, s, 3)
		j := apply(t, s, at(time.Second, claim(3)))[0].Reply.(*rota.Claimed).Jobs[0]
		return at(2*time.Second, finish(j, rota.OutcomeCompleted))
	}},
	{"prune", func(t testing.TB, s rota.Store) rota.Batch {
		c := newGroup(rota.GroupParallel, "", 2)
		apply(t, s, at(0, c))
		for _, j := range apply(t, s, at(time.Second, claim(2)))[0].Reply.(*rota.Claimed).Jobs {
			apply(t, s, at(2*time.Second, finish(j, rota.OutcomeCompleted)))
		}
		reserveNode(t, s)
		apply(t, s, at(time.Hour, &rota.Expire{Meta: rota.NewMeta("")}))
		return at(3*time.Hour, &rota.Prune{
			Meta: rota.NewMeta(""), Executions: []rota.ID{c.JobID(0), c.JobID(1)}, Before: noon.Add(2 * time.Hour),
		})
	}},
	{"redrive", func(t testing.TB, s rota.Store) rota.Batch {
		j := running(t, s, 1)[0]
		end := finish(j, rota.OutcomeFailed)
		end.Items[0].Permanent = true
		apply(t, s, at(2*time.Second, end))
		return at(3*time.Second, &rota.Redrive{Meta: rota.NewMeta("ada"), JobID: j.ID})
	}},
	{"run again", func(t testing.TB, s rota.Store) rota.Batch {
		j := running(t, s, 1)[0]
		apply(t, s, at(2*time.Second, finish(j, rota.OutcomeCompleted)))
		return at(3*time.Second, &rota.Redrive{Meta: rota.NewMeta("ada"), JobID: j.ID, Params: json.RawMessage(`{"n":2}`), Again: true})
	}},
	{"remember", func(t testing.TB, s rota.Store) rota.Batch {
		for _, key := range []string{"a", "b", "c"} {
			apply(t, s, at(0, rememberCommand(key)))
		}
		return at(rota.RequestKeep, rememberCommand("c")) // also deletes two expired keys
	}},
	{"put secret", func(t testing.TB, s rota.Store) rota.Batch {
		template(t, s, rota.TemplateSpec{Type: "mail"})
		return at(0, secretCommand("A"))
	}},
	{"put secret again", func(t testing.TB, s rota.Store) rota.Batch {
		putSecrets(t, s)
		return at(time.Second, secretCommand("A"))
	}},
	{"put secret of another key", func(t testing.TB, s rota.Store) rota.Batch {
		putSecrets(t, s)
		for _, key := range []string{"A", "B"} {
			apply(t, s, at(0, &rota.DeleteSecret{Meta: rota.NewMeta("ada"), Template: "digest", Key: key}))
		}
		c := secretCommand("A")
		c.Sealed = rota.FormatSealed("fedcba9876543210", []byte("x"))
		return at(time.Second, c)
	}},
	{"delete secret", func(t testing.TB, s rota.Store) rota.Batch {
		putSecrets(t, s)
		return at(time.Second, &rota.DeleteSecret{Meta: rota.NewMeta("ada"), Template: "digest", Key: "A"})
	}},
	{"promote secret key", func(t testing.TB, s rota.Store) rota.Batch {
		putSecrets(t, s)
		return at(time.Second, promoteKey())
	}},
	{"rewrap secrets", func(t testing.TB, s rota.Store) rota.Batch {
		rows := putSecrets(t, s)
		apply(t, s, at(0, promoteKey()))
		c := &rota.RewrapSecrets{Meta: rota.NewMeta("ada")}
		for _, one := range rows {
			c.Items = append(c.Items, rota.RewrappedSecret{
				Template: one.Template, Key: one.Key, Version: one.ID, Was: promoteKey().From, Sealed: rota.FormatSealed(promoteKey().To, []byte("x")),
			})
		}
		return at(time.Second, c)
	}},
	{"recreate with secrets", func(t testing.TB, s rota.Store) rota.Batch {
		putSecrets(t, s)
		return at(time.Second, &rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "digest", Recreate: true, Spec: rota.TemplateSpec{Type: "web"}})
	}},
	{"drop with secrets", func(t testing.TB, s rota.Store) rota.Batch {
		putSecrets(t, s)
		declare(t, s, "digest", rota.ScheduleSpec{Every: time.Hour})
		return at(time.Second, &rota.Drop{Meta: rota.NewMeta("ada"), Name: "digest"})
	}},
}

func secretCommand(key string) *rota.PutSecret {
	return &rota.PutSecret{Meta: rota.NewMeta("ada"), Template: "digest", Key: key, Sealed: rota.FormatSealed(promoteKey().From, []byte("x"))}
}

func promoteKey() *rota.PromoteSecretKey {
	return &rota.PromoteSecretKey{Meta: rota.NewMeta("ada"), From: "0123456789abcdef", To: "fedcba9876543210"}
}

// putSecrets declares a template with two secrets.
func putSecrets(t testing.TB, s rota.Store) []*rota.PutSecret {
	t.Helper()
	template(t, s, rota.TemplateSpec{Type: "mail"})
	all := []*rota.PutSecret{secretCommand("A"), secretCommand("B")}
	for _, c := range all {
		apply(t, s, at(0, c))
	}
	return all
}

func rememberCommand(key string) *rota.Remember {
	return &rota.Remember{Meta: rota.NewMeta("ada"), Key: key, Hash: strings.Trim(hash64, "'"), Command: rota.NewID()}
}

func template(t testing.TB, s rota.Store, spec rota.TemplateSpec) {
	t.Helper()
	apply(t, s, at(0, &rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "digest", Spec: spec}))
}

func declare(t testing.TB, s rota.Store, name string, spec rota.ScheduleSpec) {
	t.Helper()
	apply(t, s, at(0, putSchedule(t, name, spec)))
}

func putSchedule(t testing.TB, name string, spec rota.ScheduleSpec) *rota.PutSchedule {
	t.Helper()
	spec.Template = "digest"
	c, err := rota.Declare(rota.NewMeta("ada"), name, spec, noon)
	must(t, err)
	return c
}

// dueFire returns the Fire that is due for a schedule some time after noon.
func dueFire(t testing.TB, s rota.Store, name string, after time.Duration) *rota.Fire {
	t.Helper()
	row, err := s.Schedule(t.Context(), name)
	must(t, err)
	c, err := rota.PlanFire(rota.NewMeta(""), row, noon.Add(after), time.Time{})
	must(t, err)
	if c == nil {
		t.Fatalf("%s is not due", name)
	}
	return c
}

// fireBlocked fires a schedule, and another that depends on it and waits.
func fireBlocked(t testing.TB, s rota.Store) {
	t.Helper()
	template(t, s, rota.TemplateSpec{Type: "mail"})
	declare(t, s, "first", rota.ScheduleSpec{Every: time.Hour})
	declare(t, s, "second", rota.ScheduleSpec{Every: time.Hour, DependsOn: []string{"first"}})
	for _, name := range []string{"first", "second"} {
		apply(t, s, at(time.Hour, dueFire(t, s, name, time.Hour)))
	}
}

func putLimits(after time.Duration, spec rota.ThrottleSpec) rota.Batch {
	return at(after, &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: spec})
}

func newGroup(mode rota.GroupMode, failure rota.OnFailure, n int) *rota.EnqueueGroup {
	c := &rota.EnqueueGroup{Meta: rota.NewMeta("ada"), Name: "batch", Mode: mode, OnFailure: failure}
	for range n {
		c.Jobs = append(c.Jobs, rota.NewJob{Type: "mail"})
	}
	return c
}

func enqueueKeyed(t testing.TB, s rota.Store, n int) {
	t.Helper()
	jobs := make([]rota.NewJob, n)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "mail", ConcurrencyKey: new("k")}
	}
	apply(t, s, at(0, enqueue(jobs...)))
}

func finish(j *rota.Job, outcome rota.Outcome) *rota.Finish {
	return &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: lease(j), Outcome: outcome}}}
}

func reserveNode(t testing.TB, s rota.Store) rota.ID {
	t.Helper()
	return apply(t, s, at(0, &rota.Reserve{Meta: rota.NewMeta("ada"), Node: "node"}))[0].Reply.(*rota.Reserved).Reservation.ID
}

func directCommand(reservation rota.ID) *rota.Direct {
	return &rota.Direct{
		Meta: rota.NewMeta("ada"), ReservationID: reservation, Job: rota.NewJob{Type: "mail"}, Lease: time.Minute, Seed: rota.NewToken(),
	}
}
