package sqlite

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// fillRelated creates a healthy store with related rows of each kind, as fillJobs does for single
// jobs. Jobs of type idle are never claimed.
func fillRelated(t testing.TB, s rota.Store) map[string]rota.ID {
	t.Helper()
	p := &fixture{t: t, s: s, ids: map[string]rota.ID{}}
	p.declare()
	p.fire()
	p.group()
	p.throttle()
	p.redrive()
	p.reserve()
	p.deliver()
	p.access()
	p.secrets()
	verifyClean(t, s)
	return p.ids
}

// fixture fills a store and collects the ids of its rows by name.
type fixture struct {
	t   testing.TB
	s   rota.Store
	ids map[string]rota.ID
}

func (p *fixture) apply(c rota.Command) rota.Reply {
	p.t.Helper()
	return apply(p.t, p.s, at(2*time.Minute, c))[0].Reply
}

// claim claims the only ready job of type web and records its id.
func (p *fixture) claim(name string) *rota.Job {
	p.t.Helper()
	j := p.apply(claim(1)).(*rota.Claimed).Jobs[0]
	p.ids[name] = j.ID
	return j
}

func (p *fixture) finish(j *rota.Job, outcome rota.Outcome) rota.FinishAnswer {
	p.t.Helper()
	c := &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: lease(j), Outcome: outcome}}}
	return p.apply(c).(*rota.Finished).Items[0]
}

func (p *fixture) enqueue(name string, job rota.NewJob) {
	p.t.Helper()
	p.ids[name] = p.apply(enqueue(job)).(*rota.Enqueued).Jobs[0].Job.ID
}

func (p *fixture) declare() {
	p.apply(&rota.PutType{Meta: rota.NewMeta("ada"), Name: "mail"})
	p.apply(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "report", Spec: rota.TemplateSpec{Type: "idle"}})
	p.apply(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "old", Spec: rota.TemplateSpec{Type: "idle"}})
	p.enqueue("plain", rota.NewJob{Type: "idle"})
	hourly := rota.ScheduleSpec{Template: "report", Cron: "0 * * * *"}
	unused, base, above := hourly, hourly, hourly
	unused.Template = "old"
	base.Overlap = rota.OverlapSkip
	above.DependsOn = []string{"base"}
	p.put("unused", unused, "")
	p.put("off", hourly, rota.ScheduleDisabled)
	p.put("base", base, "")
	p.put("above", above, "")
	p.put("once", rota.ScheduleSpec{Template: "report", At: noon.Add(2 * time.Minute)}, "")
	p.apply(&rota.Archive{Meta: rota.NewMeta("ada"), Name: "old"})
}

func (p *fixture) put(name string, spec rota.ScheduleSpec, state rota.ScheduleState) {
	p.t.Helper()
	c := &rota.PutSchedule{Meta: rota.NewMeta("ada"), Name: name, Spec: spec, State: state, Next: noon.Add(2 * time.Minute)}
	if state == rota.ScheduleDisabled {
		c.Next = time.Time{}
	}
	p.apply(c)
}

// fire creates a job that is ready, one that waits for its turn behind it, one that depends on it,
// and the only job of a schedule that fires once.
func (p *fixture) fire() {
	times := []rota.FireTime{{At: noon.Add(2 * time.Minute), From: noon}}
	for name, job := range map[string]string{"base": "based", "once": "onced"} {
		p.ids[job] = p.fireOne(name, times)
	}
	p.ids["waiting"] = p.fireOne("above", times)
	back := &rota.Backfill{Meta: rota.NewMeta("ada"), Schedule: "base", Times: []rota.FireTime{{At: noon.Add(-time.Hour)}}}
	p.ids["behind"] = p.apply(back).(*rota.Backfilled).Jobs[0].ID
}

func (p *fixture) fireOne(name string, times []rota.FireTime) rota.ID {
	p.t.Helper()
	s, err := p.s.Schedule(p.t.Context(), name)
	must(p.t, err)
	c := &rota.Fire{Meta: rota.NewMeta(""), Schedule: name, Version: s.Version, Expect: s.NextFire, Times: times}
	if s.Spec.At.IsZero() {
		c.Next = noon.Add(time.Hour)
	}
	return p.apply(c).(*rota.Fired).Jobs[0].ID
}

// group creates a sequential group of three, a group of one, a group with a retry, a group that was
// skipped after a failure, and one that was cancelled while it ran.
func (p *fixture) group() {
	web, idle := rota.NewJob{Type: "web"}, rota.NewJob{Type: "idle"}
	p.enqueueGroup("row", rota.GroupSequential, "", idle, idle, idle)
	p.enqueueGroup("lone", "", "", idle)
	p.enqueueGroup("tried", "", "", web)
	p.ids["retry"] = p.finish(p.claim("failed"), rota.OutcomeFailed).RetryID
	once := web
	once.MaxRetries = new(0)
	p.enqueueGroup("halted", "", rota.FailureSkip, once, idle)
	p.finish(p.claim("died"), rota.OutcomeFailed)
	p.enqueueGroup("ended", "", "", web, idle)
	p.claim("stopping")
	p.apply(&rota.CancelGroup{Meta: rota.NewMeta("ada"), GroupID: p.ids["ended"]})
}

