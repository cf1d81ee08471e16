package node

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/auditchain"
)

// Names of the files of the audit in a data directory.
const (
	auditKeyName  = "audit.key"
	auditHeadName = "audit.head"
)

// headEvery is how often a node signs the head of the audit if it has moved.
const headEvery = time.Minute

// auditor signs the head of the audit and keeps it in a file beside the store. A copy of that file on another
// machine shows later that entries were cut off or that the chain was written again.
type auditor struct {
	n     *Node
	key   ed25519.PrivateKey
	keys  []rota.AuditKey // that may sign for this store: that of the node, and those of audit_keys
	chain rota.AuditChain // nil: the store has none
	// signing is held while a head is compared with the chain and written, mu while last is read or set.
	signing, mu sync.Mutex
	last        *rota.AuditHead // in the file; nil: none
}

// Key returns the public key of the node.
func (a *auditor) Key() rota.AuditKey { return rota.AuditKey(a.key.Public().(ed25519.PublicKey)) }

// Head returns the last signed head, nil if there is none.
func (a *auditor) Head() *rota.AuditHead {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// Trust returns what the node knows of the audit apart from the store: its last head, its key, and the keys of other nodes
// that the configuration names. The store cannot tell it keys: someone who has the database could add one.
func (a *auditor) Trust() (trust rota.AuditTrust) {
	trust.Signed, trust.Keys = true, slices.Clone(a.keys)
	if head := a.Head(); head != nil && head.Key == a.Key() {
		trust.Add(head)
	}
	return trust
}

// believes returns an error if no known node has signed an anchor. A node that has no head yet believes a store that it
// does not share with others: it was restored or copied, or its last head was moved away.
func (a *auditor) believes(anchor *rota.AuditAnchor) error {
	if _, shared := rota.StoreAs[rota.Bus](a.n.store); !shared && a.Head() == nil {
		return nil
	}
	trust := a.Trust()
	if fault := trust.CheckAnchor(anchor); fault != nil {
		return a.notContinued("%s", fault)
	}
	return nil
}

// openAudit reads the key of the node and its last signed head.
func (n *Node) openAudit() (err error) {
	n.audit = &auditor{n: n}
	n.audit.chain, _ = rota.StoreAs[rota.AuditChain](n.store)
	if n.audit.key, err = n.openAuditKey(n.path(auditKeyName)); err != nil {
		return err
	}
	n.audit.keys = append(n.config.auditKeys(), n.audit.Key())
	text, err := os.ReadFile(n.path(auditHeadName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return dataError(n.path(auditHeadName), err)
	}
	heads, err := rota.ParseAuditHeads(text)
	if err != nil {
		return &rota.Error{
			Code: rota.Invalid, Act: n.path(auditHeadName), Reason: "it is not a signed head of the audit", Err: err,
			Hint: "keep a copy of it, since someone may have changed it; then remove the file: the server creates a new one",
		}
	}
	n.audit.last = &heads[len(heads)-1]
	return nil
}

// openAuditKey reads the private key, or creates it at the first start.
func (n *Node) openAuditKey(path string) (ed25519.PrivateKey, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, err
		}
		if err := writeFile(path, []byte(hex.EncodeToString(key.Seed())+"\n")); err != nil {
			return nil, dataError(path, err)
		}
		return key, nil
	}
	if err != nil {
		return nil, dataError(path, err)
	}
	defer file.Close()
	if err := checkKeyMode(path, file); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, 1<<10))
	if err != nil {
		return nil, dataError(path, err)
	}
	seed, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, badAuditKey(path, "it does not have 64 hexadecimal digits")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// checkKeyMode refuses a key that other users may read or change.
func checkKeyMode(path string, file *os.File) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return dataError(path, err)
	case !info.Mode().IsRegular():
		return badAuditKey(path, "it is not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		return &rota.Error{
			Code: rota.Invalid, Act: "key file " + path, Reason: fmt.Sprintf("other users may read or change it (mode %v)", info.Mode().Perm()),
			Hint: "chmod 600 " + path + "; if others may have read the key, remove the file: the next start creates a new one",
		}
	}
	return nil
}

func badAuditKey(path, reason string) error {
	return &rota.Error{
		Code: rota.Invalid, Act: "key file " + path, Reason: reason,
		Hint: "restore the file; if it is lost, move it and " + auditHeadName + " away: the next start creates a new key",
	}
}

// signAnchor signs what is left of entries that the engine removes. The signature also covers the entries before the last
// anchor.
func (a *auditor) signAnchor(last rota.AuditAnchor, next *rota.AuditAnchor) error {
	if err := a.believes(&last); err != nil {
		return err
	}
	next.Sign(a.key)
	return nil
}

