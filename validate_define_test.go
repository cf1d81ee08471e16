package rota_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/internal/samples"
)

func definitionRefusals() map[rota.Verb][]refusal {
	return map[rota.Verb][]refusal{
		rota.VerbPutType:        append(putTypeRefusals(), patchRefusals(func(c rota.Command) *rota.PolicyPatch { return &c.(*rota.PutType).Spec.Policy })...),
		rota.VerbPutTemplate:    append(putTemplateRefusals(), patchRefusals(func(c rota.Command) *rota.PolicyPatch { return &c.(*rota.PutTemplate).Spec.Policy })...),
		rota.VerbPutThrottle:    slices.Concat(putThrottleRefusals(), keyLimitRefusals(), eachKeyRefusals()),
		rota.VerbPutWebhooks:    putWebhooksRefusals(),
		rota.VerbPutSchedule:    putScheduleRefusals(),
		rota.VerbSwitchType:     {breaks("no name", func(c *rota.SwitchType) { c.Name = "" }, "name", "is empty")},
		rota.VerbArchive:        {breaks("no name", func(c *rota.Archive) { c.Name = "" }, "name", "is empty")},
		rota.VerbUnarchive:      {breaks("no name", func(c *rota.Unarchive) { c.Name = "" }, "name", "is empty")},
		rota.VerbDeleteSchedule: {breaks("no name", func(c *rota.DeleteSchedule) { c.Name = "" }, "name", "is empty")},
		rota.VerbDrop:           {breaks("no name", func(c *rota.Drop) { c.Name = "" }, "name", "is empty")},
		rota.VerbSetOwner: {
			breaks("no name", func(c *rota.SetOwner) { c.Name = "" }, "name", "is empty"),
			breaks("no owner", func(c *rota.SetOwner) { c.Owner = "" }, "owner", "is empty"),
			breaks("an owner with a space", func(c *rota.SetOwner) { c.Owner = "a b" }, "owner", "allowed are letters"),
			breaks("an unknown kind", func(c *rota.SetOwner) { c.Kind = "job" }, "kind", `is "job"; allowed are template, schedule`),
			breaks("a version without a kind", func(c *rota.SetOwner) { c.Version = new(rota.NewID()) }, "kind", "allowed are template, schedule"),
		},
		rota.VerbSwitchSchedule: {
			breaks("no name", func(c *rota.SwitchSchedule) { c.Name = "" }, "name", "is empty"),
			breaks("no state", func(c *rota.SwitchSchedule) { c.State = "" }, "state", `is ""; allowed are ENABLED, DISABLED, PAUSED`),
			breaks("an unknown state", func(c *rota.SwitchSchedule) { c.State = "off" }, "state", `is "off"; allowed are ENABLED`),
			breaks("next before 1970", func(c *rota.SwitchSchedule) { c.Next = time.Unix(-1, 0) }, "next", "the year 1969"),
			breaks("next of a paused one", func(c *rota.SwitchSchedule) { c.State = rota.SchedulePaused }, "next", "that is PAUSED has no next fire"),
			breaks("next of a disabled one", func(c *rota.SwitchSchedule) { c.State = rota.ScheduleDisabled }, "next", "that is DISABLED has no next fire"),
		},
	}
}

func patchRefusals(patch func(rota.Command) *rota.PolicyPatch) []refusal {
	wrong := func(name string, change func(*rota.PolicyPatch), field, reason string) refusal {
		return refusal{name, func(c rota.Command) { change(patch(c)) }, field, reason}
	}
	return []refusal{
		wrong("negative retries", func(p *rota.PolicyPatch) { p.MaxRetries = new(-1) }, "max_retries", "is -1; allowed are 0 to 1000"),
		wrong("long backoff", func(p *rota.PolicyPatch) { p.Backoff = new(rota.DelayMax + 1) }, "backoff", "allowed are 0s to"),
		wrong("negative backoff_max", func(p *rota.PolicyPatch) { p.BackoffMax = new(-time.Second) }, "backoff_max", "is -1s"),
		wrong("jitter above one", func(p *rota.PolicyPatch) { p.Jitter = new(1.5) }, "jitter", "is 1.5; it is a fraction"),
		wrong("a timeout of nothing", func(p *rota.PolicyPatch) { p.Timeout = new(time.Duration(1)) }, "timeout", "the shortest duration that is stored is 1µs"),
	}
}

