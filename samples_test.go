package rota

import (
	"encoding/json"
	"time"
)

// sampleTime is whole microseconds, which is all that a store keeps.
var sampleTime = time.Date(2026, 11, 15, 3, 30, 0, 123456000, time.UTC)

func sampleID(n byte) ID {
	return ID{1: 0x92, 2: 0x6a, 3: 0x5e, 4: 0x7c, 5: 0x3b, 6: 0x70, 8: 0x80, 15: n}
}

func sampleToken(n byte) Token { return Token{0: 0xfe, 15: n} }

func sampleMeta(n byte) Meta { return Meta{ID: sampleID(n), Actor: "ada", Law: 1} }

func sampleLease() LeaseRef {
	return LeaseRef{JobID: sampleID(0x21), RunID: sampleID(0x22), Token: sampleToken(0x23)}
}

// sampleCommands holds a valid command of every verb with every field set. An
// Enqueue cannot have both a run_at and a delay, so it has two jobs.
func sampleCommands() []Command {
	return []Command{
		sampleEnqueue(),
		&Ready{Meta: sampleMeta(2), Limit: 7},
		&Claim{
			Meta: sampleMeta(3), Worker: "worker-1", Life: sampleID(0x31), Types: []string{"mail.send", "report"},
			Limit: 10, Lease: 30 * time.Second, Seed: sampleToken(0x32),
		},
		&Extend{Meta: sampleMeta(4), Lease: time.Minute, Items: []ExtendItem{
			{LeaseRef: sampleLease(), Progress: json.RawMessage(`{"done":3}`)},
		}},
		&Note{Meta: sampleMeta(5), Items: []NoteItem{{
			LeaseRef: sampleLease(), Progress: json.RawMessage(`0.5`),
			Artifacts: []string{"out/a.csv", "out/b.csv"}, LogPath: "logs/a.log",
		}}},
		sampleFinish(),
		&Cancel{Meta: sampleMeta(7), JobID: sampleID(0x71), Reason: "not needed any more"},
		&Edit{Meta: sampleMeta(8), JobID: sampleID(0x81), Version: new(sampleID(0x82)), Priority: new(0), Params: json.RawMessage(`{}`)},
		&Move{Meta: sampleMeta(9), JobID: sampleID(0x91), Version: new(ID{}), Place: PlaceBefore, Anchor: sampleID(0x92)},
		&Normalise{Meta: sampleMeta(10), Priority: -5, After: sampleID(0xa1)},
		&Reap{Meta: sampleMeta(11), Life: sampleID(0xb1), Limit: 100},
		&Recover{Meta: sampleMeta(12), Runner: "node-1", Life: sampleID(0xc1), Limit: 1000},
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
			Jitter: new(0.25), Timeout: new(time.Duration(0)),
		},
		{Type: "report", Delay: 90 * time.Second},
	}}
}

func sampleFinish() *Finish {
	return &Finish{Meta: sampleMeta(6), Items: []FinishItem{{
		LeaseRef: sampleLease(), Outcome: OutcomeFailed, ExitCode: new(-1), Error: "disk full", ErrorCode: "ENOSPC",
		RowsAffected: new(int64(0)), Result: json.RawMessage(`[1,2]`), Artifacts: []string{"out/a.csv"},
		LogPath: "logs/a.log", Permanent: true, RetryAt: sampleTime,
	}}}
}
