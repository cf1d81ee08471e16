package rota

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"
)

// AuditHead is a statement of a node about the chain of the audit, signed with its key. A copy that is kept
// elsewhere shows later that entries were cut off or that the chain was written again.
type AuditHead struct {
	Node       string    `json:"node"`
	Key        AuditKey  `json:"key"` // public
	Seq        int64     `json:"seq"`
	Hash       AuditHash `json:"hash"`
	AnchorSeq  int64     `json:"anchor_seq"`
	AnchorHash AuditHash `json:"anchor_hash"`
	At         time.Time `json:"at"`
	Signature  AuditSig  `json:"signature"`
}

// AuditKey is a public key of Ed25519, in hexadecimal form as text.
type AuditKey [ed25519.PublicKeySize]byte

// AuditSig is a signature of Ed25519, in hexadecimal form as text.
type AuditSig [ed25519.SignatureSize]byte

// String returns the hexadecimal form.
func (k AuditKey) String() string { return hex.EncodeToString(k[:]) }

// MarshalText returns the hexadecimal form.
func (k AuditKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the hexadecimal form.
func (k *AuditKey) UnmarshalText(text []byte) error { return unmarshalHex("key", k[:], text) }

// MarshalText returns the hexadecimal form.
func (s AuditSig) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s[:])), nil }

// UnmarshalText reads the hexadecimal form.
func (s *AuditSig) UnmarshalText(text []byte) error { return unmarshalHex("signature", s[:], text) }

// SignAuditHead signs the state of a chain.
func SignAuditHead(key ed25519.PrivateKey, node string, state AuditState, at time.Time) AuditHead {
	h := AuditHead{
		Node: node, Key: AuditKey(key.Public().(ed25519.PublicKey)), Seq: state.Head.Seq, Hash: state.Head.Hash,
		AnchorSeq: state.Anchor.Seq, AnchorHash: state.Anchor.Hash, At: at.UTC().Truncate(time.Microsecond),
	}
	h.Signature = AuditSig(ed25519.Sign(key, h.signed()))
	return h
}

// signed returns the bytes that the signature covers.
func (h *AuditHead) signed() []byte {
	b := []byte("rota audit head 1\x00")
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(h.Node))), h.Node...)
	b = append(b, h.Key[:]...)
	b = append(binary.BigEndian.AppendUint64(b, uint64(h.Seq)), h.Hash[:]...)
	b = append(binary.BigEndian.AppendUint64(b, uint64(h.AnchorSeq)), h.AnchorHash[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(h.At.UnixMicro()))
}

// Valid reports whether the signature is that of the key in the head. Anyone can create a key: the reader
// must know the keys of the nodes.
func (h *AuditHead) Valid() bool {
	return h.Seq >= 0 && h.AnchorSeq >= 0 && h.AnchorSeq <= h.Seq && ed25519.Verify(h.Key[:], h.signed(), h.Signature[:])
}

// Points returns the places of the chain that the head states.
func (h *AuditHead) Points() []AuditPoint {
	return []AuditPoint{{h.AnchorSeq, h.AnchorHash}, {h.Seq, h.Hash}}
}

// ParseAuditHeads reads signed heads, one JSON object a line, as in the file audit.head. It refuses a head
// whose signature is wrong with Conflict, and text that is no head with Invalid.
func ParseAuditHeads(text []byte) (heads []AuditHead, err error) {
	for n, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var h AuditHead
		if err := json.Unmarshal(line, &h); err != nil {
			return nil, Invalidf("head", "line %d is not a signed head of an audit: %v", n+1, err)
		}
		if !h.Valid() {
			return nil, Errorf(Conflict, "head", "the head of entry %d in line %d has a wrong signature: it was changed after it was signed", h.Seq, n+1)
		}
		heads = append(heads, h)
	}
	if len(heads) == 0 {
		return nil, Invalidf("head", "has no signed head of an audit")
	}
	return heads, nil
}

// Sign signs the anchor.
func (a *AuditAnchor) Sign(key ed25519.PrivateKey) {
	a.Key = key.Public().(ed25519.PublicKey)
	a.Signature = ed25519.Sign(key, a.signed())
}

// Signed reports whether the anchor has a signature, and whether it is that of its key.
func (a *AuditAnchor) Signed() (signed, valid bool) {
	if len(a.Key) == 0 && len(a.Signature) == 0 {
		return false, false
	}
	return true, len(a.Key) == ed25519.PublicKeySize && ed25519.Verify(a.Key, a.signed(), a.Signature)
}

func (a *AuditAnchor) signed() []byte {
	b := []byte("rota audit anchor 1\x00")
	b = append(binary.BigEndian.AppendUint64(b, uint64(a.Seq)), a.Hash[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(a.RemovedBefore.UnixMicro()))
}
