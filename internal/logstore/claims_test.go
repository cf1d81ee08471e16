package logstore_test

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// A claim that finds nothing takes no entry, even if another worker of the process found jobs with its last claim. Nor
// does maintenance.
func TestIdleWorkerBesideBusyOneTakesNoEntries(t *testing.T) {
	a := openNodes(t, 1)[0]
	apply(t, a, &rota.PutType{Meta: rota.NewMeta(""), Name: "mail"}, enqueue(rota.NewJob{Type: "mail"}, rota.NewJob{Type: "mail"}))
	claim := func(worker, typ string) rota.Command {
		return &rota.Claim{
			Meta: rota.NewMeta(""), Worker: worker, Incarnation: rota.NewID(), Types: []string{typ}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
		}
	}
	for _, step := range []struct {
		command rota.Command
		entries int
	}{
		{claim("busy", "mail"), 1},
		{claim("idle", "web"), 0},
		{&rota.Reap{Meta: rota.NewMeta(""), Incarnation: rota.NewID()}, 0},
		{claim("busy", "mail"), 1},
		{claim("busy", "mail"), 1}, // it found jobs before, and finds none
		{claim("busy", "mail"), 0},
	} {
		before := a.length()
		apply(t, a, step.command)
		if n := a.length() - before; n != step.entries {
			t.Errorf("%s takes %d entries, want %d", step.command.Verb(), n, step.entries)
		}
	}
}
