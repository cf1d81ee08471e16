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

// invalidCase is a command with one invalid field. The rest of the command is valid, so that a
// store that misses the field would apply it.
type invalidCase struct {
	field   string
	command func(*fixture) rota.Command
}

// fixture is a story with rows for commands to refer to: two queued jobs, a running one, a due
// schedule and a reservation.
type fixture struct {
	*story
	queued, other, running *rota.Job
	nightly                *rota.Schedule
	reserved               *rota.Reservation
}

func newFixture(t testing.TB, h Harness) *fixture {
	y := newStory(t, h)
	fx := &fixture{story: y, running: y.running(rota.NewJob{})}
	fx.queued, fx.other = y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{})
	fx.nightly = y.declare("nightly", rota.ScheduleSpec{})
	fx.reserved = y.reserve()
	y.advanceTo(fx.nightly.NextFire)
	return fx
}

// testInvalid sends commands with every invalid field. Each must be refused as Invalid with the
// name of the field, and must not change the store.
func testInvalid(t *testing.T, h Harness) {
	type group struct {
		verb  rota.Verb
		cases []invalidCase
	}
	groups := []group{
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
		{rota.VerbPutPrincipal, invalidPrincipals()},
		{rota.VerbGrantPrivileges, invalidGrants()},
		{rota.VerbPutToken, invalidTokens()},
		{rota.VerbRecordAccess, invalidAccessRecords()},
		{rota.VerbPutSecret, invalidSecrets()},
	}
	if h.slice {
		groups = groups[:1]
	}
	for _, group := range groups {
		t.Run(string(group.verb), func(t *testing.T) {
			fx := newFixture(t, h)
			for _, bad := range group.cases {
				err := fx.refused(rota.Invalid, bad.command(fx))
				want(fx.story, "field", err.Field, bad.field)
			}
		})
	}
}

// badJob is an Enqueue whose second job is invalid. It detects a store that creates jobs before
// it has checked them all.
func badJob(field string, change func(*fixture, *rota.NewJob)) invalidCase {
	return invalidCase{"jobs[1]." + field, func(fx *fixture) rota.Command {
		c := fx.enqueueCommand(rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
		change(fx, &c.Jobs[1])
		return c
	}}
}

func setJob(field string, change func(*rota.NewJob)) invalidCase {
	return badJob(field, func(_ *fixture, n *rota.NewJob) { change(n) })
}

func invalidHeads() []invalidCase {
	head := func(field string, change func(*rota.Meta)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.enqueueCommand(rota.NewJob{})
			change(&c.Meta)
			return c
		}}
	}
	return []invalidCase{
		head("id", func(m *rota.Meta) { m.ID = rota.ID{} }),
		head("actor", func(m *rota.Meta) { m.Actor = strings.Repeat("x", rota.NameMax+1) }),
		head("actor", func(m *rota.Meta) { m.Actor = "a\xff" }),
		head("actor", func(m *rota.Meta) { m.Actor = "a\x00" }),
		head("rules_version", func(m *rota.Meta) { m.RulesVersion = rota.RulesVersion + 1 }),
		head("rules_version", func(m *rota.Meta) { m.RulesVersion = -1 }),
	}
}

