package storetest

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// spoilt is a command with one wrong field. The command is good but for that,
// so that a store which overlooks the field would apply it.
type spoilt struct {
	field string
	make  func(*scene) rota.Command
}

// scene is a store with something of everything in it for commands to be
// about: a queued job, another one, a running one, and a schedule that is due.
type scene struct {
	*story
	queued, other, running *rota.Job
	nightly                *rota.Schedule
	reserved               *rota.Reservation
}

func newScene(t testing.TB, h Harness) *scene {
	y := newStory(t, h)
	sc := &scene{story: y, running: y.running(rota.NewJob{})}
	sc.queued, sc.other = y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{})
	sc.nightly = y.declare("nightly", rota.ScheduleSpec{})
	sc.reserved = y.reserve()
	y.wait(sc.nightly.NextFire)
	return sc
}

// testInvalid sends every wrong field there is: each must be refused as
// Invalid under its name, with the store as it was.
func testInvalid(t *testing.T, h Harness) {
	for _, group := range []struct {
		verb  rota.Verb
		cases []spoilt
	}{
		{"head", invalidHeads()},
		{rota.VerbEnqueue, invalidEnqueues()},
		{rota.VerbClaim, invalidClaims()},
		{rota.VerbExtend, invalidExtends()},
		{rota.VerbNote, invalidNotes()},
		{rota.VerbFinish, invalidFinishes()},
		{rota.VerbCancel, invalidCancels()},
		{rota.VerbEdit, invalidEdits()},
		{rota.VerbMove, invalidMoves()},
		{"sweep", invalidSweeps()},
		{rota.VerbAll, invalidAlls()},
		{rota.VerbPutType, invalidTypes()},
		{rota.VerbPutTemplate, invalidTemplates()},
		{rota.VerbPutThrottle, invalidThrottles()},
		{rota.VerbPutWebhooks, invalidWebhooks()},
		{rota.VerbPutSchedule, invalidSchedules()},
		{"names", invalidNames()},
		{rota.VerbFire, invalidFires()},
		{rota.VerbTrigger, invalidTriggers()},
		{rota.VerbEnqueueGroup, invalidGroups()},
		{rota.VerbDirect, invalidDirects()},
		{rota.VerbPrune, invalidPrunes()},
		{rota.VerbRemember, invalidRemembers()},
	} {
		t.Run(string(group.verb), func(t *testing.T) {
			sc := newScene(t, h)
			for _, bad := range group.cases {
				err := sc.refused(rota.Invalid, bad.make(sc))
				want(sc.story, "the field blamed", err.Field, bad.field)
			}
		})
	}
}

// badJob is an Enqueue whose second job is wrong, so that a store that makes
// jobs before it has looked at them all is found out.
func badJob(field string, change func(*scene, *rota.NewJob)) spoilt {
	return spoilt{"jobs[1]." + field, func(sc *scene) rota.Command {
		c := sc.enqueueCommand(rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
		change(sc, &c.Jobs[1])
		return c
	}}
}

func setJob(field string, change func(*rota.NewJob)) spoilt {
	return badJob(field, func(_ *scene, n *rota.NewJob) { change(n) })
}

func invalidHeads() []spoilt {
	head := func(field string, change func(*rota.Meta)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := sc.enqueueCommand(rota.NewJob{})
			change(&c.Meta)
			return c
		}}
	}
	return []spoilt{
		head("id", func(m *rota.Meta) { m.ID = rota.ID{} }),
		head("actor", func(m *rota.Meta) { m.Actor = strings.Repeat("x", rota.NameMax+1) }),
		head("actor", func(m *rota.Meta) { m.Actor = "a\xff" }),
		head("actor", func(m *rota.Meta) { m.Actor = "a\x00" }),
		head("law", func(m *rota.Meta) { m.RulesVersion = rota.RulesVersion + 1 }),
		head("law", func(m *rota.Meta) { m.RulesVersion = -1 }),
	}
}

