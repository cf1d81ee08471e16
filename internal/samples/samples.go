// Package samples has one valid command of every verb, with every field set, for tests.
package samples

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Time has whole microseconds, the precision of a store.
var Time = time.Date(2026, 11, 15, 3, 30, 0, 123456000, time.UTC)

// ID returns a valid id that ends with n.
func ID(n byte) rota.ID {
	return rota.ID{1: 0x92, 2: 0x6a, 3: 0x5e, 4: 0x7c, 5: 0x3b, 6: 0x70, 8: 0x80, 15: n}
}

// Token returns a token that ends with n.
func Token(n byte) rota.Token { return rota.Token{0: 0xfe, 15: n} }

// Meta returns the meta data of a command whose id ends with n.
func Meta(n byte) rota.Meta { return rota.Meta{ID: ID(n), Actor: "ada", RulesVersion: 1} }

// Lease returns a reference to a run.
func Lease() rota.LeaseRef {
	return rota.LeaseRef{JobID: ID(0x21), RunID: ID(0x22), Token: Token(0x23)}
}

// Commands returns a valid command of every verb, in the order of wire numbers, with
// every field set. A job cannot have both run_at and delay, so the Enqueue has two jobs.
func Commands() []rota.Command {
	return slices.Concat(queue(), definitions(), fires(), maintenance(), reach(), access())
}

func queue() []rota.Command {
	return []rota.Command{
		enqueue(),
		&rota.Ready{Meta: Meta(2), Limit: 7},
		&rota.Claim{
			Meta: Meta(3), Worker: "worker-1", Incarnation: ID(0x31), Types: []string{"mail.send", "report"},
			Limit: 10, Lease: 30 * time.Second, Seed: Token(0x32),
		},
		&rota.Extend{Meta: Meta(4), Lease: time.Minute, Grace: 10 * time.Second, Items: []rota.ExtendItem{
			{LeaseRef: Lease(), Progress: json.RawMessage(`{"done":3}`)},
		}, ReservationID: ID(0x41)},
		&rota.Note{Meta: Meta(5), Items: []rota.NoteItem{{
			LeaseRef: Lease(), Progress: json.RawMessage(`0.5`),
			Artifacts: []string{"out/a.csv", "out/b.csv"}, LogPath: "logs/a.log",
		}}},
		finish(),
		&rota.Cancel{Meta: Meta(7), JobID: ID(0x71), Reason: "not needed any more"},
		&rota.Edit{Meta: Meta(8), JobID: ID(0x81), Version: new(ID(0x82)), Priority: new(0), Params: json.RawMessage(`{}`)},
		&rota.Move{Meta: Meta(9), JobID: ID(0x91), Version: new(rota.ID{}), Place: rota.PlaceBefore, Anchor: ID(0x92)},
		&rota.Normalise{Meta: Meta(10), Priority: -5, After: ID(0xa1), Limit: 500},
		&rota.Reap{Meta: Meta(11), Incarnation: ID(0xb1), Limit: 100, Grace: 10 * time.Second, KeepStale: true},
		&rota.Recover{Meta: Meta(12), Runner: "node-1", Incarnation: ID(0xc1), Limit: 1000},
		&rota.All{Meta: Meta(13), Members: []rota.Command{
			&rota.Cancel{Meta: Meta(14), JobID: ID(0xd1)},
			&rota.Enqueue{Meta: Meta(15), Jobs: []rota.NewJob{{Type: "noop"}}},
		}},
	}
}

func enqueue() *rota.Enqueue {
	return &rota.Enqueue{Meta: Meta(1), Jobs: []rota.NewJob{
		{
			ID: ID(0x11), Type: "mail.send", Name: "newsletter", Params: json.RawMessage(`{"to":"a@example.org"}`),
			Priority: new(-3), RunAt: Time, UniqueKey: "mail:7", UniqueFor: 24 * time.Hour,
			ScopeKind: "user", ScopeID: "7", PlanTime: Time.Add(time.Hour),
			MaxRetries: new(0), Backoff: new(1500 * time.Millisecond), BackoffMax: new(time.Hour),
			Jitter: new(0.25), Timeout: new(time.Duration(0)), Template: "mail", ConcurrencyKey: new("tenant:7"),
			Trace: sampleTrace,
		},
		{Type: "report", Delay: 90 * time.Second},
	}}
}

const sampleTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func finish() *rota.Finish {
	return &rota.Finish{Meta: Meta(6), Grace: 10 * time.Second, Items: []rota.FinishItem{{
		LeaseRef: Lease(), Outcome: rota.OutcomeFailed, ExitCode: new(-1), Error: "disk full", ErrorCode: "ENOSPC",
		RowsAffected: new(int64(0)), Result: json.RawMessage(`[1,2]`), Artifacts: []string{"out/a.csv"},
		LogPath: "logs/a.log", Permanent: true, RetryAt: Time, EndedAgo: 90 * time.Second,
	}}}
}