func invalidEnqueues() []invalidCase {
	cases := []invalidCase{
		{"jobs", func(fx *fixture) rota.Command { return fx.enqueueCommand() }},
		{"jobs", func(fx *fixture) rota.Command {
			return fx.enqueueCommand(slices.Repeat([]rota.NewJob{{Type: "mail"}}, rota.JobsMax+1)...)
		}},
		{"jobs[2].id", func(fx *fixture) rota.Command {
			id := fx.ids.next()
			return fx.enqueueCommand(rota.NewJob{ID: id}, rota.NewJob{}, rota.NewJob{ID: id})
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
		setJob("delay", func(n *rota.NewJob) { n.Delay, n.RunAt = time.Second, startTime }),
	}
	return append(cases, invalidKeysAndPolicies()...)
}

func invalidKeysAndPolicies() []invalidCase {
	return []invalidCase{
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

func invalidClaims() []invalidCase {
	set := func(field string, change func(*rota.Claim)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.claimCommand(1)
			change(c)
			return c
		}}
	}
	return []invalidCase{
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

func invalidCancels() []invalidCase {
	return []invalidCase{
		{"job_id", func(fx *fixture) rota.Command { return fx.cancelCommand(rota.ID{}) }},
		{"reason", func(fx *fixture) rota.Command {
			c := fx.cancelCommand(fx.queued.ID)
			c.Reason = strings.Repeat("x", rota.ReasonMax+1)
			return c
		}},
	}
}

func invalidEdits() []invalidCase {
	set := func(field string, change func(*rota.Edit)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command { return fx.editCommand(fx.queued.ID, change) }}
	}
	return []invalidCase{
		set("job_id", func(c *rota.Edit) { c.JobID, c.Priority = rota.ID{}, ptr(1) }),
		set("", func(*rota.Edit) {}),
		set("priority", toPriority(rota.PriorityMax+1)),
		set("params", toParams(`"text"`)),
		set("params", func(c *rota.Edit) { c.Priority, c.Params = ptr(1), oversized(rota.ParamsMax) }),
		set("merge_params", toMerged(`[1]`)),
		set("merge_params", func(c *rota.Edit) { c.MergeParams = oversized(rota.ParamsMax) }),
		set("merge_params", func(c *rota.Edit) { c.Params, c.MergeParams = []byte(`{}`), []byte(`{}`) }),
		set("run_at", toRunAt(beyondMaxTime)),
		set("delay", toDelay(-1)),
		set("delay", toDelay(rota.DelayMax+1)),
		set("delay", func(c *rota.Edit) { c.RunAt, c.Delay = startTime, new(time.Hour) }),
		set("run_now", func(c *rota.Edit) { c.RunNow, c.RunAt = true, startTime }),
		set("run_now", func(c *rota.Edit) { c.RunNow, c.Delay = true, new(time.Hour) }),
	}
}

func invalidMoves() []invalidCase {
	set := func(field string, change func(*fixture, *rota.Move)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := &rota.Move{Meta: fx.ids.meta(), JobID: fx.queued.ID, Place: rota.PlaceBottom}
			change(fx, c)
			return c
		}}
	}
	return []invalidCase{
		set("job_id", func(_ *fixture, c *rota.Move) { c.JobID = rota.ID{} }),
		set("place", func(_ *fixture, c *rota.Move) { c.Place = "middle" }),
		set("anchor", func(_ *fixture, c *rota.Move) { c.Place = rota.PlaceAfter }),
		set("anchor", func(_ *fixture, c *rota.Move) { c.Place, c.Anchor = rota.PlaceBefore, c.JobID }),
		set("anchor", func(fx *fixture, c *rota.Move) { c.Anchor = fx.other.ID }),
	}
}

func invalidSweeps() []invalidCase {
	var cases []invalidCase
	for _, limit := range []int{-1, rota.SweepMax + 1} {
		cases = append(cases,
			invalidCase{"limit", func(fx *fixture) rota.Command { return &rota.Ready{Meta: fx.ids.meta(), Limit: limit} }},
			invalidCase{"limit", func(fx *fixture) rota.Command { return &rota.Reap{Meta: fx.ids.meta(), Limit: limit} }},
			invalidCase{"limit", func(fx *fixture) rota.Command { return &rota.Expire{Meta: fx.ids.meta(), Limit: limit} }},
			invalidCase{"limit", func(fx *fixture) rota.Command { return &rota.Sweep{Meta: fx.ids.meta(), Limit: limit} }},
			invalidCase{"limit", func(fx *fixture) rota.Command {
				return &rota.Recover{Meta: fx.ids.meta(), Runner: "w1", Incarnation: incarnationTwo, Limit: limit}
			}})
	}
	return append(cases,
		invalidCase{"priority", func(fx *fixture) rota.Command {
			return &rota.Normalise{Meta: fx.ids.meta(), Priority: rota.PriorityMax + 1}
		}},
		invalidCase{"runner", func(fx *fixture) rota.Command { return &rota.Recover{Meta: fx.ids.meta(), Incarnation: incarnationTwo} }},
		invalidCase{"incarnation", func(fx *fixture) rota.Command { return &rota.Recover{Meta: fx.ids.meta(), Runner: "w1"} }})
}
