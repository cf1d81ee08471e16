package storekit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/auditchain"
)

// The chain of the audit is stored in seals: a row has the numbers, ids and hashes of up to SealMax entries
// that were sealed together. Ids have 16 bytes and hashes 32, one after the other in the order of the
// chain. A row for each entry would cost as much as the entry itself; see decision 0018.
const (
	sqlSeals = `
SELECT first, ids, hashes, seq
FROM rota_audit_seals
WHERE seq > $1
ORDER BY seq
LIMIT $2`
	sqlAuditHead = `
SELECT seq, substr(hashes, length(hashes) - 31)
FROM rota_audit_seals
ORDER BY seq DESC
LIMIT 1`
	sqlAuditAnchor = `
SELECT seq, hash, removed_before, key, signature
FROM rota_audit_anchor
WHERE id = 1`
	// sqlBadSeal finds a seal whose numbers are not those of its ids and hashes.
	sqlBadSeal = `
SELECT first
FROM rota_audit_seals
WHERE seq <= $1
AND (seq < first OR length(ids) <> 16 * (seq - first + 1) OR length(hashes) <> 32 * (seq - first + 1))
ORDER BY seq
LIMIT 1`
	sqlUnsealedAudit = `
SELECT coalesce(sum(length(ids)), 0) / 16, min(at)
FROM rota_audit_unsealed`
	// SQLUnsealed reads what is not sealed, in the order of writing.
	SQLUnsealed = `
SELECT n, ids
FROM rota_audit_unsealed
WHERE n > $1
ORDER BY n
LIMIT $2`
	// SQLInsertSeal inserts a seal.
	SQLInsertSeal = `
INSERT INTO rota_audit_seals (seq, first, ids, hashes)
VALUES ($1, $2, $3, $4)`
	// sqlMoveAnchor and SQLDeleteSeals follow the removal of the first entries.
	sqlMoveAnchor = `
UPDATE rota_audit_anchor
SET seq = $1, hash = $2, removed_before = $3, key = $4, signature = $5
WHERE id = 1
RETURNING seq`
	SQLDeleteSeals = `
DELETE FROM rota_audit_seals
WHERE seq <= $1`
)

const (
	idSize    = len(rota.ID{})
	hashSize  = len(rota.AuditHash{})
	sealsRead = 64 // seals that are read at once; together they have at most 3 MiB
)

// Seal is a row of the chain.
type Seal struct {
	First, Seq  int64 // numbers of its first and of its last entry
	IDs, Hashes []byte
}

// Args returns the arguments of SQLInsertSeal.
func (s *Seal) Args() []any { return []any{s.Seq, s.First, s.IDs, s.Hashes} }

// SealEntries continues a chain after its head with entries, and moves the head.
func SealEntries(head *rota.AuditPoint, entries []rota.AuditEntry) (seals []Seal) {
	for part := range slices.Chunk(entries, rota.SealMax) {
		s := Seal{First: head.Seq + 1, IDs: make([]byte, 0, idSize*len(part)), Hashes: make([]byte, 0, hashSize*len(part))}
		for i := range part {
			head.Seq++
			head.Hash = part[i].ChainHash(head.Seq, head.Hash)
			s.IDs, s.Hashes = append(s.IDs, part[i].ID[:]...), append(s.Hashes, head.Hash[:]...)
		}
		s.Seq = head.Seq
		seals = append(seals, s)
	}
	return seals
}

// SplitIDs returns the ids of a seal or of an unsealed row.
func SplitIDs(b []byte) []rota.ID {
	ids := make([]rota.ID, 0, len(b)/idSize)
	for part := range slices.Chunk(b, idSize) {
		var id rota.ID
		copy(id[:], part)
		ids = append(ids, id)
	}
	return ids
}

// EntriesByID reads entries in the order of their ids. One that is missing has nothing but its id: it is
// sealed nevertheless, so that the check of the chain finds that it was removed.
func EntriesByID(on Querier, ids []rota.ID) ([]rota.AuditEntry, error) {
	found, err := auditByID(on, ids)
	entries := make([]rota.AuditEntry, len(ids))
	for i, id := range ids {
		entries[i].ID = id
		if e := found[id]; e != nil {
			entries[i] = *e
		}
	}
	return entries, err
}

