package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Invalid fields of commands that fire, trigger, group, run directly, remember and prune.

func invalidFires() []invalidCase {
	set := func(field string, change func(*rota.Fire)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.fireCommand("nightly")
			change(c)
			return c
		}}
	}
	cases := []invalidCase{
		set("schedule", func(c *rota.Fire) { c.Schedule = "" }),
		set("version", func(c *rota.Fire) { c.Version = rota.ID{} }),
		set("expect", func(c *rota.Fire) { c.Expect = time.Time{} }),
		set("expect", func(c *rota.Fire) { c.Expect = beyondMaxTime }),
		set("next", func(c *rota.Fire) { c.Next = beyondMaxTime }),
		set("next", func(c *rota.Fire) { c.Next = c.Times[0].At }),
		set("missed", func(c *rota.Fire) { c.Missed = beyondMaxTime }),
		set("times", func(c *rota.Fire) { c.Times = manyTimes(c.Times[0].At, rota.FireJobsMax+1) }),
	}
	for field, invalidate := range badTimes() {
		cases = append(cases, set(field, func(c *rota.Fire) { c.Times, c.Next = invalidate(c.Times[0].At), time.Time{} }))
		cases = append(cases, invalidCase{field, func(fx *fixture) rota.Command {
			return &rota.Backfill{Meta: fx.ids.meta(), Schedule: "nightly", Times: invalidate(fx.now)}
		}})
	}
	return append(cases,
		invalidCase{"times", func(fx *fixture) rota.Command { return &rota.Backfill{Meta: fx.ids.meta(), Schedule: "nightly"} }},
		invalidCase{"times", func(fx *fixture) rota.Command {
			return &rota.Backfill{Meta: fx.ids.meta(), Schedule: "nightly", Times: manyTimes(fx.now, rota.BackfillMax+1)}
		}},
		invalidCase{"schedule", func(fx *fixture) rota.Command {
			return &rota.Backfill{Meta: fx.ids.meta(), Times: manyTimes(fx.now, 1)}
		}},
	)
}

// manyTimes returns count times, one second apart. The last one is given.
func manyTimes(last time.Time, count int) (times []rota.FireTime) {
	for i := range count {
		times = append(times, rota.FireTime{At: last.Add(time.Duration(i+1-count) * time.Second)})
	}
	return times
}

// badTimes returns pairs of times of which one is invalid, by field.
func badTimes() map[string]func(time.Time) []rota.FireTime {
	return map[string]func(time.Time) []rota.FireTime{
		"times[1].at": func(t time.Time) []rota.FireTime { return []rota.FireTime{{At: t}, {At: t}} },
		"times[0].at": func(t time.Time) []rota.FireTime { return []rota.FireTime{{}, {At: t}} },
		"times[1].from": func(t time.Time) []rota.FireTime {
			return []rota.FireTime{{At: t.Add(-1e9)}, {At: t, From: beyondMaxTime}}
		},
		"times[1].until": func(t time.Time) []rota.FireTime {
			return []rota.FireTime{{At: t.Add(-1e9)}, {At: t, Until: beyondMaxTime}}
		},
	}
}

func invalidTriggers() []invalidCase {
	set := func(field string, change func(*rota.Trigger)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := &rota.Trigger{Meta: fx.ids.meta(), Schedule: "nightly"}
			change(c)
			return c
		}}
	}
	return []invalidCase{
		set("schedule", func(c *rota.Trigger) { c.Schedule = "" }),
		set("params", func(c *rota.Trigger) { c.Params = json.RawMessage(`[1]`) }),
		set("params", func(c *rota.Trigger) { c.Params = oversized(rota.ParamsMax) }),
		set("priority", func(c *rota.Trigger) { c.Priority = new(rota.PriorityMax + 1) }),
	}
}