// deep is an object one level deeper than allowed.
func deep() json.RawMessage {
	return json.RawMessage(`{"a":` + string(nested(rota.DepthMax)) + `}`)
}

func putTypeRefusals() []refusal {
	return []refusal{
		breaks("no name", func(c *rota.PutType) { c.Name = "" }, "name", "is empty"),
		breaks("a name with a space", func(c *rota.PutType) { c.Name = "a b" }, "name", "allowed are letters"),
		breaks("an unknown mode", func(c *rota.PutType) { c.Mode = "new" }, "mode", `is "new"; allowed are create, replace`),
		breaks("a long description", func(c *rota.PutType) { c.Spec.Description = strings.Repeat("x", rota.DescriptionMax+1) }, "description", "has 4097 bytes"),
		breaks("a description with NUL", func(c *rota.PutType) { c.Spec.Description = "\x00" }, "description", "NUL"),
		breaks("schema a list", func(c *rota.PutType) { c.Spec.Schema = json.RawMessage("[]") }, "schema", "is not a JSON object"),
		breaks("schema cut off", func(c *rota.PutType) { c.Spec.Schema = json.RawMessage("{") }, "schema", "is not JSON"),
		breaks("a large schema", func(c *rota.PutType) { c.Spec.Schema = make(json.RawMessage, rota.SchemaMax+1) }, "schema", "has 262145 bytes"),
		breaks("a deep schema", func(c *rota.PutType) { c.Spec.Schema = deep() }, "schema", "is nested more than 500 deep"),
	}
}

func putTemplateRefusals() []refusal {
	return []refusal{
		breaks("no name", func(c *rota.PutTemplate) { c.Name = "" }, "name", "is empty"),
		breaks("an unknown mode", func(c *rota.PutTemplate) { c.Mode = "new" }, "mode", `is "new"`),
		breaks("a sole user with a space", func(c *rota.PutTemplate) { c.OnlySchedule = "a b" }, "only_schedule", "allowed are letters"),
		breaks("no type", func(c *rota.PutTemplate) { c.Spec.Type = "" }, "type", "is empty"),
		breaks("a type of an internal type of Rota", func(c *rota.PutTemplate) { c.Spec.Type = rota.TypeWebhook }, "type", "an internal type of Rota"),
		breaks("a webhook without a secret", func(c *rota.PutTemplate) { c.Spec.Webhooks[0].Secret = "" }, "webhooks[0].secret", "is missing"),
		breaks("a template webhook with a schedule event", func(c *rota.PutTemplate) { c.Spec.Webhooks[0].Events[0] = rota.EventScheduleFired },
			"webhooks[0].events[0]", `"schedule.fired" is not an event of this webhook`),
		breaks("a long description", func(c *rota.PutTemplate) { c.Spec.Description = strings.Repeat("x", rota.DescriptionMax+1) }, "description", "has 4097 bytes"),
		breaks("params null", func(c *rota.PutTemplate) { c.Spec.Params = json.RawMessage("null") }, "params", "is not a JSON object"),
		breaks("large params", func(c *rota.PutTemplate) { c.Spec.Params = make(json.RawMessage, rota.ParamsMax+1) }, "params", "has 1048577 bytes"),
		breaks("deep params", func(c *rota.PutTemplate) { c.Spec.Params = deep() }, "params", "is nested more than 500 deep"),
		breaks("high priority", func(c *rota.PutTemplate) { c.Spec.Priority = new(rota.PriorityMax + 1) }, "priority", "is 1000001"),
		breaks("negative unique_for", func(c *rota.PutTemplate) { c.Spec.UniqueFor = -time.Hour }, "unique_for", "is -1h"),
		breaks("long concurrency_key", func(c *rota.PutTemplate) { c.Spec.ConcurrencyKey = strings.Repeat("k", rota.KeyMax+1) }, "concurrency_key", "has 513 bytes"),
	}
}

