package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// Tamper changes rows of a store as someone does who has the database: without the store and without its
// triggers and constraints.
type Tamper struct {
	Exec  func(sql string)
	ID    func(rota.ID) string  // literal of an id
	Bytes func(b []byte) string // literal of bytes
}

// chainLength is the number of entries of a chain that is tampered with.
const chainLength = 6

// tampering is one way to tamper with an audit, and what the check of the chain reports.
type tampering struct {
	name   string
	change func(a *attack)
	kind   string
	seq    int64
	id     bool // the id of entry seq, or of the inserted entry, is reported, too
}

// attack is an audit with the heads that were signed before, and the means to tamper with it.
type attack struct {
	*story
	Tamper
	all   []rota.SealedEntry
	heads []rota.AuditPoint // given to the check
	fake  rota.ID           // of the last inserted entry
}

var tamperings = []tampering{
	{"actor changed", set(`actor = 'eve'`), rota.AuditChanged, 3, true},
	{"act changed", set(`act = 'JOB_CREATED'`), rota.AuditChanged, 3, true},
	{"subject changed", set(`subject = 'job 7'`), rota.AuditChanged, 3, true},
	{"subject removed", set(`subject = NULL`), rota.AuditChanged, 3, true},
	{"schedule changed", set(`schedule = 'nightly'`), rota.AuditChanged, 3, true},
	{"outcome changed", set(`outcome = 'FAILED'`), rota.AuditChanged, 3, true},
	{"detail changed", set(`detail = 'nothing'`), rota.AuditChanged, 3, true},
	{"changes changed", set(`changes = '{}'`), rota.AuditChanged, 3, true},
	{"time changed", set(`at = at + 1`), rota.AuditChanged, 3, true},
	{"job changed", set(`job_id = id`), rota.AuditChanged, 3, true},
	{"execution changed", set(`execution_id = id`), rota.AuditChanged, 3, true},
	{"run changed", set(`run_id = id`), rota.AuditChanged, 3, true},
	{"id changed", func(a *attack) { set(`id = ` + a.ID(a.ids.next()))(a) }, rota.AuditRemoved, 3, true},
	{"first entry changed", func(a *attack) { a.set(1, `actor = 'eve'`) }, rota.AuditChanged, 1, true},
	{"last entry changed", func(a *attack) { a.set(6, `actor = 'eve'`) }, rota.AuditChanged, 6, true},
	{"several entries changed", func(a *attack) {
		a.set(2, `actor = 'eve'`)
		a.set(5, `actor = 'eve'`)
	}, rota.AuditChanged, 2, true},
	{"contents of two entries exchanged", func(a *attack) {
		a.set(3, fmt.Sprintf(`at = %d`, a.all[3].Entry.At.UnixMicro()))
		a.set(4, fmt.Sprintf(`at = %d`, a.all[2].Entry.At.UnixMicro()))
	}, rota.AuditChanged, 3, true},
	{"entry removed", func(a *attack) { a.delete(3) }, rota.AuditRemoved, 3, true},
	{"first entry removed", func(a *attack) { a.delete(1) }, rota.AuditRemoved, 1, true},
	{"last entry removed", func(a *attack) { a.delete(6) }, rota.AuditRemoved, 6, true},
	{"entry removed from the audit and the chain", func(a *attack) {
		a.delete(3)
		a.reseal(1, a.all[0], a.all[1], a.all[3], a.all[4], a.all[5])
	}, rota.AuditRemoved, 3, false},
	{"two entries removed from the audit and the chain", func(a *attack) {
		a.delete(3, 4)
		a.reseal(1, a.all[0], a.all[1], a.all[4], a.all[5])
	}, rota.AuditRemoved, 3, false},
	{"seals in the middle removed", func(a *attack) {
		a.delete(3)
		a.Exec(`DELETE FROM rota_audit_seals`)
		a.insertSeal(1, a.all[:2]...)
		a.insertSeal(4, a.all[3:]...)
	}, rota.AuditRemoved, 3, false},
	{"last entries removed", func(a *attack) {
		a.delete(5, 6)
		a.reseal(1, a.all[:4]...)
		a.heads = []rota.AuditPoint{a.all[1].AuditPoint, a.all[5].AuditPoint}
	}, rota.AuditCutOff, 5, false},
	{"all entries removed", func(a *attack) {
		a.Exec(`DELETE FROM rota_audit`)
		a.Exec(`DELETE FROM rota_audit_seals`)
		a.heads = []rota.AuditPoint{a.all[5].AuditPoint}
	}, rota.AuditCutOff, 1, false},
	{"first entries removed", func(a *attack) {
		a.delete(1, 2)
		a.reseal(3, a.all[2:]...)
	}, rota.AuditCutOff, 1, false},
	{"first entries removed, and the anchor moved", func(a *attack) {
		a.delete(1, 2)
		a.reseal(3, a.all[2:]...)
		a.Exec(fmt.Sprintf(`UPDATE rota_audit_anchor SET seq = 2, hash = %s`, a.Bytes(a.all[0].Hash[:])))
	}, rota.AuditChanged, 3, true},
	{"anchor changed", func(a *attack) {
		a.Exec(`UPDATE rota_audit_anchor SET hash = ` + a.Bytes(a.all[0].Hash[:]))
	}, rota.AuditChanged, 1, false},
	{"whole chain computed again after another anchor", func(a *attack) {
		a.Exec(`UPDATE rota_audit_anchor SET hash = ` + a.Bytes(a.all[0].Hash[:]))
		a.recomputeAfter(a.all[0].Hash, 1)
	}, rota.AuditChanged, 1, false},
	{"entry inserted into the audit", func(a *attack) { a.insert(9) }, rota.AuditInserted, 0, true},
	{"entry inserted into the audit and the chain", func(a *attack) {
		fake := a.insert(9)
		a.reseal(1, a.all[0], a.all[1], fake, a.all[2], a.all[3], a.all[4], a.all[5])
	}, rota.AuditInserted, 3, true},
	{"entry inserted at the end", func(a *attack) {
		fake := a.insert(9)
		a.reseal(1, append(a.all[:6:6], fake)...)
	}, rota.AuditChanged, 7, false},
	{"two entries exchanged", func(a *attack) {
		a.reseal(1, a.all[0], a.all[1], a.all[3], a.all[2], a.all[4], a.all[5])
	}, rota.AuditInserted, 3, false},
	{"hash of a seal changed", func(a *attack) {
		changed := a.all[2]
		changed.Hash[0]++
		a.reseal(1, a.all[0], a.all[1], changed, a.all[3], a.all[4], a.all[5])
	}, rota.AuditChanged, 3, true},
	{"id of a seal changed", func(a *attack) {
		changed := a.all[2]
		changed.ID = a.all[4].ID
		a.reseal(1, a.all[0], a.all[1], changed, a.all[3], a.all[4], a.all[5])
	}, rota.AuditChanged, 3, false},
	{"numbers of a seal changed", func(a *attack) { a.reseal(2, a.all...) }, rota.AuditCutOff, 1, false},
	{"entry sealed twice", func(a *attack) {
		a.insertSeal(7, a.all[5])
	}, rota.AuditChanged, 7, false},
	{"last hash changed", func(a *attack) {
		last := a.all[5]
		last.Hash[0]++
		a.reseal(1, append(a.all[:5:5], last)...)
	}, rota.AuditChanged, 6, true},
	{"number of the last seal changed", func(a *attack) {
		a.reseal(1, a.all...)
		a.Exec(`UPDATE rota_audit_seals SET seq = seq + 60`)
	}, rota.AuditChanged, 1, false},
	{"bytes added to the hashes of the last seal", func(a *attack) {
		a.reseal(1, a.all...)
		a.Exec(`UPDATE rota_audit_seals SET hashes = ` + a.hashes(0, 1, 2, 3, 4, 5, 0))
	}, rota.AuditChanged, 1, false},
	{"bytes added to the hashes of another seal", func(a *attack) {
		a.reseal(1, a.all[:3]...)
		a.insertSeal(4, a.all[3:]...)
		a.Exec(`UPDATE rota_audit_seals SET hashes = ` + a.hashes(0, 1, 2, 0) + ` WHERE seq = 3`)
	}, rota.AuditChanged, 1, false},
	{"empty seal added at the end", func(a *attack) {
		empty := a.Bytes([]byte{})
		a.Exec(fmt.Sprintf(`INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (500, 7, %s, %s)`, empty, empty))
	}, rota.AuditChanged, 7, false},
	{"row of the anchor removed", func(a *attack) { a.Exec(`DELETE FROM rota_audit_anchor`) }, rota.AuditCutOff, 1, false},
	{"first entries removed with the row of the anchor", func(a *attack) {
		a.delete(1, 2)
		a.reseal(3, a.all[2:]...)
		a.Exec(`DELETE FROM rota_audit_anchor`)
	}, rota.AuditCutOff, 1, false},
	{"whole chain computed again after a change", func(a *attack) {
		a.set(1, `actor = 'eve'`)
		a.recomputeAfter(rota.AuditHash{}, 1)
		a.heads = []rota.AuditPoint{a.all[5].AuditPoint}
	}, rota.AuditChanged, 1, false},
	{"chain computed again after a change", func(a *attack) {
		set(`actor = 'eve'`)(a)
		a.recompute(3)
		a.heads = []rota.AuditPoint{a.all[0].AuditPoint, a.all[1].AuditPoint, a.all[4].AuditPoint}
	}, rota.AuditChanged, 3, false},
	{"chain computed again after the last entries were replaced", func(a *attack) {
		a.Exec(`UPDATE rota_audit SET actor = 'eve' WHERE id = ` + a.ID(a.all[5].ID))
		a.recompute(6)
		a.heads = []rota.AuditPoint{a.all[5].AuditPoint}
	}, rota.AuditChanged, 1, false},
}

