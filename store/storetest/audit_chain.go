package storetest

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testAuditChain(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"entries are sealed in the order of writing", chainOrder},
		{"a command that is sent again seals nothing", chainResent},
		{"a refused command seals nothing", chainRefused},
		{"derived entries are sealed when a prune writes them", chainOfPrunedJob},
		{"pages of the chain continue after a number", chainPages},
		{"many entries of one command are sealed", chainMany},
		{"the first entries are removed and the chain continues after the anchor", chainPruned},
		{"an entry that follows a newer one is kept", chainPrunesPrefix},
		{"the anchor is signed with the removal", chainAnchorSigned},
		{"all entries are removed and the chain continues", chainPrunedAll},
		{"earlier states of the chain are confirmed", chainPoints},
		{"another hash of an earlier state is reported", chainRewritten},
		{"an earlier state that is longer is reported", chainCutOff},
	})
}

// chain returns the chain of the store after all entries are sealed.
func (y *story) chain() rota.AuditChain {
	y.Helper()
	chain, has := rota.StoreAs[rota.AuditChain](y.s)
	switch {
	case isModel(y.s):
		y.Skip("the model does not chain the audit")
	case !has:
		y.Fatal("the store has no chain of the audit")
	}
	for {
		sealed, err := chain.SealAudit(y.ctx, 2)
		if must(y, "seal", sealed, err) == 0 {
			return chain
		}
	}
}

// sealed returns the entries of the chain.
func (y *story) sealed() []rota.SealedEntry {
	y.Helper()
	all, err := y.chain().SealedAudit(y.ctx, 0, 10_000)
	return must(y, "sealed audit", all, err)
}

// pruneAudit removes old entries and returns how many.
func (y *story) pruneAudit(before time.Time, limit int) int {
	y.Helper()
	removed, err := y.chain().PruneAudit(y.ctx, before, limit, nil)
	return must(y, "prune audit", removed, err)
}

func (y *story) auditState() rota.AuditState {
	y.Helper()
	state, err := y.chain().AuditState(y.ctx)
	return must(y, "audit state", state, err)
}

func (y *story) verifyAudit(points ...rota.AuditPoint) rota.AuditReport {
	y.Helper()
	return y.verifyTrusted(rota.AuditTrust{Points: points})
}

func (y *story) verifyTrusted(trust rota.AuditTrust) rota.AuditReport {
	y.Helper()
	report, err := y.chain().VerifyAudit(y.ctx, trust)
	return must(y, "verify audit", report, err)
}

// wantIntact wants a chain that is as it was sealed.
func (y *story) wantIntact(points ...rota.AuditPoint) {
	y.Helper()
	report := y.verifyAudit(points...)
	if report.Fault != nil {
		y.Errorf("verify found: %s", report.Fault)
	}
	want(y, "entries checked", report.Checked, report.Head.Seq-report.Anchor.Seq)
	y.wantNoViolations()
}

// limitChanges changes the limits n times, which writes an entry each time.
func (y *story) limitChanges(n int) {
	y.Helper()
	for range n {
		y.advance(time.Second)
		y.throttle(rota.ThrottleSpec{Global: int(y.now.Unix()%1000) + 1})
	}
}

func chainOrder(y *story) {
	want(y, "head of an empty chain", y.auditState().Head, rota.AuditPoint{})
	y.limitChanges(3)
	all := y.sealed()
	written := y.writtenAudit()
	want(y, "sealed", len(all), 3)
	before := rota.AuditHash{}
	for i, e := range all {
		want(y, "number", e.Seq, int64(i+1))
		want(y, "id", e.ID, written[i].ID)
		want(y, "hash", e.Hash, e.Entry.ChainHash(e.Seq, before))
		before = e.Hash
	}
	state := y.auditState()
	want(y, "head", state.Head, all[2].AuditPoint)
	want(y, "unsealed", state.Unsealed, 0)
	y.wantIntact()
}

func chainResent(y *story) {
	c := &rota.PutThrottle{Meta: y.ids.meta(), Spec: rota.ThrottleSpec{Global: 5}}
	do[*rota.ThrottlePut](y, c)
	head := y.auditState().Head
	do[*rota.ThrottlePut](y, c)
	want(y, "head", y.auditState().Head, head)
	y.wantIntact()
}