func putThrottleRefusals() []refusal {
	limit := func(name string, change func(*rota.TypeLimit), field, reason string) refusal {
		return breaks(name, func(c *rota.PutThrottle) { change(&c.Spec.Types[0]) }, "types[0]."+field, reason)
	}
	return []refusal{
		breaks("a negative global", func(c *rota.PutThrottle) { c.Spec.Global = -1 }, "global", "is -1; allowed are 0 to 100000"),
		breaks("a high global", func(c *rota.PutThrottle) { c.Spec.Global = rota.LimitMax + 1 }, "global", "is 100001"),
		breaks("many entries", func(c *rota.PutThrottle) { c.Spec.Types = make([]rota.TypeLimit, rota.ThrottleMax) }, "types", "has 1000 entries, and all limits of types and keys together have 1001; allowed are 1000 together; remove some"),
		limit("no type", func(l *rota.TypeLimit) { l.Type = "" }, "type", "is empty"),
		limit("a bad type", func(l *rota.TypeLimit) { l.Type = "b d" }, "type", `"b d" contains ' '; allowed are`),
		limit("a negative concurrency", func(l *rota.TypeLimit) { l.Concurrency = -1 }, "concurrency", `is -1 for type "mail.send"; allowed are 0 to 100000`),
		limit("no limit", func(l *rota.TypeLimit) { *l = rota.TypeLimit{Type: l.Type} }, "concurrency", `neither concurrency nor rate is given for type "mail.send"; to stop a type, pause it`),
		limit("a rate of nothing", func(l *rota.TypeLimit) { l.Rate.Count = 0 }, "rate.count", `is 0 for type "mail.send"; allowed are 1 to 100000`),
		limit("a negative rate", func(l *rota.TypeLimit) { l.Rate.Count = -5 }, "rate.count", "is -5"),
		limit("a rate without a period", func(l *rota.TypeLimit) { l.Rate.Per = 0 }, "rate.per", `is 0s for type "mail.send"; allowed are 1s to 24h`),
		limit("a short period", func(l *rota.TypeLimit) { l.Rate.Per = rota.RatePerMin - 1 }, "rate.per", "is 999.999999ms"),
		limit("a long period", func(l *rota.TypeLimit) { l.Rate.Per = rota.RatePerMax + 1 }, "rate.per", "allowed are 1s to 24h"),
		breaks("a type twice", func(c *rota.PutThrottle) { c.Spec.Types = append(c.Spec.Types, c.Spec.Types[0]) },
			"types[1].type", `"mail.send" is listed twice; list each type once`),
	}
}

func keyLimitRefusals() []refusal {
	limit := func(name string, change func(*rota.KeyLimit), field, reason string) refusal {
		return breaks(name, func(c *rota.PutThrottle) { change(&c.Spec.Keys[0]) }, "keys[0]."+field, reason)
	}
	return []refusal{
		limit("no key", func(l *rota.KeyLimit) { l.Key = "" }, "key", "is empty"),
		limit("a long key", func(l *rota.KeyLimit) { l.Key = strings.Repeat("k", rota.KeyMax+1) }, "key", "has 513 bytes"),
		limit("a key without limit", func(l *rota.KeyLimit) { l.Concurrency = 0 }, "concurrency", `is 0 for key "tenant:7"; allowed are 1 to 1000; omit the entry to remove the limit`),
		limit("a negative limit of a key", func(l *rota.KeyLimit) { l.Concurrency = -2 }, "concurrency", "is -2"),
		limit("a high limit of a key", func(l *rota.KeyLimit) { l.Concurrency = rota.KeyLimitMax + 1 }, "concurrency", "is 1001"),
		breaks("a key twice", func(c *rota.PutThrottle) { c.Spec.Keys = append(c.Spec.Keys, c.Spec.Keys[0]) },
			"keys[1].key", `"tenant:7" is listed twice; list each key once`),
	}
}

