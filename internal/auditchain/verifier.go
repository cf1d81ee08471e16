// Package auditchain checks the chain of the audit: of a store, or of a file that was exported from one.
package auditchain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// Verifier computes the hashes of a chain again and finds the first fault. It gets the entries in the order
// of the chain, from Next, until that returns false, and then Finish.
type Verifier struct {
	checked int64
	last    rota.AuditPoint   // last entry that is as it was sealed, or the anchor
	points  []rota.AuditPoint // earlier states that are not checked yet, by number
	trusted int64             // highest number at which an earlier state was confirmed
	anchor  int64
	fault   *rota.AuditFault
	wrong   []rota.SealedEntry // the entry whose hash is wrong, and those after it
}

// lookahead is how many entries after a wrong one Next examines to find what was done to it.
const lookahead = 1_000

// New begins after an anchor. The points are states that the chain had earlier.
func New(anchor rota.AuditPoint, points []rota.AuditPoint) *Verifier {
	v := &Verifier{last: anchor, anchor: anchor.Seq, trusted: anchor.Seq, points: slices.Clone(points)}
	slices.SortFunc(v.points, func(a, b rota.AuditPoint) int { return cmp.Compare(a.Seq, b.Seq) })
	v.points = slices.DeleteFunc(v.points, func(p rota.AuditPoint) bool { return p.Seq < anchor.Seq }) // pruned since
	v.checkPoints()
	return v
}

// Checked returns how many entries are as they were sealed.
func (v *Verifier) Checked() int64 { return v.checked }

// Last returns the last entry that is as it was sealed, or the anchor.
func (v *Verifier) Last() rota.AuditPoint { return v.last }

// Next checks the next entry. It returns false if further entries change nothing.
func (v *Verifier) Next(e rota.SealedEntry) bool {
	switch {
	case v.fault != nil:
		return false
	case len(v.wrong) > 0:
		v.wrong = append(v.wrong, e)
		return len(v.wrong) <= lookahead
	case e.Seq > v.last.Seq+1:
		v.missing(e.Seq)
	case e.Seq <= v.last.Seq:
		v.report(rota.AuditInserted, e, "its number occurs twice")
	case e.Entry == nil:
		v.report(rota.AuditRemoved, e, "the chain has it, and the audit does not")
	case e.Entry.ChainHash(e.Seq, v.last.Hash) != e.Hash:
		v.wrong = append(v.wrong, e)
		return true
	default:
		v.checked++
		v.last = e.AuditPoint
		v.checkPoints()
	}
	return v.fault == nil
}

// Finish returns the first fault, or nil, after the last entry.
func (v *Verifier) Finish() *rota.AuditFault {
	switch {
	case v.fault != nil:
	case len(v.wrong) > 0:
		v.classify()
	case len(v.points) > 0: // they are above the last entry
		v.fault = &rota.AuditFault{
			Kind: rota.AuditCutOff, Seq: v.last.Seq + 1,
			Detail: fmt.Sprintf("a signed head has %d entries, and the chain ends after %d", v.points[len(v.points)-1].Seq, v.last.Seq),
		}
	}
	return v.fault
}

// checkPoints compares the earlier states of the last number.
func (v *Verifier) checkPoints() {
	for len(v.points) > 0 && v.points[0].Seq == v.last.Seq {
		if v.points[0].Hash != v.last.Hash {
			v.fault = &rota.AuditFault{
				Kind: rota.AuditChanged, Seq: min(v.trusted+1, v.last.Seq),
				Detail: fmt.Sprintf("entry %d has another hash than in a signed head: the chain was written again from an entry between %d and %d on",
					v.last.Seq, min(v.trusted+1, v.last.Seq), v.last.Seq),
			}
			return
		}
		v.trusted, v.points = v.last.Seq, v.points[1:]
	}
}

// missing reports that the chain has a gap before a number.
func (v *Verifier) missing(next int64) {
	kind, detail := rota.AuditRemoved, "entries %d to %d are missing from the chain"
	if v.checked == 0 {
		kind, detail = rota.AuditCutOff, "entries %d to %d are missing at the beginning of the chain"
	}
	v.fault = &rota.AuditFault{Kind: kind, Seq: v.last.Seq + 1, Detail: fmt.Sprintf(detail, v.last.Seq+1, next-1)}
}

func (v *Verifier) report(kind string, e rota.SealedEntry, detail string) {
	v.fault = &rota.AuditFault{Kind: kind, Seq: e.Seq, ID: e.ID, Detail: detail}
	if e.Entry != nil {
		v.fault.At = e.Entry.At
	}
}

// classify finds what was done to an entry whose hash is wrong. The entries after it still have the hashes
// of their old places.
func (v *Verifier) classify() {
	first, after := v.wrong[0], v.wrong[1:]
	for i := range after {
		if fits(&after[i], first.Seq, v.last.Hash) {
			v.report(rota.AuditInserted, first, fmt.Sprintf("without it and the %d entries after it the chain is intact", i))
			return
		}
	}
	if len(after) > 0 {
		for gap := int64(1); gap <= lookahead; gap++ {
			if fits(&after[0], after[0].Seq+gap, first.Hash) {
				v.fault = &rota.AuditFault{Kind: rota.AuditRemoved, Seq: first.Seq, Detail: fmt.Sprintf("the entries after it were moved up by %d", gap)}
				return
			}
		}
	}
	v.report(rota.AuditChanged, first, "its hash is not that of its fields and of the entry before it")
}

// fits reports whether an entry has the hash of another place.
func fits(e *rota.SealedEntry, seq int64, before rota.AuditHash) bool {
	return e.Entry != nil && e.Entry.ChainHash(seq, before) == e.Hash
}
