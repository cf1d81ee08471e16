package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// The wrong fields of what fires, groups, runs directly and prunes.

func invalidFires() []spoilt {
	set := func(field string, change func(*rota.Fire)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := sc.fireCommand("nightly")
			change(c)
			return c
		}}
	}
	cases := []spoilt{
		set("schedule", func(c *rota.Fire) { c.Schedule = "" }),
		set("version", func(c *rota.Fire) { c.Version = rota.ID{} }),
		set("expect", func(c *rota.Fire) { c.Expect = time.Time{} }),
		set("expect", func(c *rota.Fire) { c.Expect = farAhead }),
		set("next", func(c *rota.Fire) { c.Next = farAhead }),
		set("next", func(c *rota.Fire) { c.Next = c.Times[0].At }),
		set("missed", func(c *rota.Fire) { c.Missed = farAhead }),
		set("times", func(c *rota.Fire) { c.Times = manyTimes(c.Times[0].At, rota.FireJobsMax+1) }),
	}
	for field, spoil := range badTimes() {
		cases = append(cases, set(field, func(c *rota.Fire) { c.Times, c.Next = spoil(c.Times[0].At), time.Time{} }))
		cases = append(cases, spoilt{field, func(sc *scene) rota.Command {
			return &rota.Backfill{Meta: sc.mint.meta(), Schedule: "nightly", Times: spoil(sc.now)}
		}})
	}
	return append(cases,
		spoilt{"times", func(sc *scene) rota.Command { return &rota.Backfill{Meta: sc.mint.meta(), Schedule: "nightly"} }},
		spoilt{"times", func(sc *scene) rota.Command {
			return &rota.Backfill{Meta: sc.mint.meta(), Schedule: "nightly", Times: manyTimes(sc.now, rota.BackfillMax+1)}
		}},
		spoilt{"schedule", func(sc *scene) rota.Command {
			return &rota.Backfill{Meta: sc.mint.meta(), Times: manyTimes(sc.now, 1)}
		}},
	)
}

// manyTimes are so many, the last of them at a given time.
func manyTimes(last time.Time, count int) (times []rota.FireTime) {
	for i := range count {
		times = append(times, rota.FireTime{At: last.Add(time.Duration(i+1-count) * time.Second)})
	}
	return times
}

// badTimes are two times of which the second is wrong.
func badTimes() map[string]func(time.Time) []rota.FireTime {
	return map[string]func(time.Time) []rota.FireTime{
		"times[1].at":    func(t time.Time) []rota.FireTime { return []rota.FireTime{{At: t}, {At: t}} },
		"times[0].at":    func(t time.Time) []rota.FireTime { return []rota.FireTime{{}, {At: t}} },
		"times[1].from":  func(t time.Time) []rota.FireTime { return []rota.FireTime{{At: t.Add(-1e9)}, {At: t, From: farAhead}} },
		"times[1].until": func(t time.Time) []rota.FireTime { return []rota.FireTime{{At: t.Add(-1e9)}, {At: t, Until: farAhead}} },
	}
}

func invalidTriggers() []spoilt {
	set := func(field string, change func(*rota.Trigger)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := &rota.Trigger{Meta: sc.mint.meta(), Schedule: "nightly"}
			change(c)
			return c
		}}
	}
	return []spoilt{
		set("schedule", func(c *rota.Trigger) { c.Schedule = "" }),
		set("params", func(c *rota.Trigger) { c.Params = json.RawMessage(`[1]`) }),
		set("params", func(c *rota.Trigger) { c.Params = oversized(rota.ParamsMax) }),
		set("priority", func(c *rota.Trigger) { c.Priority = new(rota.PriorityMax + 1) }),
	}
}

