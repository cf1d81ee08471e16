package node

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// auditNode returns a node with a store and an auditor, and its log.
func auditNode(t *testing.T) (*Node, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var log bytes.Buffer
	n := &Node{config: Config{Data: dir, Name: "local"}, store: store, clock: time.Now, logger: slog.New(slog.NewTextHandler(&log, nil))}
	if err := n.openAudit(); err != nil {
		t.Fatal(err)
	}
	return n, &log
}

func writeEntry(t *testing.T, s rota.Store, limit int) {
	t.Helper()
	c := &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: limit}}
	if results, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{c}}); err != nil || results[0].Err != nil {
		t.Fatal(results, err)
	}
}

func headFile(t *testing.T, n *Node) []rota.AuditHead {
	t.Helper()
	text, err := os.ReadFile(n.path(auditHeadName))
	if err != nil {
		t.Fatal(err)
	}
	heads, err := rota.ParseAuditHeads(text)
	if err != nil {
		t.Fatal(err)
	}
	return heads
}

func TestHeadOfAuditIsSignedWhenItMoves(t *testing.T) {
	n, log := auditNode(t)
	writeEntry(t, n.store, 7)
	_ = n.audit.SignHead(t.Context())
	first := headFile(t, n)[0]
	_ = n.audit.SignHead(t.Context())
	if got := strings.Count(log.String(), "audit head"); got != 1 || first.Seq != 1 {
		t.Errorf("entry %d was signed and logged %d times, want once", first.Seq, got)
	}
	writeEntry(t, n.store, 8)
	_ = n.audit.SignHead(t.Context())
	if head := headFile(t, n)[0]; head.Seq != 2 || head.Key != first.Key {
		t.Errorf("%+v", head)
	}
	again := &Node{config: n.config, store: n.store, clock: time.Now, logger: n.logger}
	if err := again.openAudit(); err != nil || !again.audit.key.Equal(n.audit.key) || again.audit.last.Seq != 2 {
		t.Errorf("the next start has another key or head: %v", err)
	}
}

// TestHeadThatIsNotContinuedIsKept gives a node the head of a longer chain, as after entries were cut off.
func TestHeadThatIsNotContinuedIsKept(t *testing.T) {
	n, log := auditNode(t)
	writeEntry(t, n.store, 7)
	state, err := n.audit.chain.AuditState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*rota.AuditPoint){
		"cut off":   func(p *rota.AuditPoint) { p.Seq = 5 },
		"rewritten": func(p *rota.AuditPoint) { p.Hash[0]++ },
	} {
		was := state
		change(&was.Head)
		head := rota.SignAuditHead(n.audit.key, "local", was, time.Now())
		if err := n.audit.write(head); err != nil {
			t.Fatal(err)
		}
		_ = n.audit.SignHead(t.Context())
		if kept := headFile(t, n)[0]; kept != head || !strings.Contains(log.String(), "tampered") {
			t.Errorf("%s: the head was replaced by %+v\n%s", name, kept, log)
		}
		log.Reset()
	}
}

