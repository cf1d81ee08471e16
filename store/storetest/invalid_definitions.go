package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Invalid fields of definitions, limits and webhooks.

var (
	longName      = strings.Repeat("x", rota.NameMax+1)
	longText      = strings.Repeat("x", rota.DescriptionMax+1)
	longKey       = strings.Repeat("x", rota.KeyMax+1)
	beyondMaxTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// badPolicies returns policy patches with one invalid field.
func badPolicies() map[string][]rota.PolicyPatch {
	return map[string][]rota.PolicyPatch{
		"max_retries": {{MaxRetries: new(-1)}, {MaxRetries: new(rota.MaxRetriesMax + 1)}},
		"backoff":     {{Backoff: new(-time.Second)}, {Backoff: new(time.Duration(1))}},
		"backoff_max": {{BackoffMax: new(time.Duration(rota.DelayMax + 1))}},
		"jitter":      {{Jitter: new(1.5)}, {Jitter: new(math.NaN())}, {Jitter: new(-0.1)}},
		"timeout":     {{Timeout: new(-time.Second)}},
	}
}

func withPolicies(cases []invalidCase, set func(string, rota.PolicyPatch) invalidCase) []invalidCase {
	for field, patches := range badPolicies() {
		for _, p := range patches {
			cases = append(cases, set(field, p))
		}
	}
	return cases
}

func invalidTypes() []invalidCase {
	set := func(field string, change func(*rota.PutType)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.typeCommand("mail", typeSpec)
			change(c)
			return c
		}}
	}
	return withPolicies([]invalidCase{
		set("name", func(c *rota.PutType) { c.Name = "" }),
		set("name", func(c *rota.PutType) { c.Name = "two words" }),
		set("name", func(c *rota.PutType) { c.Name = longName }),
		set("mode", func(c *rota.PutType) { c.Mode = "upsert" }),
		set("description", func(c *rota.PutType) { c.Spec.Description = longText }),
		set("description", func(c *rota.PutType) { c.Spec.Description = "a\xff" }),
		set("schema", func(c *rota.PutType) { c.Spec.Schema = json.RawMessage(`true`) }),
		set("schema", func(c *rota.PutType) { c.Spec.Schema = oversized(rota.SchemaMax) }),
	}, func(field string, p rota.PolicyPatch) invalidCase {
		return set(field, func(c *rota.PutType) { c.Spec.Policy = p })
	})
}

func invalidTemplates() []invalidCase {
	set := func(field string, change func(*rota.PutTemplate)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.templateCommand("letter", templateSpec)
			change(c)
			return c
		}}
	}
	return withPolicies([]invalidCase{
		set("name", func(c *rota.PutTemplate) { c.Name = "" }),
		set("mode", func(c *rota.PutTemplate) { c.Mode = "upsert" }),
		set("recreate", func(c *rota.PutTemplate) { c.Mode, c.Recreate = rota.PutCreate, true }),
		set("type", func(c *rota.PutTemplate) { c.Spec.Type = "" }),
		set("type", func(c *rota.PutTemplate) { c.Spec.Type = "two words" }),
		set("type", func(c *rota.PutTemplate) { c.Spec.Type = rota.TypeWebhook }),
		set("description", func(c *rota.PutTemplate) { c.Spec.Description = longText }),
		set("params", func(c *rota.PutTemplate) { c.Spec.Params = json.RawMessage(`[]`) }),
		set("params", func(c *rota.PutTemplate) { c.Spec.Params = oversized(rota.ParamsMax) }),
		set("priority", func(c *rota.PutTemplate) { c.Spec.Priority = new(rota.PriorityMax + 1) }),
		set("unique_for", func(c *rota.PutTemplate) { c.Spec.UniqueFor = -1 }),
		set("concurrency_key", func(c *rota.PutTemplate) { c.Spec.ConcurrencyKey = longKey }),
		set("webhooks[0].url", func(c *rota.PutTemplate) { c.Spec.Webhooks = []rota.Webhook{{URL: "here", Secret: "s"}} }),
		set("webhooks[0].events[0]", func(c *rota.PutTemplate) { c.Spec.Webhooks = []rota.Webhook{hook("a", rota.EventScheduleFired)} }),
	}, func(field string, p rota.PolicyPatch) invalidCase {
		return set(field, func(c *rota.PutTemplate) { c.Spec.Policy = p })
	})
}