func policy() rota.PolicyPatch {
	return rota.PolicyPatch{
		MaxRetries: new(5), Backoff: new(time.Second), BackoffMax: new(time.Minute),
		Jitter: new(0.5), Timeout: new(10 * time.Minute),
	}
}

func definitions() []rota.Command {
	return []rota.Command{
		&rota.PutType{Meta: Meta(16), Name: "mail.send", Mode: rota.PutCreate, Version: new(ID(0x41)), Spec: rota.TypeSpec{
			Description: "sends a mail", Schema: json.RawMessage(`{"required":["to"]}`), Policy: policy(),
		}},
		&rota.SwitchType{Meta: Meta(17), Name: "mail.send", Paused: true},
		&rota.PutTemplate{Meta: Meta(18), Name: "mail", Mode: rota.PutReplace, Version: new(rota.ID{}), Spec: rota.TemplateSpec{
			Type: "mail.send", Description: "a mail of ours", Params: json.RawMessage(`{"from":"us"}`), Priority: new(7),
			Policy: policy(), UniqueFor: time.Hour, ConcurrencyKey: "mail",
			Webhooks: []rota.Webhook{{URL: "https://example.org/mails", Events: []rota.EventKind{rota.EventJobDead}, Secret: "shh"}},
		}},
		&rota.Archive{Meta: Meta(19), Name: "mail"},
		&rota.Unarchive{Meta: Meta(20), Name: "mail"},
		&rota.PutThrottle{Meta: Meta(21), Version: new(ID(0x42)), Spec: rota.ThrottleSpec{
			Global: 100, Types: []rota.TypeLimit{{Type: "mail.send", Concurrency: 5, Rate: rota.Rate{Count: 100, Per: time.Minute}}},
			Keys: []rota.KeyLimit{{Key: "tenant:7", Concurrency: 2}},
		}},
		&rota.PutSchedule{
			Meta: Meta(22), Name: "nightly", Mode: rota.PutReplace, Version: new(ID(0x43)), State: rota.SchedulePaused,
			Spec: Schedule(), Anchor: Time, Next: Time.Add(time.Hour),
		},
		&rota.SwitchSchedule{Meta: Meta(23), Name: "nightly", State: rota.ScheduleEnabled, Next: Time.Add(time.Hour)},
		&rota.DeleteSchedule{Meta: Meta(24), Name: "nightly", Version: new(ID(0x44))},
	}
}

