package rota

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func relationRefusals() map[Verb][]refusal {
	return map[Verb][]refusal{
		VerbFire:         fireRefusals(),
		VerbBackfill:     backfillRefusals(),
		VerbEnqueueGroup: groupRefusals(),
		VerbDirect:       directRefusals(),
		VerbTrigger: {
			breaks("no schedule", func(c *Trigger) { c.Schedule = "" }, "schedule", "is empty"),
			breaks("params a list", func(c *Trigger) { c.Params = json.RawMessage("[]") }, "params", "is not a JSON object"),
			breaks("high priority", func(c *Trigger) { c.Priority = new(PriorityMax + 1) }, "priority", "is 1000001"),
		},
		VerbCancelGroup: {
			breaks("no group", func(c *CancelGroup) { c.GroupID = ID{} }, "group_id", "is empty"),
			breaks("a long reason", func(c *CancelGroup) { c.Reason = strings.Repeat("x", ReasonMax+1) }, "reason", "has 1025 bytes"),
		},
		VerbReserve: {
			breaks("no node", func(c *Reserve) { c.Node = "" }, "node", "is empty"),
			breaks("a negative time", func(c *Reserve) { c.For = -time.Second }, "for", "is -1s; allowed are 0s to 1h"),
			breaks("a long time", func(c *Reserve) { c.For = ReservationMax + 1 }, "for", "allowed are 0s to 1h"),
		},
		VerbRelease: {breaks("no reservation", func(c *Release) { c.ReservationID = ID{} }, "reservation_id", "is empty")},
		VerbExpire: {
			breaks("a negative limit", func(c *Expire) { c.Limit = -1 }, "limit", "is -1; allowed are 0 to 1000"),
			breaks("a high limit", func(c *Expire) { c.Limit = SweepMax + 1 }, "limit", "is 1001"),
		},
		VerbSweep: {
			breaks("a negative limit", func(c *Sweep) { c.Limit = -1 }, "limit", "is -1; allowed are 0 to 1000"),
			breaks("a high limit", func(c *Sweep) { c.Limit = SweepMax + 1 }, "limit", "is 1001"),
		},
		VerbPrune: {
			breaks("nothing", func(c *Prune) { c.Executions = nil }, "executions", "has 0 entries; allowed are 1 to 1000"),
			breaks("too much", func(c *Prune) { c.Executions = make([]ID, PruneMax+1) }, "executions", "has 1001 entries"),
			breaks("an empty id", func(c *Prune) { c.Executions[1] = ID{} }, "executions[1]", "is empty"),
			breaks("an id twice", func(c *Prune) { c.Executions[1] = c.Executions[0] }, "executions[1]", "is given twice"),
			breaks("before 1970", func(c *Prune) { c.Before = time.Unix(-1, 0) }, "before", "the year 1969"),
		},
		VerbRedrive: {breaks("no job", func(c *Redrive) { c.JobID = ID{} }, "job_id", "is empty")},
		VerbRemember: {
			breaks("no key", func(c *Remember) { c.Key = "" }, "key", "is empty"),
			breaks("a long key", func(c *Remember) { c.Key = strings.Repeat("x", KeyMax+1) }, "key", "has 513 bytes; at most 512 are allowed"),
			breaks("a key of bytes", func(c *Remember) { c.Key = "\xff" }, "key", "is not UTF-8 text"),
			breaks("a NUL in the key", func(c *Remember) { c.Key = "a\x00b" }, "key", "contains a NUL byte"),
			breaks("no hash", func(c *Remember) { c.Hash = "" }, "hash", "has 0 bytes; a hash is 64 hexadecimal digits"),
			breaks("a long hash", func(c *Remember) { c.Hash += "0" }, "hash", "has 65 bytes"),
			breaks("a hash in capitals", func(c *Remember) { c.Hash = strings.ToUpper(c.Hash) }, "hash", "other than 0 to 9 and a to f"),
			breaks("a hash of letters", func(c *Remember) { c.Hash = strings.Repeat("g", 64) }, "hash", "other than 0 to 9 and a to f"),
			breaks("no command", func(c *Remember) { c.Command = ID{} }, "command", "is empty"),
			breaks("a command that is no UUIDv7", func(c *Remember) { c.Command = ID{1} }, "command", "is not a UUIDv7"),
		},
	}
}