func invalidWebhooks() []invalidCase {
	set := func(field string, change func(*rota.PutWebhooks)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.webhooksCommand(hook("a"), hook("b", rota.EventJobFailed, rota.EventJobDead))
			change(c)
			return c
		}}
	}
	address := func(url string) invalidCase {
		return set("webhooks[1].url", func(c *rota.PutWebhooks) { c.Spec[1].URL = url })
	}
	return []invalidCase{
		address(""),
		address("b.example/hook"),
		address("ftp://b.example/hook"),
		address("https:///hook"),
		address("https://b.example:port/"),
		address("https://ada:secret@b.example/"),
		address("https://b.example/\x00"),
		address("https://b.example/" + strings.Repeat("x", rota.URLMax)),
		address(hook("a").URL),
		set("webhooks[1].secret", func(c *rota.PutWebhooks) { c.Spec[1].Secret = "" }),
		set("webhooks[1].secret", func(c *rota.PutWebhooks) { c.Spec[1].Secret = longKey }),
		set("webhooks[1].events[0]", func(c *rota.PutWebhooks) { c.Spec[1].Events[0] = "job.born" }),
		set("webhooks[1].events[0]", func(c *rota.PutWebhooks) { c.Spec[1].Events[0] = rota.EventJobStopping }),
		set("webhooks[1].events[1]", func(c *rota.PutWebhooks) { c.Spec[1].Events[1] = rota.EventJobFailed }),
		set("webhooks", func(c *rota.PutWebhooks) { c.Spec = slices.Repeat(c.Spec, rota.WebhooksMax/2+1) }),
	}
}

func invalidThrottles() []invalidCase {
	set := func(field string, change func(*rota.ThrottleSpec)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := &rota.PutThrottle{Meta: fx.ids.meta(), Spec: rota.ThrottleSpec{
				Types: []rota.TypeLimit{{Type: "a", Concurrency: 1}, {Type: "b", Rate: rota.Rate{Count: 1, Per: time.Second}}},
				Keys:  []rota.KeyLimit{{Key: "a", Concurrency: 1}, {Key: "b", Concurrency: 1}},

				EachKey:       []rota.EachKeyLimit{{Pattern: "a*", Concurrency: 1}, {Pattern: "b*", Concurrency: 1}},
				EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "a", Concurrency: 1}, {Type: "b", Concurrency: 1}},
			}}
			change(&c.Spec)
			return c
		}}
	}
	return []invalidCase{
		set("global", func(s *rota.ThrottleSpec) { s.Global = -1 }),
		set("global", func(s *rota.ThrottleSpec) { s.Global = rota.LimitMax + 1 }),
		set("keys", func(s *rota.ThrottleSpec) { s.Keys = slices.Repeat(s.Keys, rota.ThrottleMax/2) }),
		set("types[1].type", func(s *rota.ThrottleSpec) { s.Types[1].Type = "" }),
		set("types[1].type", func(s *rota.ThrottleSpec) { s.Types[1].Type = "a" }),
		set("types[0].concurrency", func(s *rota.ThrottleSpec) { s.Types[0].Concurrency = 0 }),
		set("types[0].concurrency", func(s *rota.ThrottleSpec) { s.Types[0].Concurrency = -1 }),
		set("types[1].rate.count", func(s *rota.ThrottleSpec) { s.Types[1].Rate.Count = 0 }),
		set("types[1].rate.per", func(s *rota.ThrottleSpec) { s.Types[1].Rate.Per = rota.RatePerMin - 1 }),
		set("types[1].rate.per", func(s *rota.ThrottleSpec) { s.Types[1].Rate.Per = rota.RatePerMax + 1 }),
		set("keys[1].key", func(s *rota.ThrottleSpec) { s.Keys[1].Key = "" }),
		set("keys[1].key", func(s *rota.ThrottleSpec) { s.Keys[1].Key = "a" }),
		set("keys[1].key", func(s *rota.ThrottleSpec) { s.Keys[1].Key = longKey }),
		set("keys[1].concurrency", func(s *rota.ThrottleSpec) { s.Keys[1].Concurrency = 0 }),
		set("keys[1].concurrency", func(s *rota.ThrottleSpec) { s.Keys[1].Concurrency = rota.KeyLimitMax + 1 }),
		set("each_key[1].pattern", func(s *rota.ThrottleSpec) { s.EachKey[1].Pattern = "" }),
		set("each_key[1].pattern", func(s *rota.ThrottleSpec) { s.EachKey[1].Pattern = "b" }),
		set("each_key[1].pattern", func(s *rota.ThrottleSpec) { s.EachKey[1].Pattern = "*b" }),
		set("each_key[1].pattern", func(s *rota.ThrottleSpec) { s.EachKey[1].Pattern = "a*" }),
		set("each_key[1].pattern", func(s *rota.ThrottleSpec) { s.EachKey[1].Pattern = longKey + "*" }),
		set("each_key[1].concurrency", func(s *rota.ThrottleSpec) { s.EachKey[1].Concurrency = 0 }),
		set("each_key_of_type[1].type", func(s *rota.ThrottleSpec) { s.EachKeyOfType[1].Type = "" }),
		set("each_key_of_type[1].type", func(s *rota.ThrottleSpec) { s.EachKeyOfType[1].Type = "a" }),
		set("each_key_of_type[1].concurrency", func(s *rota.ThrottleSpec) { s.EachKeyOfType[1].Concurrency = rota.KeyLimitMax + 1 }),
	}
}

