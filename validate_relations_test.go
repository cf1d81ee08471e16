package rota_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func relationRefusals() map[rota.Verb][]refusal {
	return map[rota.Verb][]refusal{
		rota.VerbFire:         fireRefusals(),
		rota.VerbBackfill:     backfillRefusals(),
		rota.VerbEnqueueGroup: groupRefusals(),
		rota.VerbDirect:       directRefusals(),
		rota.VerbTrigger: {
			breaks("no schedule", func(c *rota.Trigger) { c.Schedule = "" }, "schedule", "is empty"),
			breaks("params a list", func(c *rota.Trigger) { c.Params = json.RawMessage("[]") }, "params", "is not a JSON object"),
			breaks("high priority", func(c *rota.Trigger) { c.Priority = new(rota.PriorityMax + 1) }, "priority", "is 1000001"),
		},
		rota.VerbCancelGroup: {
			breaks("no group", func(c *rota.CancelGroup) { c.GroupID = rota.ID{} }, "group_id", "is empty"),
			breaks("a long reason", func(c *rota.CancelGroup) { c.Reason = strings.Repeat("x", rota.ReasonMax+1) }, "reason", "has 1025 bytes"),
		},
		rota.VerbReserve: {
			breaks("no node", func(c *rota.Reserve) { c.Node = "" }, "node", "is empty"),
			breaks("a negative time", func(c *rota.Reserve) { c.For = -time.Second }, "for", "is -1s; allowed are 0s to 1h"),
			breaks("a long time", func(c *rota.Reserve) { c.For = rota.ReservationMax + 1 }, "for", "allowed are 0s to 1h"),
		},
		rota.VerbRelease: {breaks("no reservation", func(c *rota.Release) { c.ReservationID = rota.ID{} }, "reservation_id", "is empty")},
		rota.VerbExpire: {
			breaks("a negative limit", func(c *rota.Expire) { c.Limit = -1 }, "limit", "is -1; allowed are 0 to 1000"),
			breaks("a high limit", func(c *rota.Expire) { c.Limit = rota.SweepMax + 1 }, "limit", "is 1001"),
		},
		rota.VerbSweep: {
			breaks("a negative limit", func(c *rota.Sweep) { c.Limit = -1 }, "limit", "is -1; allowed are 0 to 1000"),
			breaks("a high limit", func(c *rota.Sweep) { c.Limit = rota.SweepMax + 1 }, "limit", "is 1001"),
		},
		rota.VerbPrune: {
			breaks("nothing", func(c *rota.Prune) { c.Executions = nil }, "executions", "has 0 entries; allowed are 1 to 1000"),
			breaks("too much", func(c *rota.Prune) { c.Executions = make([]rota.ID, rota.PruneMax+1) }, "executions", "has 1001 entries"),
			breaks("an empty id", func(c *rota.Prune) { c.Executions[1] = rota.ID{} }, "executions[1]", "is empty"),
			breaks("an id twice", func(c *rota.Prune) { c.Executions[1] = c.Executions[0] }, "executions[1]", "is given twice"),
			breaks("before 1970", func(c *rota.Prune) { c.Before = time.Unix(-1, 0) }, "before", "the year 1969"),
		},
		rota.VerbRedrive: {
			breaks("no job", func(c *rota.Redrive) { c.JobID = rota.ID{} }, "job_id", "is empty"),
			breaks("params a string", func(c *rota.Redrive) { c.Params = json.RawMessage(`"x"`) }, "params", "is not a JSON object"),
		},
		rota.VerbRemember: {
			breaks("no key", func(c *rota.Remember) { c.Key = "" }, "key", "is empty"),
			breaks("a long key", func(c *rota.Remember) { c.Key = strings.Repeat("x", rota.KeyMax+1) }, "key", "has 513 bytes; at most 512 are allowed"),
			breaks("a key of bytes", func(c *rota.Remember) { c.Key = "\xff" }, "key", "is not UTF-8 text"),
			breaks("a NUL in the key", func(c *rota.Remember) { c.Key = "a\x00b" }, "key", "contains a NUL byte"),
			breaks("no hash", func(c *rota.Remember) { c.Hash = "" }, "hash", "has 0 bytes; a hash is 64 hexadecimal digits"),
			breaks("a long hash", func(c *rota.Remember) { c.Hash += "0" }, "hash", "has 65 bytes"),
			breaks("a hash in capitals", func(c *rota.Remember) { c.Hash = strings.ToUpper(c.Hash) }, "hash", "other than 0 to 9 and a to f"),
			breaks("a hash of letters", func(c *rota.Remember) { c.Hash = strings.Repeat("g", 64) }, "hash", "other than 0 to 9 and a to f"),
			breaks("no command", func(c *rota.Remember) { c.Command = rota.ID{} }, "command", "is empty"),
			breaks("a command that is no UUIDv7", func(c *rota.Remember) { c.Command = rota.ID{1} }, "command", "is not a UUIDv7"),
		},
	}
}

