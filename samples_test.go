package rota

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// sampleTime has whole microseconds, the precision of a store.
var sampleTime = time.Date(2026, 11, 15, 3, 30, 0, 123456000, time.UTC)

func sampleID(n byte) ID {
	return ID{1: 0x92, 2: 0x6a, 3: 0x5e, 4: 0x7c, 5: 0x3b, 6: 0x70, 8: 0x80, 15: n}
}

func sampleToken(n byte) Token { return Token{0: 0xfe, 15: n} }

func sampleMeta(n byte) Meta { return Meta{ID: sampleID(n), Actor: "ada", RulesVersion: 1} }

func sampleLease() LeaseRef {
	return LeaseRef{JobID: sampleID(0x21), RunID: sampleID(0x22), Token: sampleToken(0x23)}
}

// sampleCommands returns a valid command of every verb, in the order of wire numbers, with
// every field set. A job cannot have both run_at and delay, so the Enqueue has two jobs.
func sampleCommands() []Command {
	return slices.Concat(sampleQueue(), sampleDefinitions(), sampleFires(), sampleMaintenance(), sampleReach())
}

func sampleQueue() []Command {
	return []Command{
		sampleEnqueue(),
		&Ready{Meta: sampleMeta(2), Limit: 7},
		&Claim{
			Meta: sampleMeta(3), Worker: "worker-1", Incarnation: sampleID(0x31), Types: []string{"mail.send", "report"},
			Limit: 10, Lease: 30 * time.Second, Seed: sampleToken(0x32),
		},
		&Extend{Meta: sampleMeta(4), Lease: time.Minute, Items: []ExtendItem{
			{LeaseRef: sampleLease(), Progress: json.RawMessage(`{"done":3}`)},
		}, ReservationID: sampleID(0x41)},
		&Note{Meta: sampleMeta(5), Items: []NoteItem{{
			LeaseRef: sampleLease(), Progress: json.RawMessage(`0.5`),
			Artifacts: []string{"out/a.csv", "out/b.csv"}, LogPath: "logs/a.log",
		}}},
		sampleFinish(),
		&Cancel{Meta: sampleMeta(7), JobID: sampleID(0x71), Reason: "not needed any more"},
		&Edit{Meta: sampleMeta(8), JobID: sampleID(0x81), Version: new(sampleID(0x82)), Priority: new(0), Params: json.RawMessage(`{}`)},
		&Move{Meta: sampleMeta(9), JobID: sampleID(0x91), Version: new(ID{}), Place: PlaceBefore, Anchor: sampleID(0x92)},
		&Normalise{Meta: sampleMeta(10), Priority: -5, After: sampleID(0xa1)},
		&Reap{Meta: sampleMeta(11), Incarnation: sampleID(0xb1), Limit: 100},
		&Recover{Meta: sampleMeta(12), Runner: "node-1", Incarnation: sampleID(0xc1), Limit: 1000},
		&All{Meta: sampleMeta(13), Members: []Command{
			&Cancel{Meta: sampleMeta(14), JobID: sampleID(0xd1)},
			&Enqueue{Meta: sampleMeta(15), Jobs: []NewJob{{Type: "noop"}}},
		}},
	}
}

func sampleEnqueue() *Enqueue {
	return &Enqueue{Meta: sampleMeta(1), Jobs: []NewJob{
		{
			ID: sampleID(0x11), Type: "mail.send", Name: "newsletter", Params: json.RawMessage(`{"to":"a@example.org"}`),
			Priority: new(-3), RunAt: sampleTime, UniqueKey: "mail:7", UniqueFor: 24 * time.Hour,
			ScopeKind: "user", ScopeID: "7", PlanTime: sampleTime.Add(time.Hour),
			MaxRetries: new(0), Backoff: new(1500 * time.Millisecond), BackoffMax: new(time.Hour),
			Jitter: new(0.25), Timeout: new(time.Duration(0)), Template: "mail", ConcurrencyKey: new("tenant:7"),
			Trace: sampleTrace,
		},
		{Type: "report", Delay: 90 * time.Second},
	}}
}

const sampleTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func sampleFinish() *Finish {
	return &Finish{Meta: sampleMeta(6), Items: []FinishItem{{
		LeaseRef: sampleLease(), Outcome: OutcomeFailed, ExitCode: new(-1), Error: "disk full", ErrorCode: "ENOSPC",
		RowsAffected: new(int64(0)), Result: json.RawMessage(`[1,2]`), Artifacts: []string{"out/a.csv"},
		LogPath: "logs/a.log", Permanent: true, RetryAt: sampleTime,
	}}}
}

func samplePolicy() PolicyPatch {
	return PolicyPatch{
		MaxRetries: new(5), Backoff: new(time.Second), BackoffMax: new(time.Minute),
		Jitter: new(0.5), Timeout: new(10 * time.Minute),
	}
}

func sampleDefinitions() []Command {
	return []Command{
		&PutType{Meta: sampleMeta(16), Name: "mail.send", Mode: PutCreate, Version: new(sampleID(0x41)), Spec: TypeSpec{
			Description: "sends a mail", Schema: json.RawMessage(`{"required":["to"]}`), Policy: samplePolicy(),
		}},
		&SwitchType{Meta: sampleMeta(17), Name: "mail.send", Paused: true},
		&PutTemplate{Meta: sampleMeta(18), Name: "mail", Mode: PutReplace, Version: new(ID{}), Spec: TemplateSpec{
			Type: "mail.send", Description: "a mail of ours", Params: json.RawMessage(`{"from":"us"}`), Priority: new(7),
			Policy: samplePolicy(), UniqueFor: time.Hour, ConcurrencyKey: "mail",
			Webhooks: []Webhook{{URL: "https://example.org/mails", Events: []EventKind{EventJobDead}, Secret: "shh"}},
		}},
		&Archive{Meta: sampleMeta(19), Name: "mail"},
		&Unarchive{Meta: sampleMeta(20), Name: "mail"},
		&PutThrottle{Meta: sampleMeta(21), Version: new(sampleID(0x42)), Spec: ThrottleSpec{
			Global: 100, Types: []TypeLimit{{Type: "mail.send", Concurrency: 5, Rate: Rate{Count: 100, Per: time.Minute}}},
			Keys: []KeyLimit{{Key: "tenant:7", Concurrency: 2}},
		}},
		&PutSchedule{
			Meta: sampleMeta(22), Name: "nightly", Mode: PutReplace, Version: new(sampleID(0x43)), State: SchedulePaused,
			Spec: sampleSchedule(), Anchor: sampleTime, Next: sampleTime.Add(time.Hour),
		},
		&SwitchSchedule{Meta: sampleMeta(23), Name: "nightly", State: ScheduleEnabled, Next: sampleTime.Add(time.Hour)},
		&DeleteSchedule{Meta: sampleMeta(24), Name: "nightly", Version: new(sampleID(0x44))},
	}
}

// sampleVariants set fields that a sample cannot set together with its others, and fields
// that were added later. The samples do not change, to prove that old encodings can be
// read.
func sampleVariants() map[string]Command {
	return map[string]Command{
		"put_schedule_at": &PutSchedule{Meta: sampleMeta(37), Name: "once", Spec: ScheduleSpec{Template: "mail", At: sampleTime}},
		"put_schedule_anew": &PutSchedule{Meta: sampleMeta(42), Name: "spread", Recreate: true, Spec: ScheduleSpec{
			Template: "mail", Every: time.Hour, Class: ClassQuorumRequired,
			Partition: Partition{Strategy: PartitionSet, Shards: []string{sampleShard}},
		}},
		"put_schedule_picked": &PutSchedule{Meta: sampleMeta(43), Name: "picked", Spec: ScheduleSpec{
			Template: "mail", Every: time.Hour, Partition: Partition{Strategy: PartitionDynamic, Expression: `shard.region == "eu"`},
		}},
		"put_template_sole":  &PutTemplate{Meta: sampleMeta(44), Name: "mail", OnlySchedule: "newsletter", Spec: TemplateSpec{Type: "mail.send"}},
		"all_dry":            &All{Meta: sampleMeta(45), Members: []Command{&Archive{Meta: sampleMeta(46), Name: "mail"}}, Dry: true},
		"put_schedule_every": &PutSchedule{Meta: sampleMeta(38), Name: "often", Spec: ScheduleSpec{Template: "mail", Every: 90 * time.Second}},
	}
}