// spec returns a case with a wrong specification of a schedule.
func spec(name string, change func(*rota.ScheduleSpec), field, reason string) refusal {
	return breaks(name, func(c *rota.PutSchedule) { change(&c.Spec) }, field, reason)
}

func putScheduleRefusals() []refusal {
	all := []refusal{
		breaks("no name", func(c *rota.PutSchedule) { c.Name = "" }, "name", "is empty"),
		breaks("an unknown mode", func(c *rota.PutSchedule) { c.Mode = "upsert" }, "mode", `is "upsert"`),
		breaks("an unknown state", func(c *rota.PutSchedule) { c.State = "on" }, "state", `is "on"; allowed are ENABLED, DISABLED, PAUSED`),
		breaks("recreate in mode create", func(c *rota.PutSchedule) { c.Mode, c.Recreate = rota.PutCreate, true }, "recreate", "mode create refuses one"),
		breaks("anchor before 1970", func(c *rota.PutSchedule) { c.Anchor = time.Unix(-1, 0) }, "anchor", "the year 1969"),
		breaks("next far off", func(c *rota.PutSchedule) { c.Next = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "next", "the year 10000"),
		spec("no template", func(s *rota.ScheduleSpec) { s.Template = "" }, "template", "is empty"),
		spec("a long description", func(s *rota.ScheduleSpec) { s.Description = strings.Repeat("x", rota.DescriptionMax+1) }, "description", "has 4097 bytes"),
		spec("params a number", func(s *rota.ScheduleSpec) { s.Params = json.RawMessage("7") }, "params", "is not a JSON object"),
		spec("deep params", func(s *rota.ScheduleSpec) { s.Params = deep() }, "params", "is nested more than 500 deep"),
		spec("low priority", func(s *rota.ScheduleSpec) { s.Priority = new(rota.PriorityMin - 1) }, "priority", "is -1000001"),
		spec("an unknown catch_up", func(s *rota.ScheduleSpec) { s.CatchUp = "some" }, "catch_up", `is "some"; allowed are none, last, all`),
		spec("an unknown overlap", func(s *rota.ScheduleSpec) { s.Overlap = "queue" }, "overlap", `is "queue"; allowed are allow, skip, cancel`),
		spec("on_completion drop without at", func(s *rota.ScheduleSpec) { s.OnCompletion = rota.CompletionDrop }, "on_completion", "only a schedule with at completes"),
		spec("an unknown on_completion", func(s *rota.ScheduleSpec) { s.OnCompletion = "keep" }, "on_completion", `is "keep"; allowed are preserve, drop`),
	}
	all = append(all, timesRefusals()...)
	all = append(all, scopeRefusals()...)
	all = append(all, partitionRefusals()...)
	return append(all, patchRefusals(func(c rota.Command) *rota.PolicyPatch { return &c.(*rota.PutSchedule).Spec.Policy })...)
}

func timesRefusals() []refusal {
	every := func(d time.Duration) func(*rota.ScheduleSpec) {
		return func(s *rota.ScheduleSpec) { s.Cron, s.Zone, s.Every = "", "", d }
	}
	return []refusal{
		spec("no times", func(s *rota.ScheduleSpec) { s.Cron, s.Zone = "", "" }, "cron", "none of cron, at and every is given; a schedule needs one"),
		spec("cron and at", func(s *rota.ScheduleSpec) { s.At = samples.Time }, "cron", "more than one of cron, at and every is given"),
		spec("cron and every", func(s *rota.ScheduleSpec) { s.Every = time.Hour }, "cron", "more than one of cron, at and every is given"),
		spec("at and every", func(s *rota.ScheduleSpec) { s.Cron, s.At, s.Every = "", samples.Time, time.Hour }, "cron", "a schedule has one"),
		spec("a long zone", func(s *rota.ScheduleSpec) { s.Zone = strings.Repeat("x", rota.NameMax+1) }, "timezone", "has 129 bytes"),
		spec("at within bounds", func(s *rota.ScheduleSpec) { s.Cron, s.Zone, s.At = "", "", samples.Time }, "at", "starts_at or ends_at is also given"),
		spec("ends before it starts", func(s *rota.ScheduleSpec) { s.EndsAt = s.StartsAt.Add(-1) }, "ends_at", "is before starts_at"),
		spec("at before 1970", func(s *rota.ScheduleSpec) { *s = rota.ScheduleSpec{Template: "mail", At: time.Unix(-1, 0)} }, "at", "the year 1969"),
		spec("starts before 1970", func(s *rota.ScheduleSpec) { s.StartsAt = time.Unix(-1, 0) }, "starts_at", "the year 1969"),
		spec("ends far off", func(s *rota.ScheduleSpec) { s.EndsAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "ends_at", "the year 10000"),
		spec("a minute too many", func(s *rota.ScheduleSpec) { s.Cron = "61 * * * *" }, "cron", `minute: "61" is out of range; allowed 0-59`),
		spec("a field too few", func(s *rota.ScheduleSpec) { s.Cron = "0 9 * *" }, "cron", "has 4 fields; allowed 5 fields"),
		spec("a day that never comes", func(s *rota.ScheduleSpec) { s.Cron = "0 0 30 2 *" }, "cron", "never fires"),
		spec("an interval as cron", func(s *rota.ScheduleSpec) { s.Cron = "@every 5m" }, "cron", "write an interval, every 5m"),
		spec("a negative interval", every(-time.Hour), "every", "is -1h; allowed are 1ms to"),
		spec("a short interval", every(time.Microsecond), "every", "is 1µs; use whole milliseconds"),
		spec("an uneven interval", every(1500*time.Microsecond), "every", "is 1.5ms; use whole milliseconds"),
		spec("a long interval", every(cron.EveryMax+cron.EveryMin), "every", "allowed are 1ms to"),
	}
}

func scopeRefusals() []refusal {
	return []refusal{
		spec("many scopes", func(s *rota.ScheduleSpec) { s.Scopes = make([]rota.Scope, rota.ScopesMax+1) }, "scopes", "has 1001 entries; at most 1000"),
		spec("a scope without a kind", func(s *rota.ScheduleSpec) { s.Scopes[1].Kind = "" }, "scopes[1]", "has an empty kind or id; give both"),
		spec("a scope without an id", func(s *rota.ScheduleSpec) { s.Scopes[0].ID = "" }, "scopes[0]", "has an empty kind or id; give both"),
		spec("a long scope kind", func(s *rota.ScheduleSpec) { s.Scopes[1].Kind = strings.Repeat("x", rota.NameMax+1) }, "scopes[1].kind", "has 129 bytes"),
		spec("a scope id not UTF-8", func(s *rota.ScheduleSpec) { s.Scopes[1].ID = "\xff" }, "scopes[1].id", "UTF-8"),
		spec("many dependencies", func(s *rota.ScheduleSpec) { s.DependsOn = make([]string, rota.DependsMax+1) }, "depends_on", "has 101 entries; at most 100"),
		spec("an empty dependency", func(s *rota.ScheduleSpec) { s.DependsOn[1] = "" }, "depends_on[1]", "is empty"),
		spec("itself", func(s *rota.ScheduleSpec) { s.DependsOn[1] = "nightly" }, "depends_on[1]", "is the schedule itself, which is a cycle"),
	}
}

// Declare refuses what a store refuses, with the same field names, and unknown zones.
func TestDeclareRefuses(t *testing.T) {
	for _, r := range append(timesRefusals(), scopeRefusals()...) {
		c := sampleOf(rota.VerbPutSchedule).(*rota.PutSchedule)
		r.change(c)
		_, err := rota.Declare(c.Meta, c.Name, c.Spec, samples.Time)
		if e, ok := err.(*rota.Error); !ok || e.Code != rota.Invalid || e.Field != r.field || !strings.Contains(err.Error(), r.reason) {
			t.Errorf("%s: %v, want field %q, a reason with %q", r.name, err, r.field, r.reason)
		}
	}
	for zone, reason := range map[string]string{
		"Europe/Berln": "is not a known time zone; use an IANA name",
		"Berlin":       "did you mean Europe/Berlin?",
		"Local":        "depends on the machine",
		"../etc/x":     "is not a zone name",
	} {
		_, err := rota.Declare(samples.Meta(1), "nightly", rota.ScheduleSpec{Template: "mail", Cron: "0 9 * * *", Zone: zone}, samples.Time)
		if e, ok := err.(*rota.Error); !ok || e.Field != "timezone" || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", zone, err, reason)
		}
	}
	_, err := rota.Declare(samples.Meta(1), "nightly", rota.ScheduleSpec{Template: "mail", Cron: "0 9 * * *", Params: json.RawMessage("{")}, samples.Time)
	if e, ok := err.(*rota.Error); !ok || e.Field != "params" {
		t.Errorf("params that cannot be written: %v", err)
	}
}

// Values at the bounds are accepted.
func eachKeyRefusals() []refusal {
	one := func(name string, change func(*rota.EachKeyLimit), field, reason string) refusal {
		return breaks(name, func(c *rota.PutThrottle) {
			c.Spec.EachKey = []rota.EachKeyLimit{{Pattern: "tenant:*", Concurrency: 1}}
			change(&c.Spec.EachKey[0])
		}, "each_key[0]."+field, reason)
	}
	ofType := func(name string, change func(*rota.EachKeyOfTypeLimit), field, reason string) refusal {
		return breaks(name, func(c *rota.PutThrottle) {
			c.Spec.EachKeyOfType = []rota.EachKeyOfTypeLimit{{Type: "mail.send", Concurrency: 1}}
			change(&c.Spec.EachKeyOfType[0])
		}, "each_key_of_type[0]."+field, reason)
	}
	pattern := func(text string) func(*rota.EachKeyLimit) { return func(l *rota.EachKeyLimit) { l.Pattern = text } }
	return []refusal{
		one("no pattern", pattern(""), "pattern", "is empty; write a prefix and *, such as tenant:*, or * for every key"),
		one("a pattern that is one key", pattern("tenant:7"), "pattern", `"tenant:7" has no * at its end; write a prefix and *, such as tenant:*, or use keys for one key`),
		one("a pattern with a * inside", pattern("*:mail"), "pattern", `"*:mail" has a * before its end; write a prefix and *, such as tenant:*, or use keys for one key`),
		one("a pattern with two *", pattern("a*b*"), "pattern", "has a * before its end"),
		one("a long pattern", pattern(strings.Repeat("k", rota.KeyMax+1)+"*"), "pattern", "has 514 bytes; at most 513 are allowed"),
		one("a pattern without limit", func(l *rota.EachKeyLimit) { l.Concurrency = 0 }, "concurrency", `is 0 for pattern "tenant:*"; allowed are 1 to 1000; omit the entry to remove the limit`),
		one("a high limit of each key", func(l *rota.EachKeyLimit) { l.Concurrency = rota.KeyLimitMax + 1 }, "concurrency", "is 1001"),
		breaks("a pattern twice", func(c *rota.PutThrottle) { c.Spec.EachKey = []rota.EachKeyLimit{{"a*", 1}, {"a*", 2}} },
			"each_key[1].pattern", `"a*" is listed twice; list each pattern once`),
		ofType("no type of each key", func(l *rota.EachKeyOfTypeLimit) { l.Type = "" }, "type", "is empty"),
		ofType("a type of each key without limit", func(l *rota.EachKeyOfTypeLimit) { l.Concurrency = 0 }, "concurrency", `is 0 for type "mail.send"; allowed are 1 to 1000; omit the entry to remove the limit`),
		ofType("a high limit of each key of a type", func(l *rota.EachKeyOfTypeLimit) { l.Concurrency = rota.KeyLimitMax + 1 }, "concurrency", "is 1001"),
		breaks("a type of each key twice", func(c *rota.PutThrottle) { c.Spec.EachKeyOfType = []rota.EachKeyOfTypeLimit{{"a", 1}, {"a", 2}} },
			"each_key_of_type[1].type", `"a" is listed twice; list each type once`),
		breaks("many entries of all kinds", func(c *rota.PutThrottle) {
			c.Spec.EachKey, c.Spec.EachKeyOfType = make([]rota.EachKeyLimit, rota.ThrottleMax/2), make([]rota.EachKeyOfTypeLimit, rota.ThrottleMax/2)
		}, "each_key", "has 500 entries, and all limits of types and keys together have 1002"),
	}
}

func TestDefinitionsAcceptBounds(t *testing.T) {
	most := sampleOf(rota.VerbPutSchedule).(*rota.PutSchedule)
	most.Spec.Scopes, most.Spec.DependsOn = nil, nil
	for i := range rota.ScopesMax {
		most.Spec.Scopes = append(most.Spec.Scopes, rota.Scope{"user", fmt.Sprint(i)})
	}
	for i := range rota.DependsMax {
		most.Spec.DependsOn = append(most.Spec.DependsOn, fmt.Sprint("d", i))
	}
	throttle := &rota.PutThrottle{Meta: samples.Meta(1), Spec: rota.ThrottleSpec{Global: rota.LimitMax}}
	for i := range rota.ThrottleMax / 2 {
		throttle.Spec.Types = append(throttle.Spec.Types, rota.TypeLimit{Type: fmt.Sprint("t", i), Rate: rota.Rate{Count: rota.LimitMax, Per: rota.RatePerMax}})
		throttle.Spec.Keys = append(throttle.Spec.Keys, rota.KeyLimit{Key: fmt.Sprint("t", i), Concurrency: rota.KeyLimitMax})
	}
	for name, c := range map[string]rota.Command{
		"a full schedule":       most,
		"full limits":           throttle,
		"the widest pattern":    &rota.PutThrottle{Meta: samples.Meta(1), Spec: rota.ThrottleSpec{EachKey: []rota.EachKeyLimit{{"*", 1}, {strings.Repeat("k", rota.KeyMax) + "*", 1}}}},
		"no limits":             &rota.PutThrottle{Meta: samples.Meta(1)},
		"ends as it starts":     &rota.PutSchedule{Meta: samples.Meta(1), Name: "s", Spec: rota.ScheduleSpec{Template: "t", Cron: "@daily", StartsAt: samples.Time, EndsAt: samples.Time}},
		"the least interval":    &rota.PutSchedule{Meta: samples.Meta(1), Name: "s", Spec: rota.ScheduleSpec{Template: "t", Every: cron.EveryMin}},
		"the most":              &rota.PutSchedule{Meta: samples.Meta(1), Name: "s", Spec: rota.ScheduleSpec{Template: "t", Every: cron.EveryMax}},
		"a template of no more": &rota.PutTemplate{Meta: samples.Meta(1), Name: "t", Spec: rota.TemplateSpec{Type: "mail"}},
		"a type of nothing":     &rota.PutType{Meta: samples.Meta(1), Name: "mail"},
	} {
		if err := rota.CheckCommand(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