// timeRefusals are wrong times of a Fire or a Backfill.
func timeRefusals(times func(rota.Command) []rota.FireTime) []refusal {
	wrong := func(name string, change func([]rota.FireTime), field, reason string) refusal {
		return refusal{name, func(c rota.Command) { change(times(c)) }, field, reason}
	}
	return []refusal{
		wrong("an empty time", func(ft []rota.FireTime) { ft[0].At = time.Time{} }, "times[0].at", "is empty"),
		wrong("a time twice", func(ft []rota.FireTime) { ft[1].At = ft[0].At }, "times[1].at", "list each time once, oldest first"),
		wrong("times out of order", func(ft []rota.FireTime) { ft[1].At = ft[0].At.Add(-1) }, "times[1].at", "is not after the previous time"),
		wrong("a time before 1970", func(ft []rota.FireTime) { ft[0].At = time.Unix(-1, 0) }, "times[0].at", "the year 1969"),
		wrong("from before 1970", func(ft []rota.FireTime) { ft[0].From = time.Unix(-1, 0) }, "times[0].from", "the year 1969"),
		wrong("until far off", func(ft []rota.FireTime) { ft[1].Until = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "times[1].until", "the year 10000"),
	}
}

func fireRefusals() []refusal {
	return append(timeRefusals(func(c rota.Command) []rota.FireTime { return c.(*rota.Fire).Times }),
		breaks("no schedule", func(c *rota.Fire) { c.Schedule = "" }, "schedule", "is empty"),
		breaks("no version", func(c *rota.Fire) { c.Version = rota.ID{} }, "version", "is empty"),
		breaks("nothing expected", func(c *rota.Fire) { c.Expect = time.Time{} }, "expect", "is empty; only a schedule with a next fire can be fired"),
		breaks("expect before 1970", func(c *rota.Fire) { c.Expect = time.Unix(-1, 0) }, "expect", "the year 1969"),
		breaks("next before 1970", func(c *rota.Fire) { c.Next = time.Unix(-1, 0) }, "next", "the year 1969"),
		breaks("missed before 1970", func(c *rota.Fire) { c.Missed = time.Unix(-1, 0) }, "missed", "the year 1969"),
		breaks("many times", func(c *rota.Fire) { c.Times = make([]rota.FireTime, rota.FireJobsMax+1) }, "times", "has 51 entries; allowed are 0 to 50"),
		breaks("next among the times", func(c *rota.Fire) { c.Next = c.Times[1].At }, "next", "is not after the last of the times"),
	)
}

func backfillRefusals() []refusal {
	return append(timeRefusals(func(c rota.Command) []rota.FireTime { return c.(*rota.Backfill).Times }),
		breaks("no schedule", func(c *rota.Backfill) { c.Schedule = "" }, "schedule", "is empty"),
		breaks("no times", func(c *rota.Backfill) { c.Times = nil }, "times", "has 0 entries; allowed are 1 to 1000"),
		breaks("many times", func(c *rota.Backfill) { c.Times = make([]rota.FireTime, rota.BackfillMax+1) }, "times", "has 1001 entries"),
	)
}

func groupRefusals() []refusal {
	return []refusal{
		breaks("a long name", func(c *rota.EnqueueGroup) { c.Name = strings.Repeat("x", rota.NameMax+1) }, "name", "has 129 bytes"),
		breaks("an unknown mode", func(c *rota.EnqueueGroup) { c.Mode = "serial" }, "mode", `is "serial"; allowed are parallel, sequential`),
		breaks("an unknown on_failure", func(c *rota.EnqueueGroup) { c.OnFailure = "halt" }, "on_failure", `is "halt"; allowed are continue, stop, skip`),
		breaks("no members", func(c *rota.EnqueueGroup) { c.Jobs = nil }, "jobs", "is empty; a group has at least one member"),
		breaks("many members", func(c *rota.EnqueueGroup) { c.Jobs = make([]rota.NewJob, rota.JobsMax+1) }, "jobs", "has 10001 entries"),
		breaks("a wrong member", func(c *rota.EnqueueGroup) { c.Jobs[1].Template = "" }, "jobs[1].type", "is empty"),
		breaks("an id twice", func(c *rota.EnqueueGroup) { c.Jobs[1].ID = c.Jobs[0].ID }, "jobs[1].id", "is also the id of jobs[0]"),
		breaks("a planned member", func(c *rota.EnqueueGroup) { c.Jobs[1].PlanTime = samples.Time }, "jobs[1].plan_time", "a member of a group cannot have one"),
	}
}

func directRefusals() []refusal {
	wrong := func(name string, change func(*rota.NewJob), field, reason string) refusal {
		return breaks(name, func(c *rota.Direct) { change(&c.Job) }, "job."+field, reason)
	}
	return []refusal{
		breaks("no reservation", func(c *rota.Direct) { c.ReservationID = rota.ID{} }, "reservation_id", "is empty"),
		breaks("no lease", func(c *rota.Direct) { c.Lease = 0 }, "lease", "is 0s; allowed are 1s to 1h"),
		breaks("no seed", func(c *rota.Direct) { c.Seed = rota.Token{} }, "seed", "a random token"),
		wrong("no type", func(n *rota.NewJob) { n.Type, n.Template = "", "" }, "type", "is empty"),
		wrong("a delay", func(n *rota.NewJob) { n.Delay = time.Second }, "run_at", "starts now; omit run_at and delay"),
		wrong("a run_at", func(n *rota.NewJob) { n.RunAt = samples.Time }, "run_at", "starts now; omit run_at and delay"),
		wrong("a unique key", func(n *rota.NewJob) { n.UniqueKey = "k" }, "unique_key", "cannot have a unique key"),
		wrong("a plan", func(n *rota.NewJob) { n.PlanTime = samples.Time }, "plan_time", "cannot have a plan time"),
		wrong("retries", func(n *rota.NewJob) { n.MaxRetries = new(1) }, "max_retries", "has no retries"),
	}
}

// The table has every verb, so that each new verb is listed.
func TestAllAcceptsVerbsThatFindRowsByName(t *testing.T) {
	alone := map[rota.Verb]bool{
		rota.VerbReady: true, rota.VerbClaim: true, rota.VerbExtend: true, rota.VerbMove: true, rota.VerbNormalise: true, rota.VerbReap: true, rota.VerbRecover: true,
		rota.VerbAll: true, rota.VerbFire: true, rota.VerbBackfill: true, rota.VerbReserve: true, rota.VerbDirect: true, rota.VerbRelease: true,
		rota.VerbExpire: true, rota.VerbSweep: true, rota.VerbPrune: true, rota.VerbRemember: true,
		rota.VerbPutToken: true, rota.VerbRevokeToken: true, rota.VerbTouchTokens: true, rota.VerbRecordAccess: true,
		rota.VerbRewrapSecrets: true, rota.VerbPromoteSecretKey: true,
	}
	for _, c := range samples.Commands() {
		err := rota.CheckCommand(&rota.All{Meta: samples.Meta(0xff), Members: []rota.Command{c}})
		if refused := err != nil; refused != alone[c.Verb()] {
			t.Errorf("%s as a member: %v", c.Verb(), err)
		}
	}
}

// A Fire needs neither times nor a next fire.
func TestFireWithoutTimesIsValid(t *testing.T) {
	c := &rota.Fire{Meta: samples.Meta(1), Schedule: "s", Version: samples.ID(2), Expect: samples.Time}
	if err := rota.CheckCommand(c); err != nil {
		t.Error(err)
	}
}

func TestQueriesRefuse(t *testing.T) {
	for _, test := range []struct {
		name          string
		query         interface{ Validate() error }
		field, reason string
	}{
		{"negative limit of names", &rota.NameQuery{Limit: -1}, "limit", "is -1; allowed are 0 to 1000"},
		{"high limit of names", &rota.NameQuery{Limit: rota.PageMax + 1}, "limit", "is 1001"},
		{"high limit of schedules", &rota.ScheduleQuery{Limit: rota.PageMax + 1}, "limit", "is 1001"},
		{"unknown state", &rota.ScheduleQuery{State: "on"}, "state", `is "on"; allowed are ENABLED, DISABLED, PAUSED`},
		{"template of schedules", &rota.ScheduleQuery{Template: "a b"}, "template", `"a b" contains ' '`},
		{"idle by next", &rota.ScheduleQuery{ByNext: true, Idle: true}, "idle", "use one of the two"},
		{"ahead by next", &rota.ScheduleQuery{ByNext: true, Ahead: samples.Time}, "ahead", "list by name"},
		{"behind a name alone by next", &rota.ScheduleQuery{ByNext: true, After: "a"}, "next_after", "is required with after"},
		{"behind a next fire by name", &rota.ScheduleQuery{NextAfter: samples.Time}, "next_after", "requires by_next"},
		{"next fires from, by name", &rota.ScheduleQuery{NextFrom: samples.Time}, "next_from", "requires by_next"},
		{"next fires until, of idle ones", &rota.ScheduleQuery{Idle: true, NextUntil: samples.Time}, "next_until", "requires by_next"},
		{"negative limit of tokens", &rota.TokenQuery{Limit: -1}, "limit", "is -1"},
		{"user of tokens", &rota.TokenQuery{User: "a b"}, "user", "allowed are letters"},
		{"tokens after a text that is not UTF-8", &rota.TokenQuery{After: "\xff"}, "after", "is not UTF-8"},
		{"high limit of jobs", &rota.JobQuery{Limit: rota.PageMax + 1}, "limit", "is 1001"},
		{"unknown status", &rota.JobQuery{Status: "DONE"}, "status", `is "DONE"; allowed are QUEUED, RUNNING, CANCELLED`},
		{"unknown state of jobs", &rota.JobQuery{State: "done"}, "state", `is "done"; allowed are scheduled, blocked, queued, running`},
		{"type of jobs", &rota.JobQuery{Type: "ä"}, "type", "allowed are letters"},
		{"template of jobs", &rota.JobQuery{Template: "a b"}, "template", "allowed are letters"},
		{"schedule of jobs", &rota.JobQuery{Schedule: "a b"}, "schedule", "allowed are letters"},
	} {
		t.Run(test.name, func(t *testing.T) { wantInvalid(t, test.query.Validate(), test.field, test.reason) })
	}
	for _, good := range []interface{ Validate() error }{
		&rota.NameQuery{}, &rota.NameQuery{After: "m", Limit: rota.PageMax}, &rota.ScheduleQuery{},
		&rota.TokenQuery{}, &rota.TokenQuery{After: "a", User: "ci", Limit: rota.PageMax},
		&rota.ScheduleQuery{After: "a", State: rota.SchedulePaused, Template: "t", Ahead: samples.Time, Limit: 1}, &rota.JobQuery{},
		&rota.ScheduleQuery{ByNext: true, State: rota.ScheduleDisabled, Template: "t", NextAfter: samples.Time, After: "a", NextFrom: samples.Time, NextUntil: samples.Time},
		&rota.ScheduleQuery{ByNext: true, NextAfter: samples.Time}, &rota.ScheduleQuery{Idle: true, State: rota.ScheduleEnabled, After: "a"},
		&rota.JobQuery{State: rota.StateBlocked, Tails: true}, &rota.JobQuery{After: samples.ID(1), Before: samples.ID(2), Oldest: true, Lean: true},
		&rota.JobQuery{Status: rota.StatusRunning, Type: "t", Template: "t", Schedule: "s", GroupID: samples.ID(1), Dead: true, Before: samples.ID(2), Limit: rota.PageMax},
	} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}