func invalidSchedules() []invalidCase {
	set := func(field string, change func(*rota.PutSchedule)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.declareCommand("hourly", rota.ScheduleSpec{})
			change(c)
			return c
		}}
	}
	spec := func(field string, change func(*rota.ScheduleSpec)) invalidCase {
		return set(field, func(c *rota.PutSchedule) { change(&c.Spec) })
	}
	cases := []invalidCase{
		set("name", func(c *rota.PutSchedule) { c.Name = "" }),
		set("mode", func(c *rota.PutSchedule) { c.Mode = "upsert" }),
		set("state", func(c *rota.PutSchedule) { c.State = "enabled" }),
		set("anchor", func(c *rota.PutSchedule) { c.Anchor = beyondMaxTime }),
		set("next", func(c *rota.PutSchedule) { c.Next = beyondMaxTime }),
		spec("template", func(s *rota.ScheduleSpec) { s.Template = "" }),
		spec("description", func(s *rota.ScheduleSpec) { s.Description = longText }),
		spec("params", func(s *rota.ScheduleSpec) { s.Params = json.RawMessage(`1`) }),
		spec("priority", func(s *rota.ScheduleSpec) { s.Priority = new(rota.PriorityMin - 1) }),
		spec("catch_up", func(s *rota.ScheduleSpec) { s.CatchUp = "some" }),
		spec("overlap", func(s *rota.ScheduleSpec) { s.Overlap = "forbid" }),
		spec("on_completion", func(s *rota.ScheduleSpec) { s.OnCompletion = "keep" }),
		spec("on_completion", func(s *rota.ScheduleSpec) { s.OnCompletion = rota.CompletionDrop }),
		spec("scopes[1]", func(s *rota.ScheduleSpec) { s.Scopes = []rota.Scope{tenants[0], {Kind: "t"}} }),
		spec("scopes[0].id", func(s *rota.ScheduleSpec) { s.Scopes = []rota.Scope{{Kind: "t", ID: "\xff"}} }),
		spec("scopes", func(s *rota.ScheduleSpec) { s.Scopes = slices.Repeat(tenants, rota.ScopesMax) }),
		spec("depends_on", func(s *rota.ScheduleSpec) { s.DependsOn = manyNames(rota.DependsMax + 1) }),
		spec("depends_on[0]", func(s *rota.ScheduleSpec) { s.DependsOn = []string{"two words"} }),
		spec("depends_on[1]", func(s *rota.ScheduleSpec) { s.DependsOn = []string{"a", "hourly"} }),
	}
	cases = append(cases, invalidTimes(spec)...)
	return withPolicies(cases, func(field string, p rota.PolicyPatch) invalidCase {
		return spec(field, func(s *rota.ScheduleSpec) { s.Policy = p })
	})
}

func manyNames(count int) (names []string) {
	for i := range count {
		names = append(names, fmt.Sprint("n", i))
	}
	return names
}