func invalidGroups() []invalidCase {
	set := func(field string, change func(*fixture, *rota.EnqueueGroup)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.groupCommand(rota.GroupSequential, rota.FailureStop, rota.NewJob{}, rota.NewJob{})
			change(fx, c)
			return c
		}}
	}
	return []invalidCase{
		set("name", func(_ *fixture, c *rota.EnqueueGroup) { c.Name = longName }),
		set("mode", func(_ *fixture, c *rota.EnqueueGroup) { c.Mode = "serial" }),
		set("on_failure", func(_ *fixture, c *rota.EnqueueGroup) { c.OnFailure = "retry" }),
		set("jobs", func(_ *fixture, c *rota.EnqueueGroup) { c.Jobs = nil }),
		set("jobs[1].type", func(_ *fixture, c *rota.EnqueueGroup) { c.Jobs[1].Type = "" }),
		set("jobs[1].plan_time", func(_ *fixture, c *rota.EnqueueGroup) { c.Jobs[1].PlanTime = startTime }),
		set("jobs[1].id", func(fx *fixture, c *rota.EnqueueGroup) { c.Jobs[0].ID = fx.ids.next(); c.Jobs[1].ID = c.Jobs[0].ID }),
		{"reason", func(fx *fixture) rota.Command {
			return &rota.CancelGroup{Meta: fx.ids.meta(), GroupID: fx.ids.next(), Reason: strings.Repeat("x", rota.ReasonMax+1)}
		}},
	}
}

func invalidDirects() []invalidCase {
	set := func(field string, change func(*rota.Direct)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.directCommand(fx.reserved, rota.NewJob{})
			change(c)
			return c
		}}
	}
	return []invalidCase{
		set("reservation_id", func(c *rota.Direct) { c.ReservationID = rota.ID{} }),
		set("lease", func(c *rota.Direct) { c.Lease = rota.LeaseMin - 1 }),
		set("lease", func(c *rota.Direct) { c.Lease = rota.LeaseMax + 1 }),
		set("seed", func(c *rota.Direct) { c.Seed = rota.Token{} }),
		set("job.type", func(c *rota.Direct) { c.Job.Type = "" }),
		set("job.params", func(c *rota.Direct) { c.Job.Params = json.RawMessage(`1`) }),
		set("job.run_at", func(c *rota.Direct) { c.Job.RunAt = startTime }),
		set("job.run_at", func(c *rota.Direct) { c.Job.Delay = time.Second }),
		set("job.unique_key", func(c *rota.Direct) { c.Job.UniqueKey = "k" }),
		set("job.plan_time", func(c *rota.Direct) { c.Job.PlanTime = startTime }),
		set("job.max_retries", func(c *rota.Direct) { c.Job.MaxRetries = new(1) }),
	}
}

func invalidRemembers() []invalidCase {
	set := func(field string, change func(*rota.Remember)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.rememberCommand("k", "a")
			change(c)
			return c
		}}
	}
	return []invalidCase{
		set("key", func(c *rota.Remember) { c.Key = "" }),
		set("key", func(c *rota.Remember) { c.Key = strings.Repeat("k", rota.KeyMax+1) }),
		set("key", func(c *rota.Remember) { c.Key = "a\x00" }),
		set("hash", func(c *rota.Remember) { c.Hash = "" }),
		set("hash", func(c *rota.Remember) { c.Hash = strings.ToUpper(c.Hash) }),
		set("command", func(c *rota.Remember) { c.Command = rota.ID{} }),
	}
}

func invalidPrunes() []invalidCase {
	set := func(field string, change func(*fixture, *rota.Prune)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := &rota.Prune{Meta: fx.ids.meta(), Executions: []rota.ID{fx.ids.next(), fx.ids.next()}}
			change(fx, c)
			return c
		}}
	}
	return []invalidCase{
		set("executions", func(_ *fixture, c *rota.Prune) { c.Executions = nil }),
		set("executions", func(_ *fixture, c *rota.Prune) { c.Executions = make([]rota.ID, rota.PruneMax+1) }),
		set("executions[1]", func(_ *fixture, c *rota.Prune) { c.Executions[1] = rota.ID{} }),
		set("executions[1]", func(_ *fixture, c *rota.Prune) { c.Executions[1] = c.Executions[0] }),
		set("before", func(_ *fixture, c *rota.Prune) { c.Before = beyondMaxTime }),
	}
}
