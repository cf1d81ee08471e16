package rota

import (
	"fmt"
	"slices"
)

// AuditTrust is what a check of the chain believes without asking the store: signed heads, and the keys of
// nodes. The zero value believes nothing, so that only the consistency of the chain is checked.
type AuditTrust struct {
	Points []AuditPoint // states that the chain had earlier
	// Removed is the highest number up to which a signed head says that entries were removed. An anchor up to it
	// that is one of the points needs no signature.
	Removed int64
	Signed  bool       // nodes have keys, so an anchor must be signed
	Keys    []AuditKey // keys that may sign an anchor or an export; nil: any
}

// AddKey says what to do if a signature is that of an unknown key.
const AddKey = "if it is that of a node of yours, add it to the setting audit_keys, or give it with --key"

// Add adds what a head states. The caller has checked its signature.
func (t *AuditTrust) Add(h *AuditHead) {
	t.Points = append(t.Points, h.Points()...)
	t.Removed = max(t.Removed, h.AnchorSeq)
	t.Signed = true
}

// CheckAnchor returns the fault of an anchor that no node of the trust has signed. The first entry that it
// affects is the first one whose removal no signed head states.
func (t *AuditTrust) CheckAnchor(a *AuditAnchor) *AuditFault {
	signed, valid := a.Signed()
	switch {
	case a.Seq == 0 && a.Hash != AuditHash{}:
		return &AuditFault{Kind: AuditChanged, Seq: 1, Detail: "the anchor has a hash, although no entry was removed: the chain was written again"}
	case a.Seq == 0 && !signed, a.Seq <= t.Removed && slices.Contains(t.Points, a.AuditPoint):
		return nil
	case signed && !valid:
		return t.unproved(a, "has a wrong signature: it was changed after it was signed")
	case !signed && (t.Signed || len(t.Keys) > 0):
		return t.unproved(a, "is not signed")
	case signed && len(t.Keys) > 0 && !slices.Contains(t.Keys, AuditKey(a.Key)):
		return t.unproved(a, fmt.Sprintf("is signed with the key %x, which is not known here: "+AddKey, a.Key))
	}
	return nil
}

func (t *AuditTrust) unproved(a *AuditAnchor, reason string) *AuditFault {
	first := int64(1)
	if t.Removed < a.Seq {
		first = t.Removed + 1
	}
	return &AuditFault{
		Kind: AuditCutOff, Seq: first,
		Detail: fmt.Sprintf("entries %d to %d are missing, and the anchor that says that retention removed them %s", first, a.Seq, reason),
	}
}
