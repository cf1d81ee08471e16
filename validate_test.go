package rota_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// refusal is one wrong field: how to change a valid command, and the expected error.
type refusal struct {
	name   string
	change func(rota.Command)
	field  string
	reason string
}

// breaks returns a refusal for a change of one type of command.
func breaks[T any](name string, change func(*T), field, reason string) refusal {
	return refusal{name, func(c rota.Command) { change(any(c).(*T)) }, field, reason}
}

// The tests of validation and of the codec run over the samples, so there must be one of every verb.
func TestSamplesAreValidAndHaveEveryVerb(t *testing.T) {
	if verbs := declaredConstants(t, "command.go", "Verb"); len(verbs) != len(samples.Commands()) {
		t.Errorf("there are %d samples and %d verbs", len(samples.Commands()), len(verbs))
	}
	for i, c := range samples.Commands() {
		if err := rota.CheckCommand(c); err != nil {
			t.Errorf("%s, sample %d: %v", c.Verb(), i, err)
		}
	}
	for name, c := range samples.Variants() {
		if err := rota.CheckCommand(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	refusals := map[rota.Verb][]refusal{
		rota.VerbEnqueue:   append(enqueueRefusals(), policyRefusals()...),
		rota.VerbClaim:     claimRefusals(),
		rota.VerbExtend:    extendRefusals(),
		rota.VerbNote:      noteRefusals(),
		rota.VerbFinish:    finishRefusals(),
		rota.VerbEdit:      editRefusals(),
		rota.VerbMove:      moveRefusals(),
		rota.VerbAll:       allRefusals(),
		rota.VerbReady:     {breaks("limit", func(c *rota.Ready) { c.Limit = rota.SweepMax + 1 }, "limit", "is 1001; allowed are 0 to 1000")},
		rota.VerbNormalise: {breaks("priority", func(c *rota.Normalise) { c.Priority = rota.PriorityMin - 1 }, "priority", "is -1000001")},
		rota.VerbReap:      {breaks("limit", func(c *rota.Reap) { c.Limit = -1 }, "limit", "is -1")},
		rota.VerbCancel: {
			breaks("no job", func(c *rota.Cancel) { c.JobID = rota.ID{} }, "job_id", "is empty"),
			breaks("long reason", func(c *rota.Cancel) { c.Reason = strings.Repeat("x", rota.ReasonMax+1) }, "reason", "has 1025 bytes; at most 1024"),
		},
		rota.VerbRecover: {
			breaks("no runner", func(c *rota.Recover) { c.Runner = "" }, "runner", "is empty"),
			breaks("no incarnation", func(c *rota.Recover) { c.Incarnation = rota.ID{} }, "incarnation", "is empty"),
			breaks("limit", func(c *rota.Recover) { c.Limit = rota.SweepMax + 1 }, "limit", "is 1001"),
		},
	}
	maps.Copy(refusals, definitionRefusals())
	maps.Copy(refusals, relationRefusals())
	maps.Copy(refusals, accessRefusals())
	maps.Copy(refusals, secretRefusals())
	for verb := range refusals {
		for _, r := range append(headRefusals(), refusals[verb]...) {
			t.Run(string(verb)+"/"+r.name, func(t *testing.T) { checkRefused(t, verb, r) })
		}
	}
	if len(refusals) != len(samples.Commands()) {
		t.Errorf("%d verbs are tested, there are %d", len(refusals), len(samples.Commands()))
	}
}

func checkRefused(t *testing.T, verb rota.Verb, r refusal) {
	t.Helper()
	c := sampleOf(verb)
	r.change(c)
	var e *rota.Error
	if err := rota.CheckCommand(c); !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if e.Code != rota.Invalid || e.Field != r.field || !strings.Contains(strings.TrimPrefix(e.Error(), e.Field), r.reason) {
		t.Errorf("got %s, field %q: %v\nwant field %q, a reason with %q", e.Code, e.Field, e, r.field, r.reason)
	}
}

func sampleOf(verb rota.Verb) rota.Command {
	for _, c := range samples.Commands() {
		if c.Verb() == verb {
			return c
		}
	}
	panic("no sample of " + verb)
}

func headRefusals() []refusal {
	return []refusal{
		{"no id", func(c rota.Command) { c.Head().ID = rota.ID{} }, "id", "is empty"},
		{"long actor", func(c rota.Command) { c.Head().Actor = strings.Repeat("x", rota.NameMax+1) }, "actor", "has 129 bytes; at most 128"},
		{"actor with NUL", func(c rota.Command) { c.Head().Actor = "a\x00" }, "actor", "NUL"},
		{"later law", func(c rota.Command) { c.Head().RulesVersion = rota.RulesVersion + 1 }, "rules_version", "upgrade"},
		{"negative law", func(c rota.Command) { c.Head().RulesVersion = -1 }, "rules_version", "is -1"},
	}
}

func job(name string, change func(*rota.NewJob), field, reason string) refusal {
	return breaks(name, func(c *rota.Enqueue) { change(&c.Jobs[1]) }, "jobs[1]."+field, reason)
}

func enqueueRefusals() []refusal {
	return []refusal{
		breaks("no jobs", func(c *rota.Enqueue) { c.Jobs = nil }, "jobs", "has 0 entries; allowed are 1 to 10000"),
		breaks("many jobs", func(c *rota.Enqueue) { c.Jobs = make([]rota.NewJob, rota.JobsMax+1) }, "jobs", "has 10001 entries"),
		breaks("an id twice", func(c *rota.Enqueue) { c.Jobs[1].ID = c.Jobs[0].ID }, "jobs[1].id", "is also the id of jobs[0]"),
		job("no type", func(n *rota.NewJob) { n.Type = "" }, "type", "is empty"),
		job("a type of an internal type of Rota", func(n *rota.NewJob) { n.Type = rota.TypeWebhook }, "type", `"rota.webhook" is an internal type of Rota`),
		job("a trace that is none", func(n *rota.NewJob) { n.Trace = "here" }, "trace", `"here" has 4 bytes instead of 55`),
		job("long type", func(n *rota.NewJob) { n.Type = strings.Repeat("x", rota.NameMax+1) }, "type", "has 129 bytes"),
		job("type with a space", func(n *rota.NewJob) { n.Type = "a b" }, "type", `"a b" contains ' '; allowed are letters`),
		job("name with a letter beyond ASCII", func(n *rota.NewJob) { n.Name = "größe" }, "name", `"größe" contains 'ö'`),
		job("params cut off", func(n *rota.NewJob) { n.Params = json.RawMessage(`{"a":`) }, "params", "is not JSON"),
		job("params of no bytes", func(n *rota.NewJob) { n.Params = json.RawMessage{} }, "params", "is not JSON"),
		job("params of blanks", func(n *rota.NewJob) { n.Params = json.RawMessage(" \n") }, "params", "is not JSON"),
		job("params a list", func(n *rota.NewJob) { n.Params = json.RawMessage(` [1]`) }, "params", "is not a JSON object"),
		job("params null", func(n *rota.NewJob) { n.Params = json.RawMessage(`null`) }, "params", "is not a JSON object"),
		job("deep params", func(n *rota.NewJob) { n.Params = deep() }, "params", "is nested more than 500 deep"),
		job("params not UTF-8", func(n *rota.NewJob) { n.Params = json.RawMessage("{\"a\":\"\xff\"}") }, "params", "UTF-8"),
		job("large params", func(n *rota.NewJob) { n.Params = make(json.RawMessage, rota.ParamsMax+1) }, "params", "has 1048577 bytes; at most 1048576"),
		job("high priority", func(n *rota.NewJob) { n.Priority = new(rota.PriorityMax + 1) }, "priority", "is 1000001; allowed are -1000000 to 1000000"),
		job("run_at before 1970", func(n *rota.NewJob) { n.Delay, n.RunAt = 0, time.Unix(-1, 0) }, "run_at", "the year 1969; allowed are 1970 to 9999"),
		job("negative delay", func(n *rota.NewJob) { n.Delay = -time.Second }, "delay", "is -1s"),
		job("long delay", func(n *rota.NewJob) { n.Delay = rota.DelayMax + 1 }, "delay", "allowed are 0s to 87600h"),
		job("delay and run_at", func(n *rota.NewJob) { n.RunAt = samples.Time }, "delay", "give one of them"),
		job("long unique_key", func(n *rota.NewJob) { n.UniqueKey = strings.Repeat("k", rota.KeyMax+1) }, "unique_key", "has 513 bytes"),
		job("unique_key with NUL", func(n *rota.NewJob) { n.UniqueKey = "\x00" }, "unique_key", "NUL"),
		job("negative unique_for", func(n *rota.NewJob) { n.UniqueKey, n.UniqueFor = "k", -1 }, "unique_for", "is -1ns"),
		job("unique_for alone", func(n *rota.NewJob) { n.UniqueFor = time.Hour }, "unique_for", "without a unique_key"),
		job("long scope_kind", func(n *rota.NewJob) { n.ScopeKind = strings.Repeat("x", rota.NameMax+1) }, "scope_kind", "has 129 bytes"),
		job("scope_id not UTF-8", func(n *rota.NewJob) { n.ScopeKind, n.ScopeID = "user", "\xff" }, "scope_id", "UTF-8"),
		job("scope_kind alone", func(n *rota.NewJob) { n.ScopeKind = "user" }, "scope_id", `scope_kind is "user"; give both`),
		job("scope_id alone", func(n *rota.NewJob) { n.ScopeID = "7" }, "scope_kind", `scope_id is "7"; give both`),
		job("plan_time far off", func(n *rota.NewJob) { n.PlanTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "plan_time", "the year 10000"),
		job("template with a space", func(n *rota.NewJob) { n.Template = "a b" }, "template", `"a b" contains ' '`),
		job("long concurrency_key", func(n *rota.NewJob) { n.ConcurrencyKey = new(strings.Repeat("k", rota.KeyMax+1)) }, "concurrency_key", "has 513 bytes"),
		job("concurrency_key with NUL", func(n *rota.NewJob) { n.ConcurrencyKey = new("\x00") }, "concurrency_key", "NUL"),
	}
}

func policyRefusals() []refusal {
	return []refusal{
		job("negative retries", func(n *rota.NewJob) { n.MaxRetries = new(-1) }, "max_retries", "is -1; allowed are 0 to 1000"),
		job("negative backoff", func(n *rota.NewJob) { n.Backoff = new(time.Duration(-1)) }, "backoff", "is -1ns"),
		job("long backoff_max", func(n *rota.NewJob) { n.BackoffMax = new(rota.DelayMax + 1) }, "backoff_max", "allowed are 0s to"),
		job("jitter above one", func(n *rota.NewJob) { n.Jitter = new(1.5) }, "jitter", "is 1.5; it is a fraction"),
		job("jitter below zero", func(n *rota.NewJob) { n.Jitter = new(-0.1) }, "jitter", "is -0.1"),
		job("jitter not a number", func(n *rota.NewJob) { n.Jitter = new(math.NaN()) }, "jitter", "is NaN"),
		job("negative timeout", func(n *rota.NewJob) { n.Timeout = new(-time.Hour) }, "timeout", "is -1h"),
	}
}

func claimRefusals() []refusal {
	return []refusal{
		breaks("no worker", func(c *rota.Claim) { c.Worker = "" }, "worker", "is empty"),
		breaks("no types", func(c *rota.Claim) { c.Types = nil }, "types", "has 0 entries"),
		breaks("an empty type", func(c *rota.Claim) { c.Types[1] = "" }, "types[1]", "is empty"),
		breaks("no limit", func(c *rota.Claim) { c.Limit = 0 }, "limit", "is 0; allowed are 1 to 1000"),
		breaks("high limit", func(c *rota.Claim) { c.Limit = rota.ClaimMax + 1 }, "limit", "is 1001"),
		breaks("short lease", func(c *rota.Claim) { c.Lease = rota.LeaseMin - 1 }, "lease", "is 999.999999ms; allowed are 1s to 1h"),
		breaks("long lease", func(c *rota.Claim) { c.Lease = rota.LeaseMax + 1 }, "lease", "allowed are 1s to 1h"),
		breaks("no seed", func(c *rota.Claim) { c.Seed = rota.Token{} }, "seed", "a random token"),
	}
}