func chainRefused(y *story) {
	y.limitChanges(1)
	head := y.auditState().Head
	results := y.send(
		&rota.All{Meta: y.ids.meta(), Members: []rota.Command{
			&rota.PutThrottle{Meta: y.ids.meta(), Spec: rota.ThrottleSpec{Global: 77}},
			&rota.Archive{Meta: y.ids.meta(), Name: "unknown"},
		}},
	)
	want(y, "refused", results[0].Err != nil, true)
	want(y, "head", y.auditState().Head, head)
	y.wantIntact()
}

func chainOfPrunedJob(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	sealed := len(y.sealed())
	y.prune(j.ID)
	want(y, "sealed by the prune", len(y.sealed())-sealed, 2)
	y.wantIntact()
}

func chainPages(y *story) {
	y.limitChanges(5)
	page, err := y.chain().SealedAudit(y.ctx, 2, 2)
	page = must(y, "page", page, err)
	want(y, "length", len(page), 2)
	want(y, "first", page[0].Seq, int64(3))
	page, err = y.chain().SealedAudit(y.ctx, 5, 2)
	want(y, "after the last", len(must(y, "page", page, err)), 0)
}

func chainMany(y *story) {
	const jobs = rota.SealMax + 5
	c := y.enqueueCommand(make([]rota.NewJob, jobs)...)
	for i := range c.Jobs {
		c.Jobs[i].Type = "mail"
	}
	var batch []rota.Command
	for _, e := range do[*rota.Enqueued](y, c).Jobs {
		batch = append(batch, y.cancelCommand(e.Job.ID))
	}
	y.send(batch...)
	want(y, "head", y.auditState().Head.Seq, int64(jobs))
	y.wantIntact()
}

func chainPruned(y *story) {
	y.limitChanges(4)
	all := y.sealed()
	want(y, "removed", y.pruneAudit(all[2].Entry.At, 1), 1)
	want(y, "removed in a second page", y.pruneAudit(all[2].Entry.At, 10), 1)
	state := y.auditState()
	want(y, "anchor", state.Anchor.AuditPoint, all[1].AuditPoint)
	want(y, "first kept", y.sealed()[0].AuditPoint, all[2].AuditPoint)
	y.limitChanges(1)
	want(y, "next number", y.auditState().Head.Seq, int64(5))
	y.wantIntact(all[0].AuditPoint, all[1].AuditPoint, all[3].AuditPoint)
}

func chainPrunesPrefix(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.advance(time.Hour)
	y.limitChanges(1)
	newer := y.now
	y.prune(j.ID) // writes entries that are older than the one before them
	want(y, "removed", y.pruneAudit(newer, 10), 0)
	want(y, "removed with the newer one", y.pruneAudit(newer.Add(time.Second), 10), 3)
	y.wantIntact()
}

func chainAnchorSigned(y *story) {
	y.limitChanges(2)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	removed, err := y.chain().PruneAudit(y.ctx, y.now, 10, signWith(key))
	want(y, "removed", must(y, "prune audit", removed, err), 1)
	anchor := y.auditState().Anchor
	signed, valid := anchor.Signed()
	want(y, "signed", signed, true)
	want(y, "valid", valid, true)
	y.wantIntact()
}

func chainPrunedAll(y *story) {
	y.limitChanges(2)
	head := y.auditState().Head
	want(y, "removed", y.pruneAudit(y.now.Add(time.Hour), 10), 2)
	want(y, "head", y.auditState().Head, head)
	y.limitChanges(1)
	want(y, "next", y.sealed()[0].Seq, int64(3))
	y.wantIntact(head)
}

func chainPoints(y *story) {
	y.limitChanges(2)
	early := y.auditState().Head
	y.limitChanges(2)
	y.wantIntact(early, y.auditState().Head, rota.AuditPoint{})
}

func chainRewritten(y *story) {
	y.limitChanges(4)
	all := y.sealed()
	fault := y.verifyAudit(all[0].AuditPoint, rota.AuditPoint{Seq: 3, Hash: all[0].Hash}).Fault
	if fault == nil {
		y.Fatal("nothing was reported")
	}
	want(y, "kind", fault.Kind, rota.AuditChanged)
	want(y, "first entry that may have been changed", fault.Seq, int64(2))
}

func chainCutOff(y *story) {
	y.limitChanges(2)
	fault := y.verifyAudit(rota.AuditPoint{Seq: 5}).Fault
	if fault == nil {
		y.Fatal("nothing was reported")
	}
	want(y, "kind", fault.Kind, rota.AuditCutOff)
	want(y, "first entry that is missing", fault.Seq, int64(3))
}
