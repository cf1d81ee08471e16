package rota_test

import (
	"testing"

	"github.com/rotajobs/rota"
)

// TestEntriesFromBeforeHaveActorAndOutcome completes entries as earlier versions stored them.
func TestEntriesFromBeforeHaveActorAndOutcome(t *testing.T) {
	for _, one := range []struct{ was, want rota.AuditEntry }{
		{rota.AuditEntry{Act: "TYPE_CREATED"}, rota.AuditEntry{Act: "TYPE_CREATED", Actor: "rota", Outcome: "OK"}},
		{rota.AuditEntry{Act: "JOB_FAILED", Actor: "ada", Outcome: "FAILED"}, rota.AuditEntry{Act: "JOB_FAILED", Actor: "ada", Outcome: "FAILED"}},
		{rota.AuditEntry{Act: "JOB_CANCELLED", Actor: "ada", Outcome: "STOPPING"}, rota.AuditEntry{Act: "JOB_STOPPING", Actor: "ada", Outcome: "OK"}},
		{rota.AuditEntry{Act: "JOB_CANCELLED", Actor: "ada"}, rota.AuditEntry{Act: "JOB_CANCELLED", Actor: "ada", Outcome: "CANCELLED"}},
	} {
		got := one.was.WithDefaults()
		if got.Act != one.want.Act || got.Actor != one.want.Actor || got.Outcome != one.want.Outcome {
			t.Errorf("%+v, want %+v", got, one.want)
		}
	}
}
