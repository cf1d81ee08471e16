package storetest

import (
	"crypto/ed25519"
	"fmt"

	"github.com/rotajobs/rota"
)

// anchorTampering is one way to hide the removal of the third entry behind the anchor, after retention has removed two.
type anchorTampering struct {
	name  string
	forge func(a *attack, forged *rota.AuditAnchor)
	trust func(head *rota.AuditHead) rota.AuditTrust // head of before the removal
	seq   int64                                      // first entry that is reported; 0: nothing is
}

var (
	nodeKey  = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	otherKey = ed25519.NewKeyFromSeed([]byte("another key of an attacker......"))
)

func publicKey(key ed25519.PrivateKey) rota.AuditKey {
	return rota.AuditKey(key.Public().(ed25519.PublicKey))
}

// signWith signs an anchor without a look at the one before.
func signWith(key ed25519.PrivateKey) rota.AnchorSigner {
	return func(_ rota.AuditAnchor, next *rota.AuditAnchor) error {
		next.Sign(key)
		return nil
	}
}

// trustsNothing, trustsHead and trustsKey are what a check knows: nothing, that nodes have keys and a head of one of them,
// or also the only key.
func trustsNothing(*rota.AuditHead) rota.AuditTrust { return rota.AuditTrust{} }

func trustsHead(head *rota.AuditHead) (trust rota.AuditTrust) {
	trust.Add(head)
	return trust
}

func trustsKey(head *rota.AuditHead) rota.AuditTrust {
	trust := trustsHead(head)
	trust.Keys = []rota.AuditKey{publicKey(nodeKey)}
	return trust
}

func keyWithoutHead(*rota.AuditHead) rota.AuditTrust {
	return rota.AuditTrust{Keys: []rota.AuditKey{publicKey(nodeKey)}}
}

func keepSignature(*attack, *rota.AuditAnchor)    {}
func noSignature(_ *attack, f *rota.AuditAnchor)  { f.Key, f.Signature = nil, nil }
func signAsOther(_ *attack, f *rota.AuditAnchor)  { f.Sign(otherKey) }
func signAsNode(_ *attack, f *rota.AuditAnchor)   { f.Sign(nodeKey) }
func badSignature(_ *attack, f *rota.AuditAnchor) { f.Sign(nodeKey); f.Signature[7]++ }
func shortKey(_ *attack, f *rota.AuditAnchor)     { f.Sign(nodeKey); f.Key = f.Key[:5] }

var anchorTamperings = []anchorTampering{
	{name: "anchor moved with its old signature", forge: keepSignature, trust: trustsNothing, seq: 1},
	{name: "anchor moved with its old signature, beside a head", forge: keepSignature, trust: trustsHead, seq: 3},
	{name: "anchor moved without a signature", forge: noSignature, trust: trustsHead, seq: 3},
	{name: "anchor moved without a signature, beside a key", forge: noSignature, trust: keyWithoutHead, seq: 1},
	{name: "anchor moved with a changed signature", forge: badSignature, trust: trustsHead, seq: 3},
	{name: "anchor moved with a short key", forge: shortKey, trust: trustsNothing, seq: 1},
	{name: "anchor moved and signed with another key", forge: signAsOther, trust: trustsKey, seq: 3},
	{name: "anchor moved without a signature, and no node has a key", forge: noSignature, trust: trustsNothing},
	{name: "anchor moved by another node", forge: signAsOther, trust: trustsHead},
	{name: "anchor moved by the node", forge: signAsNode, trust: trustsKey},
	{name: "anchor of a head without its signature", forge: func(a *attack, f *rota.AuditAnchor) {
		f.AuditPoint, f.Key, f.Signature = a.all[1].AuditPoint, nil, nil
	}, trust: trustsKey},
}

func tamperAnchor(y *story, how anchorTampering) {
	a := newAttack(y)
	removed, err := y.chain().PruneAudit(y.ctx, a.all[2].Entry.At, 10, signWith(nodeKey))
	want(y, "removed", must(y, "prune", removed, err), 2)
	state := y.auditState()
	head := rota.SignAuditHead(nodeKey, "local", state, y.now)
	trust := how.trust(&head)
	want(y, "fault before", y.verifyTrusted(trust).Fault, (*rota.AuditFault)(nil))

	forged := state.Anchor
	forged.AuditPoint = a.all[2].AuditPoint
	how.forge(a, &forged)
	if forged.Seq == 3 {
		a.delete(3)
		a.reseal(4, a.all[3:]...)
	}
	a.Exec(fmt.Sprintf(`UPDATE rota_audit_anchor SET seq = %d, hash = %s, key = %s, signature = %s`,
		forged.Seq, a.Bytes(forged.Hash[:]), a.bytesOrNull(forged.Key), a.bytesOrNull(forged.Signature)))
	fault := y.verifyTrusted(trust).Fault
	if how.seq == 0 {
		want(y, "fault", fault, (*rota.AuditFault)(nil))
		return
	}
	if fault == nil {
		y.Fatal("the check found nothing")
	}
	want(y, "kind", fault.Kind, rota.AuditCutOff)
	want(y, "first entry", fault.Seq, how.seq)
}

func (a *attack) bytesOrNull(b []byte) string {
	if b == nil {
		return "NULL"
	}
	return a.Bytes(b)
}

// tamperUnsealed tampers with entries that are written and not sealed yet. A store that seals in its transactions has none.
func tamperUnsealed(y *story) {
	a := newAttack(y)
	y.limitChanges(3)
	chain, _ := rota.StoreAs[rota.AuditChain](y.s)
	check := func() rota.AuditReport {
		report, err := chain.VerifyAudit(y.ctx, rota.AuditTrust{})
		return must(y, "verify audit", report, err)
	}
	before := check()
	want(y, "fault before", before.Fault, (*rota.AuditFault)(nil))
	if before.Unsealed == 0 {
		y.Skip("the store seals entries as it writes them")
	}
	want(y, "unsealed", before.Unsealed, int64(3))
	written := y.writtenAudit()
	found := func(kind string, id rota.ID) {
		y.Helper()
		fault := check().Fault
		if fault == nil {
			y.Fatal("the check found nothing")
		}
		want(y, "kind", fault.Kind, kind)
		want(y, "id", fault.ID, id)
	}
	a.Exec(`DELETE FROM rota_audit_unsealed WHERE ids = ` + a.Bytes(written[8].ID[:]))
	found(rota.AuditInserted, written[8].ID) // neither sealed nor going to be
	a.Exec(`DELETE FROM rota_audit WHERE id = ` + a.ID(written[7].ID))
	found(rota.AuditRemoved, written[7].ID)
	want(y, "removed after it was sealed", y.verifyAudit().Fault.Seq, int64(8))
}