func auditByID(on Querier, ids []rota.ID) (map[rota.ID]*rota.AuditEntry, error) {
	found := make(map[rota.ID]*rota.AuditEntry, len(ids))
	err := on.AuditEntries(ids, func(r Row) error {
		e, err := Audit.Scan(r)
		if err == nil {
			found[e.ID] = e
		}
		return err
	})
	return found, err
}

// ChainState reads the ends of the chain. If the row of the anchor is missing, it returns Conflict and what else it read.
func ChainState(on Querier) (state rota.AuditState, err error) {
	var ends chainEnds
	err = on.Query(ends.readAnchor(), ends.readHead(), Query{SQL: sqlUnsealedAudit, Each: func(r Row) error {
		state.Unsealed, state.Oldest = r.Int(0), r.Time(1)
		return nil
	}})
	if err == nil && ends.anchors != 1 {
		err = errNoAnchor
	}
	state.Head, state.Anchor = ends.last(), ends.anchor
	return state, err
}

// ChainHead reads the last entry of the chain, which the next one continues. Without a row of the anchor a chain that has
// entries continues, so that jobs run; the check reports it.
func ChainHead(on Querier) (rota.AuditPoint, error) {
	var ends chainEnds
	if err := on.Query(ends.readHead()); err != nil || ends.head.Seq > 0 {
		return ends.head, err
	}
	err := on.Query(ends.readAnchor())
	if err == nil && ends.anchors != 1 {
		err = errNoAnchor
	}
	return ends.last(), err
}

// errNoAnchor is the error of a chain whose anchor someone has deleted. Without its row, nothing says which entries
// retention has removed.
var errNoAnchor = &rota.Error{
	Code: rota.Conflict, Act: "audit", Reason: "the row of the anchor is missing: the audit was tampered with",
	Hint: "rota audit verify describes it; keep a copy of the store, and restore a backup",
}

// chainEnds are the ends of the chain as they are stored.
type chainEnds struct {
	anchor  rota.AuditAnchor
	anchors int // rows of the anchor
	head    rota.AuditPoint
}

// last returns the last sealed entry, or the anchor if there is none.
func (c *chainEnds) last() rota.AuditPoint {
	if c.head.Seq == 0 {
		return c.anchor.AuditPoint
	}
	return c.head
}

func (c *chainEnds) readHead() Query {
	return Query{SQL: sqlAuditHead, Each: func(r Row) error {
		c.head = rota.AuditPoint{Seq: r.Int(0), Hash: hashOf(r.Bytes(1))}
		return nil
	}}
}

func (c *chainEnds) readAnchor() Query {
	return Query{SQL: sqlAuditAnchor, Each: func(r Row) error {
		c.anchors++
		c.anchor = rota.AuditAnchor{
			AuditPoint:    rota.AuditPoint{Seq: r.Int(0), Hash: hashOf(r.Bytes(1))},
			RemovedBefore: r.Time(2), Key: r.Bytes(3), Signature: r.Bytes(4),
		}
		return nil
	}}
}

func hashOf(b []byte) (h rota.AuditHash) {
	copy(h[:], b)
	return h
}

// eachSealed calls use with the entries above a number in the order of the chain, until use returns false. It
// reads pages of entries, and begins with one seal: a caller that needs few entries reads few seals.
func eachSealed(on Querier, after int64, pageSize int, use func(rota.SealedEntry) (more bool)) error {
	for place, limit := after, 1; ; limit = min(2*limit, sealsRead) {
		seals := 0
		var page []rota.SealedEntry
		err := on.Query(Query{SQL: sqlSeals, Args: []any{place, limit}, Each: func(r Row) error {
			seals, place = seals+1, r.Int(3)
			page = appendSeal(page, after, r)
			return nil
		}})
		if err != nil {
			return err
		}
		for part := range slices.Chunk(page, pageSize) {
			if err := fillEntries(on, part); err != nil {
				return err
			}
			for _, e := range part {
				if !use(e) {
					return nil
				}
			}
		}
		if seals < limit {
			return nil
		}
	}
}

// appendSeal adds the entries of a seal above a number. A seal that someone changed may have more ids than
// hashes.
func appendSeal(page []rota.SealedEntry, after int64, r Row) []rota.SealedEntry {
	first, hashes := r.Int(0), r.Bytes(2)
	for i, id := range SplitIDs(r.Bytes(1)) {
		e := rota.SealedEntry{AuditPoint: rota.AuditPoint{Seq: first + int64(i)}, ID: id}
		if from := i * hashSize; from < len(hashes) {
			copy(e.Hash[:], hashes[from:])
		}
		if e.Seq > after {
			page = append(page, e)
		}
	}
	return page
}