// timeRefusals are wrong times of a Fire or a Backfill.
func timeRefusals(times func(Command) []FireTime) []refusal {
	wrong := func(name string, change func([]FireTime), field, reason string) refusal {
		return refusal{name, func(c Command) { change(times(c)) }, field, reason}
	}
	return []refusal{
		wrong("an empty time", func(ft []FireTime) { ft[0].At = time.Time{} }, "times[0].at", "is empty"),
		wrong("a time twice", func(ft []FireTime) { ft[1].At = ft[0].At }, "times[1].at", "list each time once, oldest first"),
		wrong("times out of order", func(ft []FireTime) { ft[1].At = ft[0].At.Add(-1) }, "times[1].at", "is not after the previous time"),
		wrong("a time before 1970", func(ft []FireTime) { ft[0].At = time.Unix(-1, 0) }, "times[0].at", "the year 1969"),
		wrong("from before 1970", func(ft []FireTime) { ft[0].From = time.Unix(-1, 0) }, "times[0].from", "the year 1969"),
		wrong("until far off", func(ft []FireTime) { ft[1].Until = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "times[1].until", "the year 10000"),
	}
}

func fireRefusals() []refusal {
	return append(timeRefusals(func(c Command) []FireTime { return c.(*Fire).Times }),
		breaks("no schedule", func(c *Fire) { c.Schedule = "" }, "schedule", "is empty"),
		breaks("no version", func(c *Fire) { c.Version = ID{} }, "version", "is empty"),
		breaks("nothing expected", func(c *Fire) { c.Expect = time.Time{} }, "expect", "is empty; only a schedule with a next fire can be fired"),
		breaks("expect before 1970", func(c *Fire) { c.Expect = time.Unix(-1, 0) }, "expect", "the year 1969"),
		breaks("next before 1970", func(c *Fire) { c.Next = time.Unix(-1, 0) }, "next", "the year 1969"),
		breaks("missed before 1970", func(c *Fire) { c.Missed = time.Unix(-1, 0) }, "missed", "the year 1969"),
		breaks("many times", func(c *Fire) { c.Times = make([]FireTime, FireJobsMax+1) }, "times", "has 51 entries; allowed are 0 to 50"),
		breaks("next among the times", func(c *Fire) { c.Next = c.Times[1].At }, "next", "is not after the last of the times"),
	)
}

func backfillRefusals() []refusal {
	return append(timeRefusals(func(c Command) []FireTime { return c.(*Backfill).Times }),
		breaks("no schedule", func(c *Backfill) { c.Schedule = "" }, "schedule", "is empty"),
		breaks("no times", func(c *Backfill) { c.Times = nil }, "times", "has 0 entries; allowed are 1 to 1000"),
		breaks("many times", func(c *Backfill) { c.Times = make([]FireTime, BackfillMax+1) }, "times", "has 1001 entries"),
	)
}

func groupRefusals() []refusal {
	return []refusal{
		breaks("a long name", func(c *EnqueueGroup) { c.Name = strings.Repeat("x", NameMax+1) }, "name", "has 129 bytes"),
		breaks("an unknown mode", func(c *EnqueueGroup) { c.Mode = "serial" }, "mode", `is "serial"; allowed are parallel, sequential`),
		breaks("an unknown on_failure", func(c *EnqueueGroup) { c.OnFailure = "halt" }, "on_failure", `is "halt"; allowed are continue, stop, skip`),
		breaks("no members", func(c *EnqueueGroup) { c.Jobs = nil }, "jobs", "is empty; a group has at least one member"),
		breaks("many members", func(c *EnqueueGroup) { c.Jobs = make([]NewJob, JobsMax+1) }, "jobs", "has 10001 entries"),
		breaks("a wrong member", func(c *EnqueueGroup) { c.Jobs[1].Template = "" }, "jobs[1].type", "is empty"),
		breaks("an id twice", func(c *EnqueueGroup) { c.Jobs[1].ID = c.Jobs[0].ID }, "jobs[1].id", "is also the id of jobs[0]"),
		breaks("a planned member", func(c *EnqueueGroup) { c.Jobs[1].PlanTime = sampleTime }, "jobs[1].plan_time", "a member of a group cannot have one"),
	}
}

func directRefusals() []refusal {
	wrong := func(name string, change func(*NewJob), field, reason string) refusal {
		return breaks(name, func(c *Direct) { change(&c.Job) }, "job."+field, reason)
	}
	return []refusal{
		breaks("no reservation", func(c *Direct) { c.ReservationID = ID{} }, "reservation_id", "is empty"),
		breaks("no lease", func(c *Direct) { c.Lease = 0 }, "lease", "is 0s; allowed are 1s to 1h"),
		breaks("no seed", func(c *Direct) { c.Seed = Token{} }, "seed", "a random token"),
		wrong("no type", func(n *NewJob) { n.Type, n.Template = "", "" }, "type", "is empty"),
		wrong("a delay", func(n *NewJob) { n.Delay = time.Second }, "run_at", "starts now; omit run_at and delay"),
		wrong("a run_at", func(n *NewJob) { n.RunAt = sampleTime }, "run_at", "starts now; omit run_at and delay"),
		wrong("a unique key", func(n *NewJob) { n.UniqueKey = "k" }, "unique_key", "cannot have a unique key"),
		wrong("a plan", func(n *NewJob) { n.PlanTime = sampleTime }, "plan_time", "cannot have a plan time"),
		wrong("retries", func(n *NewJob) { n.MaxRetries = new(1) }, "max_retries", "has no retries"),
	}
}

// The table has every verb, so that each new verb is listed.
func TestAllAcceptsVerbsThatFindRowsByName(t *testing.T) {
	alone := map[Verb]bool{
		VerbReady: true, VerbClaim: true, VerbExtend: true, VerbMove: true, VerbNormalise: true, VerbReap: true, VerbRecover: true,
		VerbAll: true, VerbFire: true, VerbBackfill: true, VerbReserve: true, VerbDirect: true, VerbRelease: true,
		VerbExpire: true, VerbSweep: true, VerbPrune: true, VerbRemember: true,
	}
	for _, c := range sampleCommands() {
		err := CheckCommand(&All{Meta: sampleMeta(0xff), Members: []Command{c}})
		if refused := err != nil; refused != alone[c.Verb()] {
			t.Errorf("%s as a member: %v", c.Verb(), err)
		}
	}
}

// A Fire needs neither times nor a next fire.
func TestFireWithoutTimesIsValid(t *testing.T) {
	c := &Fire{Meta: sampleMeta(1), Schedule: "s", Version: sampleID(2), Expect: sampleTime}
	if err := CheckCommand(c); err != nil {
		t.Error(err)
	}
}

func TestQueriesRefuse(t *testing.T) {
	for _, test := range []struct {
		name          string
		query         interface{ Validate() error }
		field, reason string
	}{
		{"negative limit of names", &NameQuery{Limit: -1}, "limit", "is -1; allowed are 0 to 1000"},
		{"high limit of names", &NameQuery{Limit: PageMax + 1}, "limit", "is 1001"},
		{"high limit of schedules", &ScheduleQuery{Limit: PageMax + 1}, "limit", "is 1001"},
		{"unknown state", &ScheduleQuery{State: "on"}, "state", `is "on"; allowed are ENABLED, DISABLED, PAUSED`},
		{"template of schedules", &ScheduleQuery{Template: "a b"}, "template", `"a b" contains ' '`},
		{"idle by next", &ScheduleQuery{ByNext: true, Idle: true}, "idle", "use one of the two"},
		{"ahead by next", &ScheduleQuery{ByNext: true, Ahead: sampleTime}, "ahead", "list by name"},
		{"behind a name alone by next", &ScheduleQuery{ByNext: true, After: "a"}, "next_after", "is required with after"},
		{"behind a next fire by name", &ScheduleQuery{NextAfter: sampleTime}, "next_after", "requires by_next"},
		{"next fires from, by name", &ScheduleQuery{NextFrom: sampleTime}, "next_from", "requires by_next"},
		{"next fires until, of idle ones", &ScheduleQuery{Idle: true, NextUntil: sampleTime}, "next_until", "requires by_next"},
		{"high limit of jobs", &JobQuery{Limit: PageMax + 1}, "limit", "is 1001"},
		{"unknown status", &JobQuery{Status: "DONE"}, "status", `is "DONE"; allowed are QUEUED, RUNNING, CANCELLED`},
		{"unknown state of jobs", &JobQuery{State: "done"}, "state", `is "done"; allowed are scheduled, blocked, queued, running`},
		{"type of jobs", &JobQuery{Type: "ä"}, "type", "allowed are letters"},
		{"template of jobs", &JobQuery{Template: "a b"}, "template", "allowed are letters"},
		{"schedule of jobs", &JobQuery{Schedule: "a b"}, "schedule", "allowed are letters"},
	} {
		t.Run(test.name, func(t *testing.T) { checkRefusal(t, test.query.Validate(), "", test.field, test.reason) })
	}
	for _, good := range []interface{ Validate() error }{
		&NameQuery{}, &NameQuery{After: "m", Limit: PageMax}, &ScheduleQuery{},
		&ScheduleQuery{After: "a", State: SchedulePaused, Template: "t", Ahead: sampleTime, Limit: 1}, &JobQuery{},
		&ScheduleQuery{ByNext: true, State: ScheduleDisabled, Template: "t", NextAfter: sampleTime, After: "a", NextFrom: sampleTime, NextUntil: sampleTime},
		&ScheduleQuery{ByNext: true, NextAfter: sampleTime}, &ScheduleQuery{Idle: true, State: ScheduleEnabled, After: "a"},
		&JobQuery{State: StateBlocked, Tails: true}, &JobQuery{After: sampleID(1), Before: sampleID(2), Oldest: true, Lean: true},
		&JobQuery{Status: StatusRunning, Type: "t", Template: "t", Schedule: "s", GroupID: sampleID(1), Dead: true, Before: sampleID(2), Limit: PageMax},
	} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}
