package main

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// auditServer is a server with some entries in its audit, after it has signed a head.
func auditServer(t *testing.T) *testServer {
	t.Helper()
	s := startServer(t)
	s.must("template create letter --type noop -p to=ada")
	s.must("schedule create nightly --template letter --cron '0 2 * * *'")
	s.must("job create --type noop --delay 1h")                  // it does not end, so that one entry is derived from it
	writeText(t, s.file("export.jsonl"), s.must("audit export")) // signs a head
	return s
}

func (s *testServer) file(name string) string { return filepath.Join(s.data, name) }

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readHead(t *testing.T, path string) rota.AuditHead {
	t.Helper()
	heads, err := rota.ParseAuditHeads([]byte(readText(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return heads[0]
}

// verified runs rota audit verify as JSON and returns its answer, its error and its exit code.
func (s *testServer) verified(args string) (v api.AuditVerification, errs string, code int) {
	s.t.Helper()
	out, errs, code := s.run("audit verify -o json " + args)
	if out != "" {
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			s.t.Fatalf("%v:\n%s", err, out)
		}
	}
	return v, errs, code
}

func (s *testServer) wantClean(args string) api.AuditVerification {
	s.t.Helper()
	v, errs, code := s.verified(args)
	if code != exitDone || !v.Clean || v.Checked != v.Head.Seq-v.Anchor.Seq || v.Checked == 0 {
		s.t.Fatalf("audit verify %s exits with %d: %+v\n%s", args, code, v, errs)
	}
	return v
}

// wantFault wants exit 3 and the first entry that is affected.
func (s *testServer) wantFault(args, kind string, seq int64) {
	s.t.Helper()
	v, errs, code := s.verified(args)
	if code != exitNotClean || v.Clean || v.Fault == nil || v.Fault.Kind != kind || v.Fault.Seq != seq || !strings.Contains(errs, "tampered") {
		s.t.Errorf("audit verify %s exits with %d and the fault %+v, want %s at %d\n%s", args, code, v.Fault, kind, seq, errs)
	}
}

// tamper changes a store that no process uses, without its triggers.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	for _, trigger := range strings.Fields(readSQL(t, path, `SELECT group_concat(name, ' ') FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'rota_audit%'`)) {
		runSQL(t, path, `DROP TRIGGER `+trigger)
	}
	runSQL(t, path, statements...)
}

const (
	removeLast  = `DELETE FROM rota_audit WHERE id = (SELECT substr(ids, -16) FROM rota_audit_seals ORDER BY seq DESC LIMIT 1)`
	removeSeal  = `DELETE FROM rota_audit_seals WHERE seq = (SELECT max(seq) FROM rota_audit_seals)`
	changeThird = `UPDATE rota_audit SET actor = 'eve' WHERE id = (SELECT substr(ids, 16 * (3 - first) + 1, 16) FROM rota_audit_seals WHERE 3 BETWEEN first AND seq)`
)