// set changes columns of the third entry.
func set(columns string) func(*attack) { return func(a *attack) { a.set(3, columns) } }

// set changes columns of an entry.
func (a *attack) set(seq int, columns string) {
	a.Exec(`UPDATE rota_audit SET ` + columns + ` WHERE id = ` + a.ID(a.all[seq-1].ID))
}

func (a *attack) delete(seqs ...int) {
	for _, seq := range seqs {
		a.Exec(`DELETE FROM rota_audit WHERE id = ` + a.ID(a.all[seq-1].ID))
	}
}

// insert adds an entry to the audit.
func (a *attack) insert(at int64) rota.SealedEntry {
	id := a.ids.next()
	a.Exec(fmt.Sprintf(`INSERT INTO rota_audit (id, at, actor, act, subject) VALUES (%s, %d, 'eve', 'LIMITS_MODIFIED', 'limits')`, a.ID(id), at))
	a.Exec(`DELETE FROM rota_audit_unsealed`)
	a.fake = id
	return rota.SealedEntry{ID: id}
}

// reseal replaces the chain.
func (a *attack) reseal(first int64, entries ...rota.SealedEntry) {
	a.Exec(`DELETE FROM rota_audit_seals`)
	a.insertSeal(first, entries...)
}

func (a *attack) insertSeal(first int64, entries ...rota.SealedEntry) {
	var ids, hashes []byte
	for _, e := range entries {
		ids, hashes = append(ids, e.ID[:]...), append(hashes, e.Hash[:]...)
	}
	a.Exec(fmt.Sprintf(`INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (%d, %d, %s, %s)`,
		first+int64(len(entries))-1, first, a.Bytes(ids), a.Bytes(hashes)))
}