func invalidGroups() []spoilt {
	set := func(field string, change func(*scene, *rota.EnqueueGroup)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := sc.groupCommand(rota.GroupSequential, rota.FailureStop, rota.NewJob{}, rota.NewJob{})
			change(sc, c)
			return c
		}}
	}
	return []spoilt{
		set("name", func(_ *scene, c *rota.EnqueueGroup) { c.Name = longName }),
		set("mode", func(_ *scene, c *rota.EnqueueGroup) { c.Mode = "serial" }),
		set("on_failure", func(_ *scene, c *rota.EnqueueGroup) { c.OnFailure = "retry" }),
		set("jobs", func(_ *scene, c *rota.EnqueueGroup) { c.Jobs = nil }),
		set("jobs[1].type", func(_ *scene, c *rota.EnqueueGroup) { c.Jobs[1].Type = "" }),
		set("jobs[1].plan_time", func(_ *scene, c *rota.EnqueueGroup) { c.Jobs[1].PlanTime = dawn }),
		set("jobs[1].id", func(sc *scene, c *rota.EnqueueGroup) { c.Jobs[0].ID = sc.mint.id(); c.Jobs[1].ID = c.Jobs[0].ID }),
		{"reason", func(sc *scene) rota.Command {
			return &rota.CancelGroup{Meta: sc.mint.meta(), GroupID: sc.mint.id(), Reason: strings.Repeat("x", rota.ReasonMax+1)}
		}},
	}
}

func invalidDirects() []spoilt {
	set := func(field string, change func(*rota.Direct)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := sc.directCommand(sc.reserved, rota.NewJob{})
			change(c)
			return c
		}}
	}
	return []spoilt{
		set("reservation_id", func(c *rota.Direct) { c.ReservationID = rota.ID{} }),
		set("lease", func(c *rota.Direct) { c.Lease = rota.LeaseMin - 1 }),
		set("lease", func(c *rota.Direct) { c.Lease = rota.LeaseMax + 1 }),
		set("seed", func(c *rota.Direct) { c.Seed = rota.Token{} }),
		set("job.type", func(c *rota.Direct) { c.Job.Type = "" }),
		set("job.params", func(c *rota.Direct) { c.Job.Params = json.RawMessage(`1`) }),
		set("job.run_at", func(c *rota.Direct) { c.Job.RunAt = dawn }),
		set("job.run_at", func(c *rota.Direct) { c.Job.Delay = time.Second }),
		set("job.unique_key", func(c *rota.Direct) { c.Job.UniqueKey = "k" }),
		set("job.plan_time", func(c *rota.Direct) { c.Job.PlanTime = dawn }),
		set("job.max_retries", func(c *rota.Direct) { c.Job.MaxRetries = new(1) }),
	}
}

func invalidRemembers() []spoilt {
	set := func(field string, change func(*rota.Remember)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := sc.rememberCommand("k", "a")
			change(c)
			return c
		}}
	}
	return []spoilt{
		set("key", func(c *rota.Remember) { c.Key = "" }),
		set("key", func(c *rota.Remember) { c.Key = strings.Repeat("k", rota.KeyMax+1) }),
		set("key", func(c *rota.Remember) { c.Key = "a\x00" }),
		set("hash", func(c *rota.Remember) { c.Hash = "" }),
		set("hash", func(c *rota.Remember) { c.Hash = strings.ToUpper(c.Hash) }),
		set("command", func(c *rota.Remember) { c.Command = rota.ID{} }),
	}
}

func invalidPrunes() []spoilt {
	set := func(field string, change func(*scene, *rota.Prune)) spoilt {
		return spoilt{field, func(sc *scene) rota.Command {
			c := &rota.Prune{Meta: sc.mint.meta(), Executions: []rota.ID{sc.mint.id(), sc.mint.id()}}
			change(sc, c)
			return c
		}}
	}
	return []spoilt{
		set("executions", func(_ *scene, c *rota.Prune) { c.Executions = nil }),
		set("executions", func(_ *scene, c *rota.Prune) { c.Executions = make([]rota.ID, rota.PruneMax+1) }),
		set("executions[1]", func(_ *scene, c *rota.Prune) { c.Executions[1] = rota.ID{} }),
		set("executions[1]", func(_ *scene, c *rota.Prune) { c.Executions[1] = c.Executions[0] }),
		set("before", func(_ *scene, c *rota.Prune) { c.Before = farAhead }),
	}
}