func TestAuditVerifyComparesHeads(t *testing.T) {
	s := auditServer(t)
	early := s.file("early.head")
	writeText(t, early, readText(t, s.file("audit.head")))
	s.must("template edit letter -p to=bob")
	if out := s.must("audit verify"); !strings.HasPrefix(out, "clean: checked ") || !strings.Contains(out, " audit entries and 1 signed head\nhead: entry ") || !strings.Contains(out, "\nkey of this node: ") {
		t.Errorf("%s", out)
	}
	v := s.wantClean("--head " + early)
	if v.Heads != 2 || v.Key == "" {
		t.Errorf("%+v", v)
	}
	s.wantClean("--head " + early + " --key " + string(v.Key))

	head := readHead(t, early)
	other := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	state := rota.AuditState{Head: rota.AuditPoint{Seq: head.Seq, Hash: head.Hash}}
	writeHead := func(name string, change func(*rota.AuditState)) string {
		changed := state
		change(&changed)
		text, err := json.Marshal(rota.SignAuditHead(other, "other", changed, time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, s.file(name), string(text))
		return s.file(name)
	}
	same := writeHead("same.head", func(*rota.AuditState) {})
	s.wantClean("--head " + same) // of another node that shares the store
	if _, errs, code := s.verified("--head " + same + " --key " + string(v.Key)); code != exitNotClean || !strings.Contains(errs, "was signed with the key") {
		t.Errorf("a head of another key: exit %d, %s", code, errs)
	}
	s.wantFault("--head "+writeHead("longer.head", func(s *rota.AuditState) { s.Head.Seq = 1000 }), rota.AuditCutOff, v.Head.Seq+1)
	s.wantFault("--head "+writeHead("rewritten.head", func(s *rota.AuditState) { s.Head.Hash[0]++ }), rota.AuditChanged, head.Seq)

	changed := s.file("changed.head")
	writeText(t, changed, strings.Replace(readText(t, early), `"node":"local"`, `"node":"other"`, 1))
	if _, errs, code := s.verified("--head " + changed); code != exitNotClean || !strings.Contains(errs, "wrong signature") {
		t.Errorf("a changed head: exit %d, %s", code, errs)
	}
	writeText(t, changed, "{}")
	if _, _, code := s.verified("--head " + changed); code != exitNotClean {
		t.Errorf("a head without a signature: exit %d", code)
	}
	if _, errs, code := s.verified("--key 12ab"); code != exitUsage || !strings.Contains(errs, "64 hexadecimal") {
		t.Errorf("a short key: exit %d, %s", code, errs)
	}
}

func TestAuditExportIsVerifiedWithoutServer(t *testing.T) {
	s := auditServer(t)
	export, head := s.file("export.jsonl"), s.file("audit.head")
	s.stop()
	v := s.wantClean("--file " + export)
	if v.Derived == nil || *v.Derived != 1 || v.Heads != 1 || string(v.Key) != readHead(t, head).Key.String() {
		t.Errorf("%+v", v)
	}
	s.wantClean("--file " + export + " --head " + head + " --key " + string(v.Key))
	s.wantFault("--file "+export+" --key "+strings.Repeat("ab", 32), rota.AuditChanged, 1)

	text := readText(t, export)
	writeText(t, export, strings.Replace(text, `"subject":"template letter"`, `"subject":"template other"`, 1))
	s.wantFault("--file "+export, rota.AuditChanged, v.Head.Seq-1)
	writeText(t, export, text[:len(text)-100])
	s.wantFault("--file "+export, rota.AuditChanged, v.Head.Seq)
	for name, text := range map[string]string{"empty": "", "a selection": `{"id":"x"}` + "\n", "no text": "\x00\xff", "another version": `{"rota_audit_export":9}` + "\n"} {
		writeText(t, export, text)
		if _, errs, code := s.verified("--file " + export); code != exitUsage {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
}

func TestAuditVerifyOfStoreNamesFirstEntry(t *testing.T) {
	s := auditServer(t)
	s.stop()
	store, head := s.file("rota.db"), s.file("audit.head")
	where := "--store sqlite:" + store
	last := s.wantClean(where + " --head " + head).Head.Seq
	tamper(t, store, removeLast)
	s.wantFault(where, rota.AuditRemoved, last)
	tamper(t, store, removeSeal)
	s.wantClean(where) // no statement of before is given
	s.wantFault(where+" --head "+head, rota.AuditCutOff, last)
	tamper(t, store, changeThird)
	s.wantFault(where, rota.AuditChanged, 3)

	s.start()
	s.wantFault("", rota.AuditChanged, 3)
	out, _, code := s.run("audit export")
	if code != exitDone {
		t.Fatalf("the export of a changed audit exits with %d", code)
	}
	writeText(t, s.file("changed.jsonl"), out)
	s.wantFault("--file "+s.file("changed.jsonl"), rota.AuditChanged, 3)
	if kept := readHead(t, head); kept.Seq != last {
		t.Errorf("the server has signed entry %d of a chain that was cut off after %d", kept.Seq, last)
	}
}

// TestAuditVerifyFindsForgedAnchor removes the first entries as retention does, but without the key of the server.
func TestAuditVerifyFindsForgedAnchor(t *testing.T) {
	s := auditServer(t)
	s.stop()
	store, head := s.file("rota.db"), s.file("audit.head")
	first := readSQL(t, store, `SELECT seq FROM rota_audit_seals ORDER BY seq LIMIT 1`)
	tamper(t, store,
		`UPDATE rota_audit_anchor SET seq = `+first+`, hash = (SELECT substr(hashes, -32) FROM rota_audit_seals WHERE seq = `+first+`)`,
		`DELETE FROM rota_audit WHERE id IN (SELECT id FROM rota_audit ORDER BY seq LIMIT `+first+`)`,
		`DELETE FROM rota_audit_seals WHERE seq = `+first)
	where := "--store sqlite:" + store
	s.wantClean(where) // a program without a key may have removed them
	s.wantFault(where+" --head "+head, rota.AuditCutOff, 1)
	forged := rota.AuditAnchor{}
	n, err := strconv.ParseInt(first, 10, 64)
	if err == nil {
		forged.Seq = n
		err = forged.Hash.UnmarshalText([]byte(strings.ToLower(readSQL(t, store, `SELECT hex(hash) FROM rota_audit_anchor`))))
	}
	if err != nil {
		t.Fatal(err)
	}
	forged.RemovedBefore = time.UnixMicro(0)
	forged.Sign(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	tamper(t, store, fmt.Sprintf(`UPDATE rota_audit_anchor SET removed_before = 0, key = x'%x', signature = x'%x'`, forged.Key, forged.Signature))
	s.wantFault(where+" --head "+head, rota.AuditCutOff, 1)
	s.wantClean(fmt.Sprintf("%s --head %s --key %s,%x", where, head, readHead(t, head).Key, forged.Key))
	s.start()
	s.wantFault("", rota.AuditCutOff, 1)
	s.wantFault("--head "+head, rota.AuditCutOff, 1)
	s.stop()
	if readHead(t, head).AnchorSeq != 0 {
		t.Error("the server has signed a head with the forged anchor")
	}
}

// TestAuditVerifyFindsHeadOfAnotherKey replaces audit.head by a head that another key has signed.
func TestAuditVerifyFindsHeadOfAnotherKey(t *testing.T) {
	s := auditServer(t)
	s.stop()
	was := readHead(t, s.file("audit.head"))
	forged := rota.SignAuditHead(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), was.Node, rota.AuditState{Head: rota.AuditPoint{Seq: was.Seq, Hash: was.Hash}}, was.At)
	text, err := json.Marshal(forged)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, s.file("audit.head"), string(text))
	s.start()
	s.wantFault("", rota.AuditChanged, 1)
	if readHead(t, s.file("audit.head")) != forged {
		t.Error("the server has replaced the file, which is evidence")
	}
}

func TestAuditChainSurvivesBackupAndCopy(t *testing.T) {
	s := auditServer(t)
	backup := s.file("backup.db")
	s.must("backup " + backup)
	s.stop()
	head := s.file("audit.head")
	restored := filepath.Join(t.TempDir(), "rota.db")
	copied := filepath.Join(t.TempDir(), "rota.db")
	want := s.wantClean("--store sqlite:" + s.file("rota.db")).Head
	s.must("restore " + backup + " --data " + filepath.Dir(restored))
	s.must("copy --from sqlite:" + s.file("rota.db") + " --to sqlite:" + copied + " --history")
	for _, path := range []string{backup, restored, copied} {
		where := "--store sqlite:" + path
		if got := s.wantClean(where + " --head " + head).Head; got != want {
			t.Errorf("%s has the head %+v, want %+v", path, got, want)
		}
		tamper(t, path, changeThird)
		s.wantFault(where, rota.AuditChanged, 3)
	}
	started := &testServer{t: t, data: filepath.Dir(restored)}
	started.start()
	started.wantFault("", rota.AuditChanged, 3)
}
