package transfer_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/transfer"
)

// verifyChain checks the chain of the audit of a store.
func verifyChain(t testing.TB, at place, trust rota.AuditTrust) rota.AuditReport {
	t.Helper()
	s := at.read(t)
	defer s.Close()
	chain, _ := rota.StoreAs[rota.AuditChain](s)
	report, err := chain.VerifyAudit(t.Context(), trust)
	must(t, err)
	return report
}

// auditedStore has a chain of six entries whose first two were removed, and returns its head.
func auditedStore(t testing.TB, at place) rota.AuditHead {
	t.Helper()
	s, err := at.open(t, false)
	must(t, err)
	defer s.Close()
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	for i := range 6 {
		c := &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: i + 1}}
		results, err := s.Apply(t.Context(), rota.Batch{Now: now.Add(time.Duration(i) * time.Second), Commands: []rota.Command{c}})
		must(t, err)
		if results[0].Err != nil {
			t.Fatal(results[0].Err)
		}
	}
	chain, _ := rota.StoreAs[rota.AuditChain](s)
	for sealed := 1; sealed > 0; {
		sealed, err = chain.SealAudit(t.Context(), rota.SealMax)
		must(t, err)
	}
	removed, err := chain.PruneAudit(t.Context(), now.Add(2*time.Second), 10, func(_ rota.AuditAnchor, a *rota.AuditAnchor) error { a.Sign(auditKey); return nil })
	must(t, err)
	state, err := chain.AuditState(t.Context())
	must(t, err)
	if removed != 2 || state.Head.Seq != 6 {
		t.Fatalf("%d entries were removed of %d", removed, state.Head.Seq)
	}
	return rota.SignAuditHead(auditKey, "local", state, now)
}

var auditKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// TestCopiedChainIsCheckedWithHeadOfSource copies the chain from each kind of store to each, and then changes the copy.
func TestCopiedChainIsCheckedWithHeadOfSource(t *testing.T) {
	kinds := map[string]func(testing.TB) place{"sqlite": newFile, "postgres": newDatabase}
	for from, newSource := range kinds {
		for to, newTarget := range kinds {
			t.Run(from+" to "+to, func(t *testing.T) {
				source, target := newSource(t), newTarget(t)
				head := auditedStore(t, source)
				_, err := copyStore(t, source, target, transfer.Options{History: true})
				must(t, err)
				trust := rota.AuditTrust{Keys: []rota.AuditKey{head.Key}}
				trust.Add(&head)
				if r := verifyChain(t, target, trust); r.Fault != nil || r.Checked != 4 || r.Anchor.Seq != 2 || r.Head.Hash != head.Hash {
					t.Fatalf("the copy is not intact: %v, %+v", r.Fault, r)
				}
				target.exec(t, dropUpdateTrigger[to])
				target.exec(t, `UPDATE rota_audit SET actor = 'eve' WHERE at = (SELECT max(at) FROM rota_audit)`)
				if r := verifyChain(t, target, trust); r.Fault == nil || r.Fault.Kind != rota.AuditChanged || r.Fault.Seq != 6 {
					t.Errorf("a changed copy: %v", r.Fault)
				}
			})
		}
	}
}

// dropUpdateTrigger removes what keeps entries from being changed.
var dropUpdateTrigger = map[string]string{
	"sqlite": `DROP TRIGGER rota_audit_keep`, "postgres": `ALTER TABLE rota_audit DISABLE TRIGGER USER`,
}