func sampleSchedule() ScheduleSpec {
	return ScheduleSpec{
		Template: "mail", Description: "every night", Cron: "30 2 * * *", Zone: "Europe/Berlin",
		StartsAt: sampleTime, EndsAt: sampleTime.AddDate(1, 0, 0), Scopes: []Scope{{"user", "7"}, {"user", "8"}},
		Params: json.RawMessage(`{"to":"all"}`), Priority: new(-7), Policy: samplePolicy(),
		CatchUp: CatchUpAll, Overlap: OverlapSkip, OnCompletion: CompletionDrop, DependsOn: []string{"backup", "import"},
	}
}

const sampleShard = "018f2c4e-0000-7000-8000-000000000007"

func sampleFires() []Command {
	time1 := FireTime{At: sampleTime, From: sampleTime.Add(-time.Hour), Until: sampleTime.Add(time.Hour)}
	time2 := FireTime{At: sampleTime.Add(time.Hour)}
	return []Command{
		&Fire{
			Meta: sampleMeta(25), Schedule: "nightly", Version: sampleID(0x45), Expect: sampleTime.Add(-time.Hour),
			Times: []FireTime{time1, time2}, Next: sampleTime.Add(2 * time.Hour), CatchUp: true, Missed: sampleTime.Add(-time.Hour),
		},
		&Trigger{Meta: sampleMeta(26), Schedule: "nightly", Params: json.RawMessage(`{"to":"one"}`), Priority: new(9)},
		&Backfill{Meta: sampleMeta(27), Schedule: "nightly", Times: []FireTime{time1, time2}},
		&EnqueueGroup{
			Meta: sampleMeta(28), Name: "Monday's mails", Mode: GroupSequential, OnFailure: FailureStop,
			Jobs: []NewJob{{ID: sampleID(0x46), Type: "mail.send"}, {Template: "mail", Delay: time.Minute}},
		},
		&CancelGroup{Meta: sampleMeta(29), GroupID: sampleID(0x47), Reason: "not needed any more"},
	}
}

func sampleMaintenance() []Command {
	return []Command{
		&Reserve{Meta: sampleMeta(30), Node: "node-1", Incarnation: sampleID(0x48), For: time.Minute},
		&Direct{
			Meta: sampleMeta(31), ReservationID: sampleID(0x49), Lease: 30 * time.Second, Seed: sampleToken(0x50),
			Job: NewJob{
				ID: sampleID(0x51), Type: "mail.send", Name: "by-hand", Params: json.RawMessage(`{"to":"me"}`), Priority: new(1),
				ScopeKind: "user", ScopeID: "7", MaxRetries: new(0), Timeout: new(time.Minute), Template: "mail", ConcurrencyKey: new(""),
			},
		},
		&Release{Meta: sampleMeta(32), ReservationID: sampleID(0x52)},
		&Expire{Meta: sampleMeta(33), Limit: 8},
		&Sweep{Meta: sampleMeta(34), Limit: 9},
		&Prune{Meta: sampleMeta(35), Executions: []ID{sampleID(0x53), sampleID(0x54)}, Before: sampleTime},
		&Redrive{Meta: sampleMeta(36), JobID: sampleID(0x55)},
		&Remember{Meta: sampleMeta(39), Key: "order-7", Hash: strings.Repeat("0123456789abcdef", 4), Command: sampleID(0x56)},
	}
}

func sampleReach() []Command {
	return []Command{
		&PutWebhooks{Meta: sampleMeta(40), Version: new(sampleID(0x57)), Spec: []Webhook{
			{URL: "https://example.org/hook", Events: []EventKind{EventJobFailed, EventScheduleMissed}, Secret: "between us"},
			{URL: "http://localhost:8080/", Secret: "shh"},
		}},
		&Drop{Meta: sampleMeta(41), Name: "nightly", Version: new(sampleID(0x58)), KeepHistory: true, Recreate: true},
	}
}