// enqueueGroup records the group by its name, and its members as namea, nameb and so on.
func (p *fixture) enqueueGroup(name string, mode rota.GroupMode, fail rota.OnFailure, jobs ...rota.NewJob) {
	p.t.Helper()
	c := &rota.EnqueueGroup{Meta: rota.NewMeta("ada"), Name: name, Mode: mode, OnFailure: fail, Jobs: jobs}
	for i, j := range p.apply(c).(*rota.GroupEnqueued).Jobs {
		p.ids[name+string(rune('a'+i))] = j.ID
	}
	p.ids[name] = c.GroupID()
}

// throttle creates a key that holds a job back, and a type with recent starts.
func (p *fixture) throttle() {
	p.apply(&rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "web", Rate: rota.Rate{Count: 9, Per: time.Minute}}},
		Keys:  []rota.KeyLimit{{Key: "printer", Concurrency: 1}},
	}})
	p.apply(&rota.Sweep{Meta: rota.NewMeta("")})
	p.enqueue("printing", rota.NewJob{Type: "idle", ConcurrencyKey: new("printer")})
	p.enqueue("pending", rota.NewJob{Type: "idle", ConcurrencyKey: new("printer")})
	p.enqueue("done", rota.NewJob{Type: "web"})
	p.finish(p.claim("done"), rota.OutcomeCompleted)
}

func (p *fixture) redrive() {
	p.enqueue("lost", rota.NewJob{Type: "web", MaxRetries: new(0)})
	p.finish(p.claim("lost"), rota.OutcomeFailed)
	p.ids["again"] = p.apply(&rota.Redrive{Meta: rota.NewMeta("ada"), JobID: p.ids["lost"]}).(*rota.Redriven).Job.ID
}

func (p *fixture) reserve() {
	for _, name := range []string{"older", "active"} {
		p.ids[name] = p.apply(&rota.Reserve{Meta: rota.NewMeta("ada"), Node: "n1", Incarnation: incarnation, For: time.Hour}).(*rota.Reserved).Reservation.ID
		if name == "older" {
			p.apply(&rota.Release{Meta: rota.NewMeta("ada"), ReservationID: p.ids[name]})
		}
	}
	p.ids["direct"] = p.apply(&rota.Direct{
		Meta: rota.NewMeta("ada"), ReservationID: p.ids["active"], Job: rota.NewJob{Type: "idle"},
		Lease: time.Minute, Seed: rota.Token(rota.NewID()),
	}).(*rota.Directed).Job.ID
}

// deliver creates a job with a trace, and the deliveries of its event.
func (p *fixture) deliver() {
	p.t.Helper()
	hooks := []rota.Webhook{{URL: "https://a.example/", Secret: "s", Events: []rota.EventKind{rota.EventJobEnqueued}}}
	p.apply(&rota.PutWebhooks{Meta: rota.NewMeta("ada"), Spec: hooks})
	p.apply(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "loud", Spec: rota.TemplateSpec{Type: "idle", Webhooks: hooks}})
	p.enqueue("traced", rota.NewJob{Template: "loud", Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	deliveries, err := p.s.Jobs(p.t.Context(), rota.JobQuery{Type: rota.TypeWebhook})
	must(p.t, err)
	if len(deliveries) != 2 {
		p.t.Fatalf("%d deliveries", len(deliveries))
	}
	p.ids["delivery"] = deliveries[0].ID
}

// access creates a user with grants, memberships and a token, and two roles.
func (p *fixture) access() {
	for _, name := range []string{"high", "low"} {
		p.apply(&rota.PutPrincipal{Meta: rota.NewMeta("ada"), Name: name, Kind: rota.KindRole})
	}
	p.apply(&rota.PutPrincipal{Meta: rota.NewMeta("ada"), Name: "alice", Kind: rota.KindUser, Verifier: new(samples.Verifier), Certificate: new("cn")})
	p.apply(&rota.GrantPrivileges{Meta: rota.NewMeta("ada"), To: []string{"low", "alice"}, Role: "high"})
	p.apply(&rota.GrantPrivileges{Meta: rota.NewMeta("ada"), To: []string{"alice"}, Role: "low"})
	p.apply(&rota.GrantPrivileges{Meta: rota.NewMeta("ada"), To: []string{"alice"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Job: "report"})
	p.apply(&rota.PutToken{Meta: rota.NewMeta("ada"), TokenID: "token001", User: "alice", Scope: rota.ScopeRead, Hash: strings.Repeat("0123456789abcdef", 4)})
}

// secrets sets two secrets of a template.
func (p *fixture) secrets() {
	p.apply(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "backup", Spec: rota.TemplateSpec{Type: "idle"}})
	for _, key := range []string{"A", "B"} {
		p.apply(&rota.PutSecret{Meta: rota.NewMeta("ada"), Template: "backup", Key: key, Sealed: rota.FormatSealed("0123456789abcdef", []byte("x"))})
	}
}