func invalidTimes(spec func(string, func(*rota.ScheduleSpec)) invalidCase) []invalidCase {
	return []invalidCase{
		spec("cron", func(s *rota.ScheduleSpec) { s.Every = 0 }),
		spec("cron", func(s *rota.ScheduleSpec) { s.Cron = "@hourly" }),
		spec("cron", func(s *rota.ScheduleSpec) { s.At = startTime.AddDate(1, 0, 0) }),
		spec("cron", func(s *rota.ScheduleSpec) { s.Every, s.Cron = 0, "61 * * * *" }),
		spec("cron", func(s *rota.ScheduleSpec) { s.Every, s.Cron = 0, "@every 5m" }),
		spec("cron", func(s *rota.ScheduleSpec) { s.Every, s.Cron = 0, "0 0 31 2 *" }),
		spec("every", func(s *rota.ScheduleSpec) { s.Every = -time.Second }),
		spec("every", func(s *rota.ScheduleSpec) { s.Every = time.Microsecond }),
		spec("timezone", func(s *rota.ScheduleSpec) { s.Every, s.Cron, s.Zone = 0, "@daily", longName }),
		spec("at", func(s *rota.ScheduleSpec) { s.Every, s.At = 0, beyondMaxTime }),
		spec("at", func(s *rota.ScheduleSpec) {
			s.Every, s.At, s.EndsAt = 0, startTime.AddDate(1, 0, 0), startTime.AddDate(2, 0, 0)
		}),
		spec("starts_at", func(s *rota.ScheduleSpec) { s.StartsAt = beyondMaxTime }),
		spec("ends_at", func(s *rota.ScheduleSpec) {
			s.StartsAt, s.EndsAt = startTime.AddDate(2, 0, 0), startTime.AddDate(1, 0, 0)
		}),
	}
}

// invalidNames returns the commands that refer to a row by name or id, without it.
func invalidNames() []invalidCase {
	return []invalidCase{
		{"name", func(fx *fixture) rota.Command { return &rota.SwitchType{Meta: fx.ids.meta(), Paused: true} }},
		{"name", func(fx *fixture) rota.Command { return &rota.Archive{Meta: fx.ids.meta()} }},
		{"name", func(fx *fixture) rota.Command { return &rota.Unarchive{Meta: fx.ids.meta(), Name: "two words"} }},
		{"name", func(fx *fixture) rota.Command { return &rota.DeleteSchedule{Meta: fx.ids.meta()} }},
		{"name", func(fx *fixture) rota.Command { return &rota.Drop{Meta: fx.ids.meta()} }},
		{"name", func(fx *fixture) rota.Command { return &rota.SetOwner{Meta: fx.ids.meta(), Owner: rota.AdminUser} }},
		{"owner", func(fx *fixture) rota.Command { return &rota.SetOwner{Meta: fx.ids.meta(), Name: "nightly"} }},
		{"name", func(fx *fixture) rota.Command { return fx.switchCommand("", rota.SchedulePaused, time.Time{}) }},
		{"state", func(fx *fixture) rota.Command { return fx.switchCommand("nightly", "OFF", time.Time{}) }},
		{"next", func(fx *fixture) rota.Command { return fx.switchCommand("nightly", rota.SchedulePaused, startTime) }},
		{"next", func(fx *fixture) rota.Command {
			return fx.switchCommand("nightly", rota.ScheduleEnabled, beyondMaxTime)
		}},
		{"group_id", func(fx *fixture) rota.Command { return &rota.CancelGroup{Meta: fx.ids.meta()} }},
		{"reservation_id", func(fx *fixture) rota.Command { return &rota.Release{Meta: fx.ids.meta()} }},
		{"node", func(fx *fixture) rota.Command { return &rota.Reserve{Meta: fx.ids.meta()} }},
		{"for", func(fx *fixture) rota.Command {
			return &rota.Reserve{Meta: fx.ids.meta(), Node: "w1", For: rota.ReservationMax + 1}
		}},
		{"for", func(fx *fixture) rota.Command { return &rota.Reserve{Meta: fx.ids.meta(), Node: "w1", For: -1} }},
		{"job_id", func(fx *fixture) rota.Command { return &rota.Redrive{Meta: fx.ids.meta()} }},
		{"params", func(fx *fixture) rota.Command {
			return &rota.Redrive{Meta: fx.ids.meta(), JobID: fx.queued.ID, Params: []byte(`"text"`)}
		}},
		{"params", func(fx *fixture) rota.Command {
			return &rota.Redrive{Meta: fx.ids.meta(), JobID: fx.queued.ID, Params: oversized(rota.ParamsMax)}
		}},
	}
}