func fillEntries(on Querier, page []rota.SealedEntry) error {
	ids := make([]rota.ID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	found, err := auditByID(on, ids)
	for i := range page {
		page[i].Entry = found[page[i].ID]
	}
	return err
}

// AuditState returns the ends of the chain and what is not sealed yet.
func (s *Reader) AuditState(ctx context.Context) (state rota.AuditState, err error) {
	err = s.on.Snapshot(ctx, "audit state", func(on Querier) error {
		state, err = ChainState(on)
		return err
	})
	return state, err
}

// SealedAudit returns entries of the chain.
func (s *Reader) SealedAudit(ctx context.Context, after int64, limit int) (page []rota.SealedEntry, err error) {
	err = s.on.Snapshot(ctx, "sealed audit", func(on Querier) error {
		page = nil // a snapshot may be taken again
		return eachSealed(on, after, min(max(limit, 1), rota.SealMax), func(e rota.SealedEntry) bool {
			page = append(page, e)
			return len(page) < limit
		})
	})
	return page, err
}

// PrunedAudit is what PruneAudit removes.
type PrunedAudit struct {
	Anchor rota.AuditAnchor
	IDs    []rota.ID
}

// Move stores the anchor. If its row does not change, the entries must not be removed: nothing would say that
// retention has done it.
func (p *PrunedAudit) Move(on Querier) error {
	moved := 0
	err := on.Query(Query{
		SQL: sqlMoveAnchor, Args: []any{p.Anchor.Seq, p.Anchor.Hash[:], p.Anchor.RemovedBefore, p.Anchor.Key, p.Anchor.Signature},
		Each: func(Row) error { moved++; return nil },
	})
	if err == nil && moved != 1 {
		err = tampered(&rota.AuditFault{Kind: rota.AuditChanged, Seq: p.Anchor.Seq, Detail: "the row of the anchor did not move"})
	}
	return err
}

// FindPruned finds the first entries of the chain that are before a time.
func FindPruned(on Querier, before time.Time, limit int, sign rota.AnchorSigner) (*PrunedAudit, error) {
	state, err := ChainState(on)
	if err != nil {
		return nil, err
	}
	p := &PrunedAudit{Anchor: rota.AuditAnchor{AuditPoint: state.Anchor.AuditPoint, RemovedBefore: before}}
	if p.Anchor.RemovedBefore.Before(state.Anchor.RemovedBefore) {
		p.Anchor.RemovedBefore = state.Anchor.RemovedBefore
	}
	chain := auditchain.New(state.Anchor.AuditPoint, nil)
	err = eachSealed(on, state.Anchor.Seq, rota.SealMax, func(e rota.SealedEntry) bool {
		if len(p.IDs) == limit || e.Entry != nil && !e.Entry.At.Before(before) || !chain.Next(e) || chain.Last() != e.AuditPoint {
			return false
		}
		p.IDs, p.Anchor.AuditPoint = append(p.IDs, e.ID), e.AuditPoint
		return true
	})
	if err == nil {
		err = tampered(chain.Finish())
	}
	if err != nil || len(p.IDs) == 0 {
		return nil, err
	}
	fault, err := badSeal(on, p.Anchor.Seq) // it has entries above the anchor, and would be removed
	if err != nil || fault != nil || sign == nil {
		return p, cmp.Or(err, tampered(fault))
	}
	return p, sign(state.Anchor, &p.Anchor)
}

// badSeal finds a seal up to a number that was altered so that readers disagree about its entries.
func badSeal(on Querier, upTo int64) (fault *rota.AuditFault, err error) {
	err = on.Query(Query{SQL: sqlBadSeal, Args: []any{upTo}, Each: func(r Row) error {
		fault = &rota.AuditFault{Kind: rota.AuditChanged, Seq: max(r.Int(0), 1), Detail: "the numbers of its seal are not those of its ids and hashes"}
		return nil
	}})
	return fault, err
}

func tampered(fault *rota.AuditFault) error {
	if fault == nil {
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Act: "prune audit", Reason: "the audit was tampered with: " + fault.String(),
		Hint: "nothing was removed; rota audit verify describes the place",
	}
}