// Variants set fields that a sample cannot set together with its others, and fields
// that were added later. The samples do not change, to prove that old encodings can be
// read.
func Variants() map[string]rota.Command {
	return map[string]rota.Command{
		"put_schedule_at": &rota.PutSchedule{Meta: Meta(37), Name: "once", Spec: rota.ScheduleSpec{Template: "mail", At: Time}},
		"put_schedule_anew": &rota.PutSchedule{Meta: Meta(42), Name: "spread", Recreate: true, Spec: rota.ScheduleSpec{
			Template: "mail", Every: time.Hour, Class: rota.ClassQuorumRequired,
			Partition: rota.Partition{Strategy: rota.PartitionSet, Shards: []string{Shard}},
		}},
		"put_schedule_picked": &rota.PutSchedule{Meta: Meta(43), Name: "picked", Spec: rota.ScheduleSpec{
			Template: "mail", Every: time.Hour, Partition: rota.Partition{Strategy: rota.PartitionDynamic, Expression: `shard.region == "eu"`},
		}},
		"put_template_sole": &rota.PutTemplate{Meta: Meta(44), Name: "mail", OnlySchedule: "newsletter", Spec: rota.TemplateSpec{Type: "mail.send"}},
		"put_template_anew": &rota.PutTemplate{Meta: Meta(72), Name: "mail", Recreate: true, Spec: rota.TemplateSpec{Type: "mail.send"}},
		"trigger_expecting": &rota.Trigger{Meta: rota.Meta{ID: ID(73), Actor: "ada", Expect: []rota.Expectation{
			{Kind: rota.ExpectSchedule, Name: "nightly", Owner: "ada", Since: Time, Version: ID(75)}, {Kind: rota.ExpectTemplate, Name: "mail"},
		}}, Schedule: "nightly"},
		"all_dry": &rota.All{Meta: Meta(45), Members: []rota.Command{&rota.Archive{Meta: Meta(46), Name: "mail"}}, Dry: true},
		"put_throttle_each": &rota.PutThrottle{Meta: Meta(47), Spec: rota.ThrottleSpec{
			EachKey:       []rota.EachKeyLimit{{Pattern: "tenant:*", Concurrency: 1}},
			EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail.send", Concurrency: 2}},
		}},
		"put_token_job": &rota.PutToken{
			Meta: Meta(74), TokenID: "k7Qm2Wd9", User: "ci", Scope: rota.ScopeRead, Job: "nightly", Hash: strings.Repeat("0123456789abcdef", 4),
		},
		"edit_later": &rota.Edit{
			Meta: Meta(51), JobID: ID(0x59), RunAt: Time, MergeParams: json.RawMessage(`{"to":"me"}`),
		},
		"edit_delay":              &rota.Edit{Meta: Meta(52), JobID: ID(0x60), Delay: new(90 * time.Second)},
		"edit_now":                &rota.Edit{Meta: Meta(53), JobID: ID(0x61), RunNow: true},
		"cancel_version":          &rota.Cancel{Meta: Meta(55), JobID: ID(0x63), Version: new(ID(0x64))},
		"redrive_version":         &rota.Redrive{Meta: Meta(56), JobID: ID(0x63), Version: new(ID(0x64))},
		"switch_type_version":     &rota.SwitchType{Meta: Meta(57), Name: "mail.send", Version: new(ID(0x64))},
		"archive_version":         &rota.Archive{Meta: Meta(58), Name: "mail", Version: new(ID(0x64))},
		"unarchive_version":       &rota.Unarchive{Meta: Meta(59), Name: "mail", Version: new(ID(0x64))},
		"switch_schedule_version": &rota.SwitchSchedule{Meta: Meta(60), Name: "nightly", State: rota.SchedulePaused, Version: new(ID(0x64))},
		"trigger_version":         &rota.Trigger{Meta: Meta(61), Schedule: "nightly", Version: new(ID(0x64))},
		"set_owner_version":       &rota.SetOwner{Meta: Meta(73), Name: "nightly", Owner: "ada", Kind: rota.ExpectSchedule, Version: new(ID(0x64))},
		"backfill_version":        &rota.Backfill{Meta: Meta(62), Schedule: "nightly", Times: []rota.FireTime{{At: Time}}, Version: new(ID(0x64))},
		"redrive_again": &rota.Redrive{
			Meta: Meta(54), JobID: ID(0x62), Params: json.RawMessage(`{"to":"me"}`), Again: true,
		},
		"grant_role":         &rota.GrantPrivileges{Meta: Meta(70), To: []string{"ci"}, Role: "ops"},
		"put_schedule_every": &rota.PutSchedule{Meta: Meta(38), Name: "often", Spec: rota.ScheduleSpec{Template: "mail", Every: 90 * time.Second}},
	}
}

// Schedule returns a specification with every field set that one schedule can have.
func Schedule() rota.ScheduleSpec {
	return rota.ScheduleSpec{
		Template: "mail", Description: "every night", Cron: "30 2 * * *", Zone: "Europe/Berlin",
		StartsAt: Time, EndsAt: Time.AddDate(1, 0, 0), Scopes: []rota.Scope{{Kind: "user", ID: "7"}, {Kind: "user", ID: "8"}},
		Params: json.RawMessage(`{"to":"all"}`), Priority: new(-7), Policy: policy(),
		CatchUp: rota.CatchUpAll, Overlap: rota.OverlapSkip, OnCompletion: rota.CompletionPreserve, DependsOn: []string{"backup", "import"},
	}
}

// Shard is the id of a shard.
const Shard = "018f2c4e-0000-7000-8000-000000000007"

func fires() []rota.Command {
	time1 := rota.FireTime{At: Time, From: Time.Add(-time.Hour), Until: Time.Add(time.Hour)}
	time2 := rota.FireTime{At: Time.Add(time.Hour)}
	return []rota.Command{
		&rota.Fire{
			Meta: Meta(25), Schedule: "nightly", Version: ID(0x45), Expect: Time.Add(-time.Hour),
			Times: []rota.FireTime{time1, time2}, Next: Time.Add(2 * time.Hour), CatchUp: true, Missed: Time.Add(-time.Hour),
		},
		&rota.Trigger{Meta: Meta(26), Schedule: "nightly", Params: json.RawMessage(`{"to":"one"}`), Priority: new(9)},
		&rota.Backfill{Meta: Meta(27), Schedule: "nightly", Times: []rota.FireTime{time1, time2}},
		&rota.EnqueueGroup{
			Meta: Meta(28), Name: "Monday's mails", Mode: rota.GroupSequential, OnFailure: rota.FailureStop,
			Jobs: []rota.NewJob{{ID: ID(0x46), Type: "mail.send"}, {Template: "mail", Delay: time.Minute}},
		},
		&rota.CancelGroup{Meta: Meta(29), GroupID: ID(0x47), Reason: "not needed any more"},
	}
}