// hashes returns the hashes of entries as they are stored.
func (a *attack) hashes(entries ...int) string {
	var all []byte
	for _, n := range entries {
		all = append(all, a.all[n].Hash[:]...)
	}
	return a.Bytes(all)
}

// recompute computes the hashes again from an entry on.
func (a *attack) recompute(from int) { a.recomputeAfter(a.all[from-2].Hash, from) }

// recomputeAfter does that after a hash.
func (a *attack) recomputeAfter(before rota.AuditHash, from int) {
	now := a.sealed()
	for i := from - 1; i < len(now); i++ {
		before = now[i].Entry.ChainHash(now[i].Seq, before)
		now[i].Hash = before
	}
	a.reseal(1, now...)
}

func testAuditTampering(t *testing.T, h Harness) {
	if h.Tamper == nil {
		t.Skip("the harness cannot tamper with a store")
	}
	var stories []namedStory
	for _, one := range tamperings {
		stories = append(stories, namedStory{one.name, func(y *story) { tamper(y, one) }})
	}
	for _, one := range anchorTamperings {
		stories = append(stories, namedStory{one.name, func(y *story) { tamperAnchor(y, one) }})
	}
	stories = append(stories, namedStory{"tampered entries are not pruned", tamperPrune},
		namedStory{"a seal that was altered is not pruned", tamperPruneSeal},
		namedStory{"entries without a row of the anchor are not pruned", tamperPruneAnchor},
		namedStory{"entries behind an anchor that the signer refuses are not pruned", tamperPruneRefused},
		namedStory{"unsealed entries tampered with", tamperUnsealed})
	runStories(t, h, stories)
}

