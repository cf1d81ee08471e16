package rota

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// refusal is one wrong field: how to change a valid command, and the expected error.
type refusal struct {
	name   string
	change func(Command)
	field  string
	reason string
}

// breaks returns a refusal for a change of one type of command.
func breaks[T any](name string, change func(*T), field, reason string) refusal {
	return refusal{name, func(c Command) { change(any(c).(*T)) }, field, reason}
}

func TestSamplesAreValid(t *testing.T) {
	for i, c := range sampleCommands() {
		if err := CheckCommand(c); err != nil || reflect.TypeOf(c).Elem() != wireCommands[i+1] {
			t.Errorf("%s, sample %d: %v", c.Verb(), i, err)
		}
	}
	for name, c := range sampleVariants() {
		if err := CheckCommand(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	refusals := map[Verb][]refusal{
		VerbEnqueue:   append(enqueueRefusals(), policyRefusals()...),
		VerbClaim:     claimRefusals(),
		VerbExtend:    extendRefusals(),
		VerbNote:      noteRefusals(),
		VerbFinish:    finishRefusals(),
		VerbEdit:      editRefusals(),
		VerbMove:      moveRefusals(),
		VerbAll:       allRefusals(),
		VerbReady:     {breaks("limit", func(c *Ready) { c.Limit = SweepMax + 1 }, "limit", "is 1001; allowed are 0 to 1000")},
		VerbNormalise: {breaks("priority", func(c *Normalise) { c.Priority = PriorityMin - 1 }, "priority", "is -1000001")},
		VerbReap:      {breaks("limit", func(c *Reap) { c.Limit = -1 }, "limit", "is -1")},
		VerbCancel: {
			breaks("no job", func(c *Cancel) { c.JobID = ID{} }, "job_id", "is empty"),
			breaks("long reason", func(c *Cancel) { c.Reason = strings.Repeat("x", ReasonMax+1) }, "reason", "has 1025 bytes; at most 1024"),
		},
		VerbRecover: {
			breaks("no runner", func(c *Recover) { c.Runner = "" }, "runner", "is empty"),
			breaks("no life", func(c *Recover) { c.Incarnation = ID{} }, "incarnation", "is empty"),
			breaks("limit", func(c *Recover) { c.Limit = SweepMax + 1 }, "limit", "is 1001"),
		},
	}
	maps.Copy(refusals, definitionRefusals())
	maps.Copy(refusals, relationRefusals())
	for verb := range refusals {
		for _, r := range append(headRefusals(), refusals[verb]...) {
			t.Run(string(verb)+"/"+r.name, func(t *testing.T) { checkRefused(t, verb, r) })
		}
	}
	if len(refusals) != len(sampleCommands()) {
		t.Errorf("%d verbs are tested, there are %d", len(refusals), len(sampleCommands()))
	}
}

func checkRefused(t *testing.T, verb Verb, r refusal) {
	t.Helper()
	c := sampleOf(verb)
	r.change(c)
	var e *Error
	if err := CheckCommand(c); !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if e.Code != Invalid || e.Field != r.field || !strings.Contains(strings.TrimPrefix(e.Error(), e.Field), r.reason) {
		t.Errorf("got %s, field %q: %v\nwant field %q, a reason with %q", e.Code, e.Field, e, r.field, r.reason)
	}
}

func sampleOf(verb Verb) Command {
	for _, c := range sampleCommands() {
		if c.Verb() == verb {
			return c
		}
	}
	panic("no sample of " + verb)
}

func headRefusals() []refusal {
	return []refusal{
		{"no id", func(c Command) { c.Head().ID = ID{} }, "id", "is empty"},
		{"long actor", func(c Command) { c.Head().Actor = strings.Repeat("x", NameMax+1) }, "actor", "has 129 bytes; at most 128"},
		{"actor with NUL", func(c Command) { c.Head().Actor = "a\x00" }, "actor", "NUL"},
		{"later law", func(c Command) { c.Head().RulesVersion = RulesVersion + 1 }, "rules_version", "upgrade"},
		{"negative law", func(c Command) { c.Head().RulesVersion = -1 }, "rules_version", "is -1"},
	}
}

func job(name string, change func(*NewJob), field, reason string) refusal {
	return breaks(name, func(c *Enqueue) { change(&c.Jobs[1]) }, "jobs[1]."+field, reason)
}

func enqueueRefusals() []refusal {
	return []refusal{
		breaks("no jobs", func(c *Enqueue) { c.Jobs = nil }, "jobs", "has 0 entries; allowed are 1 to 10000"),
		breaks("many jobs", func(c *Enqueue) { c.Jobs = make([]NewJob, JobsMax+1) }, "jobs", "has 10001 entries"),
		breaks("an id twice", func(c *Enqueue) { c.Jobs[1].ID = c.Jobs[0].ID }, "jobs[1].id", "is also the id of jobs[0]"),
		job("no type", func(n *NewJob) { n.Type = "" }, "type", "is empty"),
		job("a type of an internal type of Rota", func(n *NewJob) { n.Type = TypeWebhook }, "type", `"rota.webhook" is an internal type of Rota`),
		job("a trace that is none", func(n *NewJob) { n.Trace = "here" }, "trace", `"here" has 4 bytes instead of 55`),
		job("long type", func(n *NewJob) { n.Type = strings.Repeat("x", NameMax+1) }, "type", "has 129 bytes"),
		job("type with a space", func(n *NewJob) { n.Type = "a b" }, "type", `"a b" contains ' '; allowed are letters`),
		job("name with a letter beyond ASCII", func(n *NewJob) { n.Name = "größe" }, "name", `"größe" contains 'ö'`),
		job("params cut off", func(n *NewJob) { n.Params = json.RawMessage(`{"a":`) }, "params", "is not JSON"),
		job("params of no bytes", func(n *NewJob) { n.Params = json.RawMessage{} }, "params", "is not JSON"),
		job("params of blanks", func(n *NewJob) { n.Params = json.RawMessage(" \n") }, "params", "is not JSON"),
		job("params a list", func(n *NewJob) { n.Params = json.RawMessage(` [1]`) }, "params", "is not a JSON object"),
		job("params null", func(n *NewJob) { n.Params = json.RawMessage(`null`) }, "params", "is not a JSON object"),
		job("deep params", func(n *NewJob) { n.Params = deep() }, "params", "is nested more than 500 deep"),
		job("params not UTF-8", func(n *NewJob) { n.Params = json.RawMessage("{\"a\":\"\xff\"}") }, "params", "UTF-8"),
		job("large params", func(n *NewJob) { n.Params = make(json.RawMessage, ParamsMax+1) }, "params", "has 1048577 bytes; at most 1048576"),
		job("high priority", func(n *NewJob) { n.Priority = new(PriorityMax + 1) }, "priority", "is 1000001; allowed are -1000000 to 1000000"),
		job("run_at before 1970", func(n *NewJob) { n.Delay, n.RunAt = 0, time.Unix(-1, 0) }, "run_at", "the year 1969; allowed are 1970 to 9999"),
		job("negative delay", func(n *NewJob) { n.Delay = -time.Second }, "delay", "is -1s"),
		job("long delay", func(n *NewJob) { n.Delay = DelayMax + 1 }, "delay", "allowed are 0s to 87600h"),
		job("delay and run_at", func(n *NewJob) { n.RunAt = sampleTime }, "delay", "give one of them"),
		job("long unique_key", func(n *NewJob) { n.UniqueKey = strings.Repeat("k", KeyMax+1) }, "unique_key", "has 513 bytes"),
		job("unique_key with NUL", func(n *NewJob) { n.UniqueKey = "\x00" }, "unique_key", "NUL"),
		job("negative unique_for", func(n *NewJob) { n.UniqueKey, n.UniqueFor = "k", -1 }, "unique_for", "is -1ns"),
		job("unique_for alone", func(n *NewJob) { n.UniqueFor = time.Hour }, "unique_for", "without a unique_key"),
		job("long scope_kind", func(n *NewJob) { n.ScopeKind = strings.Repeat("x", NameMax+1) }, "scope_kind", "has 129 bytes"),
		job("scope_id not UTF-8", func(n *NewJob) { n.ScopeKind, n.ScopeID = "user", "\xff" }, "scope_id", "UTF-8"),
		job("scope_kind alone", func(n *NewJob) { n.ScopeKind = "user" }, "scope_id", `scope_kind is "user"; give both`),
		job("scope_id alone", func(n *NewJob) { n.ScopeID = "7" }, "scope_kind", `scope_id is "7"; give both`),
		job("plan_time far off", func(n *NewJob) { n.PlanTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "plan_time", "the year 10000"),
		job("template with a space", func(n *NewJob) { n.Template = "a b" }, "template", `"a b" contains ' '`),
		job("long concurrency_key", func(n *NewJob) { n.ConcurrencyKey = new(strings.Repeat("k", KeyMax+1)) }, "concurrency_key", "has 513 bytes"),
		job("concurrency_key with NUL", func(n *NewJob) { n.ConcurrencyKey = new("\x00") }, "concurrency_key", "NUL"),
	}
}

func policyRefusals() []refusal {
	return []refusal{
		job("negative retries", func(n *NewJob) { n.MaxRetries = new(-1) }, "max_retries", "is -1; allowed are 0 to 1000"),
		job("negative backoff", func(n *NewJob) { n.Backoff = new(time.Duration(-1)) }, "backoff", "is -1ns"),
		job("long backoff_max", func(n *NewJob) { n.BackoffMax = new(DelayMax + 1) }, "backoff_max", "allowed are 0s to"),
		job("jitter above one", func(n *NewJob) { n.Jitter = new(1.5) }, "jitter", "is 1.5; it is a fraction"),
		job("jitter below zero", func(n *NewJob) { n.Jitter = new(-0.1) }, "jitter", "is -0.1"),
		job("jitter not a number", func(n *NewJob) { n.Jitter = new(math.NaN()) }, "jitter", "is NaN"),
		job("negative timeout", func(n *NewJob) { n.Timeout = new(-time.Hour) }, "timeout", "is -1h"),
	}
}

func claimRefusals() []refusal {
	return []refusal{
		breaks("no worker", func(c *Claim) { c.Worker = "" }, "worker", "is empty"),
		breaks("no types", func(c *Claim) { c.Types = nil }, "types", "has 0 entries"),
		breaks("an empty type", func(c *Claim) { c.Types[1] = "" }, "types[1]", "is empty"),
		breaks("no limit", func(c *Claim) { c.Limit = 0 }, "limit", "is 0; allowed are 1 to 1000"),
		breaks("high limit", func(c *Claim) { c.Limit = ClaimMax + 1 }, "limit", "is 1001"),
		breaks("short lease", func(c *Claim) { c.Lease = LeaseMin - 1 }, "lease", "is 999.999999ms; allowed are 1s to 1h"),
		breaks("long lease", func(c *Claim) { c.Lease = LeaseMax + 1 }, "lease", "allowed are 1s to 1h"),
		breaks("no seed", func(c *Claim) { c.Seed = Token{} }, "seed", "a random token"),
	}
}
