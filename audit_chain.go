package rota

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// AuditChain is implemented by a store whose stored audit entries form a chain of hashes: a store seals
// each entry once, with the next number and with a hash that covers the entry and the hash before it. A
// change of an entry, or of their order, therefore changes every hash after it.
//
// A store with one writer seals entries in the transaction that writes them. A store that many processes
// write to seals them in SealAudit, so that transactions do not wait for each other. Entries that are
// derived from kept jobs are not sealed.
type AuditChain interface {
	// SealAudit seals committed entries in the order in which they were written, about max of them in one
	// transaction, and returns how many. It returns 0 if there are none. Of several callers at the same
	// time each seals other entries.
	SealAudit(ctx context.Context, max int) (sealed int, err error)
	// AuditState returns the ends of the chain and what is not sealed yet.
	AuditState(ctx context.Context) (AuditState, error)
	// SealedAudit returns entries with numbers above after, in the order of the chain, at most limit. If
	// the first of them was removed in the meantime, its number is above after + 1.
	SealedAudit(ctx context.Context, after int64, limit int) ([]SealedEntry, error)
	// PruneAudit removes the first entries of the chain as long as they are before a time, at most limit
	// of them, and records the last one as the anchor. It keeps an entry that follows one which is not
	// old enough. sign, if it is not nil, signs the anchor before it is stored; if it returns an error, nothing is
	// removed. PruneAudit checks the entries that it removes; if the audit was tampered with, it removes nothing
	// and returns Conflict.
	PruneAudit(ctx context.Context, before time.Time, limit int, sign AnchorSigner) (removed int, err error)
	// VerifyAudit checks the chain on one snapshot, and compares it with what the caller trusts.
	VerifyAudit(ctx context.Context, trust AuditTrust) (AuditReport, error)
}

// AnchorSigner signs the anchor that replaces another one. It returns an error if it does not believe that one: the
// new signature would also cover the entries that it says were removed.
type AnchorSigner func(last AuditAnchor, next *AuditAnchor) error

// SealMax is the number of entries that SealAudit and PruneAudit should be given at once.
const SealMax = 1_000

// AuditHash is the hash of a sealed entry. The hash before the first entry is zero.
type AuditHash [sha256.Size]byte

// String returns the hash in hexadecimal form.
func (h AuditHash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hash in hexadecimal form.
func (h AuditHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the hexadecimal form.
func (h *AuditHash) UnmarshalText(text []byte) error { return unmarshalHex("hash", h[:], text) }

func unmarshalHex(field string, to, text []byte) error {
	if len(text) != 2*len(to) {
		return Invalidf(field, "has %d characters; it needs %d hexadecimal digits", len(text), 2*len(to))
	}
	if _, err := hex.Decode(to, text); err != nil {
		return Invalidf(field, "is not hexadecimal")
	}
	return nil
}

// AuditPoint is a place in the chain: the number of an entry and its hash. Number 0 is before the first
// entry.
type AuditPoint struct {
	Seq  int64
	Hash AuditHash
}

// AuditAnchor is the last entry that PruneAudit has removed. The chain continues after it.
type AuditAnchor struct {
	AuditPoint
	RemovedBefore time.Time // all removed entries are before this time
	Key           []byte    // public key of the node that pruned; nil: not signed
	Signature     []byte
}

// AuditState is the state of the chain.
type AuditState struct {
	Head     AuditPoint // last sealed entry, or the anchor if there is none
	Anchor   AuditAnchor
	Unsealed int64     // entries that are written and not sealed
	Oldest   time.Time // of the unsealed entries; zero: there are none
}

// SealedEntry is an entry of the chain.
type SealedEntry struct {
	AuditPoint
	ID    ID
	Entry *AuditEntry // as it is stored; nil: it is missing
}

// ChainHash returns the hash of the entry with a number after an entry with another hash: SHA-256 over a
// version byte, the number, the hash before, and all fields. Texts have their length in front, so that no
// two entries have the same encoding.
func (e *AuditEntry) ChainHash(seq int64, before AuditHash) AuditHash {
	var buffer [512]byte
	b := append(buffer[:0], auditHashVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	b = append(b, before[:]...)
	b = append(b, e.ID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.At.UnixMicro()))
	for _, id := range []*ID{&e.JobID, &e.ExecutionID, &e.RunID} {
		b = append(b, id[:]...)
	}
	for _, text := range []string{e.Actor, e.Act, e.Subject, e.Schedule, e.Outcome, e.Detail} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
	}
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(e.Changes))), e.Changes...)
	return sha256.Sum256(b)
}

// auditHashVersion is the version of the encoding that is hashed.
const auditHashVersion = 1

// The ways in which an audit was tampered with.
const (
	AuditChanged  = "changed"
	AuditRemoved  = "removed"
	AuditInserted = "inserted"
	AuditCutOff   = "cut off" // the first or the last entries are missing
)

// AuditFault is the first place at which a chain was tampered with.
type AuditFault struct {
	Kind   string    // AuditChanged, AuditRemoved, AuditInserted or AuditCutOff
	Seq    int64     // number of the entry; 0: it is not in the chain
	ID     ID        // of the entry; zero: unknown
	At     time.Time // of the entry; zero: unknown
	Detail string
}

// String describes the fault in one line.
func (f *AuditFault) String() string {
	text := "an entry"
	if f.Seq > 0 {
		text = fmt.Sprintf("entry %d", f.Seq)
	}
	if !f.ID.IsZero() {
		text += " with the id " + f.ID.String()
	}
	if !f.At.IsZero() {
		text += " of " + f.At.UTC().Format(time.RFC3339)
	}
	return text + " was " + f.Kind + ": " + f.Detail
}

// AuditReport is the result of a check of the chain.
type AuditReport struct {
	AuditState
	Checked int64       // entries whose hash was computed again
	Fault   *AuditFault // nil: none was found
}