func newAttack(y *story) *attack {
	y.limitChanges(chainLength)
	a := &attack{story: y, all: y.sealed()}
	y.wantIntact(a.all[5].AuditPoint)
	a.Tamper = y.h.Tamper(y, y.s)
	return a
}

func tamper(y *story, how tampering) {
	a := newAttack(y)
	how.change(a)
	fault := y.verifyAudit(a.heads...).Fault
	if fault == nil {
		y.Fatal("the check found nothing")
	}
	want(y, "kind", fault.Kind, how.kind)
	want(y, "number", fault.Seq, how.seq)
	switch {
	case how.id && how.kind == rota.AuditInserted:
		want(y, "id", fault.ID, a.fake)
	case how.id:
		want(y, "id", fault.ID, a.all[how.seq-1].ID)
	}
}

func tamperPrune(y *story) {
	a := newAttack(y)
	set(`actor = 'eve'`)(a)
	a.wantNotPruned(chainLength, nil)
}

// wantNotPruned wants a prune that removes nothing.
func (a *attack) wantNotPruned(limit int, sign rota.AnchorSigner) {
	a.Helper()
	removed, err := a.chain().PruneAudit(a.ctx, a.now.Add(time.Hour), limit, sign)
	want(a.story, "removed", removed, 0)
	want(a.story, "code", rota.CodeOf(err), rota.Conflict)
	listed, err := a.s.Audit(a.ctx, rota.AuditQuery{Limit: rota.PageMax})
	want(a.story, "entries", len(must(a.story, "audit", listed, err).Entries), chainLength)
}

// tamperPruneSeal gives a seal a smaller number than that of its last entry: it would be removed with entries that are kept.
func tamperPruneSeal(y *story) {
	a := newAttack(y)
	a.reseal(1, a.all...)
	a.Exec(`UPDATE rota_audit_seals SET seq = 2`)
	a.wantNotPruned(2, nil)
}

func tamperPruneAnchor(y *story) {
	a := newAttack(y)
	a.Exec(`DELETE FROM rota_audit_anchor`)
	a.wantNotPruned(2, nil)
	chain, _ := rota.StoreAs[rota.AuditChain](y.s)
	_, err := chain.AuditState(y.ctx)
	want(y, "code of the state", rota.CodeOf(err), rota.Conflict)
}

func tamperPruneRefused(y *story) {
	a := newAttack(y)
	a.wantNotPruned(2, func(last rota.AuditAnchor, next *rota.AuditAnchor) error {
		want(y, "last anchor", last.Seq, int64(0))
		want(y, "next anchor", next.Seq, int64(2))
		return rota.Errorf(rota.Conflict, "sign", "it is not believed")
	})
}