func TestAuditFilesThatAreNotRotasAreRefused(t *testing.T) {
	for name, one := range map[string]struct {
		file, text string
		mode       os.FileMode
		says       string
	}{
		"readable key":  {auditKeyName, strings.Repeat("ab", 32), 0o644, "other users"},
		"short key":     {auditKeyName, "abcd", 0o600, "64 hexadecimal"},
		"empty key":     {auditKeyName, "", 0o600, "64 hexadecimal"},
		"head of other": {auditHeadName, `{"seq": 7}`, 0o600, "not a signed head"},
	} {
		n := &Node{config: Config{Data: t.TempDir()}, logger: slog.New(slog.DiscardHandler)}
		if err := os.WriteFile(n.path(one.file), []byte(one.text), one.mode); err != nil {
			t.Fatal(err)
		}
		if err := n.openAudit(); err == nil || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n, _ := auditNode(t)
	if info, err := os.Stat(n.path(auditKeyName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// TestChangedHeadIsRefused changes each field of a signed head.
func TestChangedHeadIsRefused(t *testing.T) {
	n, _ := auditNode(t)
	writeEntry(t, n.store, 7)
	_ = n.audit.SignHead(t.Context())
	for name, change := range map[string]func(*rota.AuditHead){
		"node": func(h *rota.AuditHead) { h.Node = "other" }, "seq": func(h *rota.AuditHead) { h.Seq++ }, "hash": func(h *rota.AuditHead) { h.Hash[3]++ },
		"anchor": func(h *rota.AuditHead) { h.AnchorSeq++ }, "anchor hash": func(h *rota.AuditHead) { h.AnchorHash[3]++ },
		"time": func(h *rota.AuditHead) { h.At = h.At.Add(time.Second) }, "key": func(h *rota.AuditHead) { h.Key[0]++ }, "signature": func(h *rota.AuditHead) { h.Signature[0]++ },
	} {
		head := headFile(t, n)[0]
		change(&head)
		text, err := json.Marshal(head)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rota.ParseAuditHeads(text); err == nil {
			t.Errorf("a head with another %s was accepted", name)
		}
	}
}

// TestForgedAnchorIsNotSignedOver gives a node whose store others share an anchor that another key has signed: neither a
// head nor the next anchor is signed over it, until the key is known.
func TestForgedAnchorIsNotSignedOver(t *testing.T) {
	other := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for name, hasHead := range map[string]bool{"first head": false, "later head": true} {
		url := newSharedStore(t)
		store, err := postgres.OpenWith(url, postgres.Config{Poll: true, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		n := &Node{config: Config{Data: t.TempDir(), Name: "local"}, store: store, clock: time.Now, logger: quiet}
		if err := n.openAudit(); err != nil {
			t.Fatal(err)
		}
		write := func(limit int) {
			writeEntry(t, store, limit)
			if _, err := store.SealAudit(t.Context(), rota.SealMax); err != nil {
				t.Fatal(err)
			}
		}
		write(1)
		if hasHead {
			if err := n.audit.SignHead(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		write(2)
		prune := func(sign rota.AnchorSigner) error {
			_, err := store.PruneAudit(t.Context(), time.Now().Add(time.Hour), 2, sign)
			return err
		}
		if err := prune(func(_ rota.AuditAnchor, next *rota.AuditAnchor) error { next.Sign(other); return nil }); err != nil {
			t.Fatal(err)
		}
		write(3)
		before := n.audit.Head()
		signed, pruned := n.audit.SignHead(t.Context()), prune(n.audit.signAnchor)
		if rota.CodeOf(signed) != rota.Conflict || rota.CodeOf(pruned) != rota.Conflict || n.audit.Head() != before || !strings.Contains(signed.Error(), "audit_keys") {
			t.Errorf("%s: signed: %v; pruned: %v", name, signed, pruned)
		}
		report, err := store.VerifyAudit(t.Context(), n.audit.Trust())
		if err != nil || report.Fault == nil || report.Fault.Kind != rota.AuditCutOff || !strings.Contains(report.Fault.Detail, "audit_keys") {
			t.Errorf("%s: %v, %v", name, err, report.Fault)
		}

		n.config.AuditKeys = rota.AuditKey(other.Public().(ed25519.PublicKey)).String()
		if err := n.openAudit(); err != nil {
			t.Fatal(err)
		}
		if err := n.audit.SignHead(t.Context()); err != nil {
			t.Errorf("%s: the key is known: %v", name, err)
		}
		if err := prune(n.audit.signAnchor); err != nil {
			t.Errorf("%s: the key is known: %v", name, err)
		}
		if report, err = store.VerifyAudit(t.Context(), n.audit.Trust()); err != nil || report.Fault != nil {
			t.Errorf("%s: the key is known: %v, %v", name, err, report.Fault)
		}
	}
}

// TestAlteredSealIsNotSigned changes what the last seal says of the head, and an entry since the last head.
func TestAlteredSealIsNotSigned(t *testing.T) {
	for name, change := range map[string]string{
		"number": `UPDATE rota_audit_seals SET seq = seq + 60 WHERE seq = 2`,
		"empty":  `INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (500, 3, x'', x'')`,
		"entry":  `UPDATE rota_audit SET actor = 'eve' WHERE id = (SELECT ids FROM rota_audit_seals WHERE seq = 2)`,
		"anchor": `DELETE FROM rota_audit_anchor`,
	} {
		for _, first := range []bool{false, true} {
			n, _ := auditNode(t)
			writeEntry(t, n.store, 7)
			if !first {
				_ = n.audit.SignHead(t.Context())
			}
			before := n.audit.Head()
			writeEntry(t, n.store, 8)
			conn, err := zombiezen.OpenConn(filepath.Join(n.config.Data, "rota.db"))
			if err != nil {
				t.Fatal(err)
			}
			statements := []string{`PRAGMA ignore_check_constraints = ON`, change}
			_ = sqlitex.ExecuteTransient(conn, `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'rota_audit%'`, &sqlitex.ExecOptions{ResultFunc: func(s *zombiezen.Stmt) error {
				statements = append([]string{`DROP TRIGGER ` + s.ColumnText(0)}, statements...)
				return nil
			}})
			for _, statement := range statements {
				if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
					t.Fatal(statement, err)
				}
			}
			_ = conn.Close()
			if err := n.audit.SignHead(t.Context()); rota.CodeOf(err) != rota.Conflict || n.audit.Head() != before {
				t.Errorf("%s, first head %t: the node has signed %+v: %v", name, first, n.audit.Head(), err)
			}
		}
	}
}