func invalidEnqueues() []spoilt {
	cases := []spoilt{
		{"jobs", func(sc *scene) rota.Command { return sc.enqueueCommand() }},
		{"jobs", func(sc *scene) rota.Command {
			return sc.enqueueCommand(slices.Repeat([]rota.NewJob{{Type: "mail"}}, rota.JobsMax+1)...)
		}},
		{"jobs[2].id", func(sc *scene) rota.Command {
			id := sc.mint.id()
			return sc.enqueueCommand(rota.NewJob{ID: id}, rota.NewJob{}, rota.NewJob{ID: id})
		}},
		setJob("type", func(n *rota.NewJob) { n.Type = "" }),
		setJob("type", func(n *rota.NewJob) { n.Type = "with space" }),
		setJob("type", func(n *rota.NewJob) { n.Type = strings.Repeat("x", rota.NameMax+1) }),
		setJob("name", func(n *rota.NewJob) { n.Name = "naïve" }),
		setJob("params", func(n *rota.NewJob) { n.Params = json.RawMessage(`[1]`) }),
		setJob("params", func(n *rota.NewJob) { n.Params = json.RawMessage(`{"a":`) }),
		setJob("params", func(n *rota.NewJob) { n.Params = json.RawMessage{} }),
		setJob("params", func(n *rota.NewJob) { n.Params = oversized(rota.ParamsMax) }),
		setJob("priority", func(n *rota.NewJob) { n.Priority = ptr(rota.PriorityMax + 1) }),
		setJob("priority", func(n *rota.NewJob) { n.Priority = ptr(rota.PriorityMin - 1) }),
		setJob("run_at", func(n *rota.NewJob) { n.RunAt = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC) }),
		setJob("run_at", func(n *rota.NewJob) { n.RunAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }),
		setJob("delay", func(n *rota.NewJob) { n.Delay = -time.Second }),
		setJob("delay", func(n *rota.NewJob) { n.Delay = rota.DelayMax + 1 }),
		setJob("delay", func(n *rota.NewJob) { n.Delay, n.RunAt = time.Second, dawn }),
	}
	return append(cases, invalidKeysAndPolicies()...)
}

func invalidKeysAndPolicies() []spoilt {
	return []spoilt{
		setJob("unique_key", func(n *rota.NewJob) { n.UniqueKey = strings.Repeat("x", rota.KeyMax+1) }),
		setJob("unique_key", func(n *rota.NewJob) { n.UniqueKey = "a\x00b" }),
		setJob("unique_for", func(n *rota.NewJob) { n.UniqueFor = time.Second }),
		setJob("unique_for", func(n *rota.NewJob) { n.UniqueKey, n.UniqueFor = "k", -1 }),
		setJob("scope_id", func(n *rota.NewJob) { n.ScopeKind = "tenant" }),
		setJob("scope_kind", func(n *rota.NewJob) { n.ScopeID = "1" }),
		setJob("scope_kind", func(n *rota.NewJob) { n.ScopeKind, n.ScopeID = strings.Repeat("x", rota.NameMax+1), "1" }),
		setJob("scope_id", func(n *rota.NewJob) { n.ScopeKind, n.ScopeID = "tenant", "\xff" }),
		setJob("plan_time", func(n *rota.NewJob) { n.PlanTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }),
		setJob("max_retries", func(n *rota.NewJob) { n.MaxRetries = ptr(-1) }),
		setJob("max_retries", func(n *rota.NewJob) { n.MaxRetries = ptr(rota.MaxRetriesMax + 1) }),
		setJob("backoff", func(n *rota.NewJob) { n.Backoff = ptr(-time.Second) }),
		setJob("backoff_max", func(n *rota.NewJob) { n.BackoffMax = ptr(time.Duration(rota.DelayMax + 1)) }),
		setJob("jitter", func(n *rota.NewJob) { n.Jitter = ptr(1.5) }),
		setJob("jitter", func(n *rota.NewJob) { n.Jitter = ptr(math.NaN()) }),
		setJob("timeout", func(n *rota.NewJob) { n.Timeout = ptr(-time.Second) }),
		setJob("template", func(n *rota.NewJob) { n.Template = "two words" }),
		setJob("concurrency_key", func(n *rota.NewJob) { n.ConcurrencyKey = ptr(strings.Repeat("x", rota.KeyMax+1)) }),
		setJob("concurrency_key", func(n *rota.NewJob) { n.ConcurrencyKey = ptr("a\x00") }),
		setJob("trace", func(n *rota.NewJob) { n.Trace = "here" }),
		setJob("trace", func(n *rota.NewJob) { n.Trace = "01" + traceOne[2:] }),
		setJob("trace", func(n *rota.NewJob) { n.Trace = strings.ToUpper(traceOne) }),
		setJob("trace", func(n *rota.NewJob) { n.Trace = strings.Replace(traceOne, "00f067aa0ba902b7", "0000000000000000", 1) }),
		setJob("trace", func(n *rota.NewJob) { n.Trace = traceOne + "-" }),
		setJob("type", func(n *rota.NewJob) { n.Type = rota.TypeWebhook }),
	}
}