func maintenance() []rota.Command {
	return []rota.Command{
		&rota.Reserve{Meta: Meta(30), Node: "node-1", Incarnation: ID(0x48), For: time.Minute},
		&rota.Direct{
			Meta: Meta(31), ReservationID: ID(0x49), Lease: 30 * time.Second, Seed: Token(0x50),
			Job: rota.NewJob{
				ID: ID(0x51), Type: "mail.send", Name: "by-hand", Params: json.RawMessage(`{"to":"me"}`), Priority: new(1),
				ScopeKind: "user", ScopeID: "7", MaxRetries: new(0), Timeout: new(time.Minute), Template: "mail", ConcurrencyKey: new(""),
			},
		},
		&rota.Release{Meta: Meta(32), ReservationID: ID(0x52)},
		&rota.Expire{Meta: Meta(33), Limit: 8},
		&rota.Sweep{Meta: Meta(34), Limit: 9},
		&rota.Prune{Meta: Meta(35), Executions: []rota.ID{ID(0x53), ID(0x54)}, Before: Time},
		&rota.Redrive{Meta: Meta(36), JobID: ID(0x55)},
		&rota.Remember{Meta: Meta(39), Key: "order-7", Hash: strings.Repeat("0123456789abcdef", 4), Command: ID(0x56)},
	}
}

func reach() []rota.Command {
	return []rota.Command{
		&rota.PutWebhooks{Meta: Meta(40), Version: new(ID(0x57)), Spec: []rota.Webhook{
			{URL: "https://example.org/hook", Events: []rota.EventKind{rota.EventJobFailed, rota.EventScheduleMissed}, Secret: "between us"},
			{URL: "http://localhost:8080/", Secret: "shh"},
		}},
		&rota.Drop{Meta: Meta(41), Name: "nightly", Version: new(ID(0x58)), KeepHistory: true, Recreate: true},
	}
}

// Verifier is a SCRAM verifier that no password matches.
const Verifier = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="

// Sealed has the form of a ciphertext. No key opens it.
const Sealed = "sealed:v1:0123456789abcdef:AAECAwQFBgcICQ"

func access() []rota.Command {
	return []rota.Command{
		&rota.PutPrincipal{
			Meta: Meta(63), Name: "ci", Kind: rota.KindUser, Mode: rota.PutReplace, Version: new(ID(0x65)),
			Verifier: new(Verifier), Certificate: new("ci.example"),
		},
		&rota.DropPrincipal{Meta: Meta(64), Name: "ci", Kind: rota.KindUser},
		&rota.GrantPrivileges{
			Meta: Meta(65), To: []string{"ci", "ops"}, Privileges: []rota.Privilege{rota.ExecuteJob, rota.ViewJobHistory}, Job: "nightly", Revoke: true,
		},
		&rota.PutToken{
			Meta: Meta(66), TokenID: "k7Qm2Wd9", User: "ci", Scope: rota.ScopeWorker, Type: "mail.send",
			Hash: strings.Repeat("0123456789abcdef", 4), Verifier: Verifier, ExpiresAt: Time.AddDate(0, 0, 90),
		},
		&rota.RevokeToken{Meta: Meta(67), TokenID: "k7Qm2Wd9"},
		&rota.TouchTokens{Meta: Meta(68), Uses: []rota.TokenUse{{TokenID: "k7Qm2Wd9", At: Time}}},
		&rota.RecordAccess{Meta: Meta(69), Records: []rota.AccessRecord{{
			Act: rota.AuditRunAs, Actor: "ci", Subject: "job 1", JobID: ID(0x66), RunID: ID(0x67), Count: 12, Detail: "role ops",
			ExecutionID: ID(0x68), Schedule: "nightly",
		}}},
		&rota.SetOwner{Meta: Meta(71), Name: "nightly", Owner: "ada"},
		&rota.PutSecret{Meta: Meta(75), Template: "nightly", Key: "DB_PASSWORD", Sealed: Sealed},
		&rota.DeleteSecret{Meta: Meta(76), Template: "nightly", Key: "DB_PASSWORD"},
		&rota.RewrapSecrets{Meta: Meta(77), Items: []rota.RewrappedSecret{
			{Template: "nightly", Key: "DB_PASSWORD", Version: ID(0x69), Was: "fedcba9876543210", Sealed: Sealed},
		}, Webhooks: []rota.RewrappedWebhook{{Template: "mail", URL: "https://example.org/mails", Was: "shh", Sealed: Sealed}}},
		&rota.PromoteSecretKey{Meta: Meta(78), From: "fedcba9876543210", To: "0123456789abcdef"},
	}
}