// run signs the head at intervals, and once more at the end.
func (a *auditor) run(ctx context.Context) {
	if a.chain == nil {
		return
	}
	ticker := time.NewTicker(headEvery)
	defer ticker.Stop()
	for {
		_ = a.SignHead(ctx) // it logs the error
		select {
		case <-ticker.C:
		case <-ctx.Done():
			final, done := context.WithTimeout(context.WithoutCancel(ctx), finalHeadMax)
			defer done()
			_ = a.SignHead(final)
			return
		}
	}
}

// finalHeadMax is the time that the last head may take when the node stops.
const finalHeadMax = 5 * time.Second

// SignHead writes the head to its file if it has moved. It keeps the file if the chain is not a continuation
// of the last head: the file then proves it.
func (a *auditor) SignHead(ctx context.Context) error {
	if a.chain == nil {
		return nil
	}
	a.signing.Lock()
	defer a.signing.Unlock()
	err := a.signNext(ctx)
	if err != nil && ctx.Err() == nil {
		a.n.logger.Error("the head of the audit was not signed", "error", err)
	}
	return err
}

// signNext signs the head if it has moved.
func (a *auditor) signNext(ctx context.Context) error {
	for {
		state, err := a.chain.AuditState(ctx)
		if err != nil {
			return err
		}
		last := a.Head()
		if last != nil && last.Seq == state.Head.Seq && last.Hash == state.Head.Hash && last.AnchorSeq == state.Anchor.Seq && last.Key == a.Key() {
			return nil
		}
		if err = a.continues(ctx, last, state); err == nil {
			return a.write(rota.SignAuditHead(a.key, a.n.config.Name, state, a.n.clock()))
		}
		now, failed := a.chain.AuditState(ctx)
		if failed != nil || now.Anchor.Seq <= state.Anchor.Seq {
			return err
		} // entries were removed while continues read them
	}
}

func (a *auditor) write(head rota.AuditHead) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if err := writeFile(a.n.path(auditHeadName), append(text, '\n')); err != nil {
		return dataError(a.n.path(auditHeadName), err)
	}
	a.mu.Lock()
	a.last = &head
	a.mu.Unlock()
	a.n.logger.Info("audit head", "seq", head.Seq, "hash", head.Hash.String(), "anchor_seq", head.AnchorSeq,
		"anchor_hash", head.AnchorHash.String(), "at", head.At, "key", head.Key.String(), "signature", hex.EncodeToString(head.Signature[:]))
	return nil
}

// continues checks that a known node has signed the anchor, that the chain has the entry of the last head, and that the
// entries since then have their hashes.
func (a *auditor) continues(ctx context.Context, last *rota.AuditHead, state rota.AuditState) error {
	if last != nil && last.Key != a.Key() {
		return a.notContinued("the file %s is signed with another key than that of this node", auditHeadName)
	}
	if err := a.believes(&state.Anchor); err != nil {
		return err
	}
	from := state.Anchor.AuditPoint
	if last != nil && last.Seq >= from.Seq {
		from = rota.AuditPoint{Seq: last.Seq, Hash: last.Hash}
		if has, err := a.contains(ctx, from, state); err != nil || !has {
			return cmp.Or(err, a.notContinued("the chain does not contain the last signed head, entry %d", last.Seq))
		}
	}
	chain, err := a.compute(ctx, from, state.Head.Seq)
	if err != nil {
		return err
	}
	if fault := chain.Finish(); fault != nil {
		return a.notContinued("%s", fault)
	}
	if chain.Last() != state.Head {
		return a.notContinued("the last seal says that the chain ends with entry %d, and its entries end with %d", state.Head.Seq, chain.Last().Seq)
	}
	return nil
}

// contains reports whether the chain has a place.
func (a *auditor) contains(ctx context.Context, place rota.AuditPoint, state rota.AuditState) (bool, error) {
	if place.Seq == state.Anchor.Seq {
		return place == state.Anchor.AuditPoint, nil
	}
	page, err := a.chain.SealedAudit(ctx, place.Seq-1, 1)
	return len(page) > 0 && page[0].AuditPoint == place, err
}

// compute computes the hashes of the entries after a place up to a number.
func (a *auditor) compute(ctx context.Context, from rota.AuditPoint, last int64) (*auditchain.Verifier, error) {
	chain := auditchain.New(from, nil)
	for after := from.Seq; ; {
		page, err := a.chain.SealedAudit(ctx, after, rota.SealMax)
		if err != nil || len(page) == 0 {
			return chain, err
		}
		for _, e := range page {
			if e.Seq > last || !chain.Next(e) {
				return chain, nil
			}
		}
		after = page[len(page)-1].Seq
	}
}

func (a *auditor) notContinued(format string, args ...any) error {
	return &rota.Error{
		Code: rota.Conflict, Act: "audit", Reason: fmt.Sprintf(format, args...) + ": the audit was tampered with, or the store or the key was replaced",
		Hint: "run rota audit verify; if you replaced it on purpose, move " + a.n.path(auditHeadName) + " away and start again",
	}
}