// oversized is a JSON object one byte longer than allowed.
func oversized(most int) json.RawMessage {
	return json.RawMessage(`{"a":"` + strings.Repeat("x", most-7) + `"}`)
}

func invalidClaims() []spoilt {
	set := func(field string, change func(*rota.Claim)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := sc.claimCommand(1)
			change(c)
			return c
		}}
	}
	return []spoilt{
		set("worker", func(c *rota.Claim) { c.Worker = "" }),
		set("worker", func(c *rota.Claim) { c.Worker = "a b" }),
		set("types", func(c *rota.Claim) { c.Types = nil }),
		set("types[1]", func(c *rota.Claim) { c.Types = []string{"mail", ""} }),
		set("limit", func(c *rota.Claim) { c.Limit = 0 }),
		set("limit", func(c *rota.Claim) { c.Limit = rota.ClaimMax + 1 }),
		set("lease", func(c *rota.Claim) { c.Lease = rota.LeaseMin - 1 }),
		set("lease", func(c *rota.Claim) { c.Lease = rota.LeaseMax + 1 }),
		set("seed", func(c *rota.Claim) { c.Seed = rota.Token{} }),
	}
}

func invalidCancels() []spoilt {
	return []spoilt{
		{"job_id", func(sc *scene) rota.Command { return sc.cancelCommand(rota.ID{}) }},
		{"reason", func(sc *scene) rota.Command {
			c := sc.cancelCommand(sc.queued.ID)
			c.Reason = strings.Repeat("x", rota.ReasonMax+1)
			return c
		}},
	}
}

func invalidEdits() []spoilt {
	set := func(field string, change func(*rota.Edit)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command { return sc.editCommand(sc.queued.ID, change) }}
	}
	return []spoilt{
		set("job_id", func(c *rota.Edit) { c.JobID, c.Priority = rota.ID{}, ptr(1) }),
		set("priority", func(*rota.Edit) {}),
		set("priority", toPriority(rota.PriorityMax+1)),
		set("params", toParams(`"text"`)),
		set("params", func(c *rota.Edit) { c.Priority, c.Params = ptr(1), oversized(rota.ParamsMax) }),
	}
}

func invalidMoves() []spoilt {
	set := func(field string, change func(*scene, *rota.Move)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := &rota.Move{Meta: sc.mint.meta(), JobID: sc.queued.ID, Place: rota.PlaceBottom}
			change(sc, c)
			return c
		}}
	}
	return []spoilt{
		set("job_id", func(_ *scene, c *rota.Move) { c.JobID = rota.ID{} }),
		set("place", func(_ *scene, c *rota.Move) { c.Place = "middle" }),
		set("anchor", func(_ *scene, c *rota.Move) { c.Place = rota.PlaceAfter }),
		set("anchor", func(_ *scene, c *rota.Move) { c.Place, c.Anchor = rota.PlaceBefore, c.JobID }),
		set("anchor", func(sc *scene, c *rota.Move) { c.Anchor = sc.other.ID }),
	}
}

func invalidSweeps() []spoilt {
	var cases []spoilt
	for _, limit := range []int{-1, rota.SweepMax + 1} {
		cases = append(cases,
			spoilt{"limit", func(sc *scene) rota.Command { return &rota.Ready{Meta: sc.mint.meta(), Limit: limit} }},
			spoilt{"limit", func(sc *scene) rota.Command { return &rota.Reap{Meta: sc.mint.meta(), Limit: limit} }},
			spoilt{"limit", func(sc *scene) rota.Command { return &rota.Expire{Meta: sc.mint.meta(), Limit: limit} }},
			spoilt{"limit", func(sc *scene) rota.Command { return &rota.Sweep{Meta: sc.mint.meta(), Limit: limit} }},
			spoilt{"limit", func(sc *scene) rota.Command {
				return &rota.Recover{Meta: sc.mint.meta(), Runner: "w1", Incarnation: lifeTwo, Limit: limit}
			}})
	}
	return append(cases,
		spoilt{"priority", func(sc *scene) rota.Command {
			return &rota.Normalise{Meta: sc.mint.meta(), Priority: rota.PriorityMax + 1}
		}},
		spoilt{"runner", func(sc *scene) rota.Command { return &rota.Recover{Meta: sc.mint.meta(), Incarnation: lifeTwo} }},
		spoilt{"life", func(sc *scene) rota.Command { return &rota.Recover{Meta: sc.mint.meta(), Runner: "w1"} }})
}
