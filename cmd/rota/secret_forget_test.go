package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// wantRefusedStart starts a server that must refuse its store.
func (s *testServer) wantRefusedStart(parts ...string) {
	s.t.Helper()
	_, errs, code := s.run("serve --data " + s.data + " --http 127.0.0.1:0 --sql none")
	for _, part := range parts {
		if code == exitDone || !strings.Contains(errs, part) {
			s.t.Errorf("rota serve exits with %d, want %q: %s", code, part, errs)
		}
	}
}

// TestRestoredStoreWithoutItsKey restores a backup after a rotation has removed its key. The copy of master.key from its time opens it;
// without a copy the server starts once its secrets are forgotten.
func TestRestoredStoreWithoutItsKey(t *testing.T) {
	s := startServer(t)
	s.must("template create backup --type noop")
	s.setSecret("backup/DB_PASSWORD", setSecretValue)
	s.must("webhook add https://example.org/hook --secret 0123456789abcdef0123")
	file, key := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(s.data, "master.key")
	if out := s.must("backup " + file); !strings.Contains(out, "left out: master.key: keep a copy of it apart: the restored store needs it") || strings.Contains(out, "master.key.lock") {
		t.Error(out)
	}
	copied, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.must("secret rotate"); !strings.Contains(out, "1 value and 1 webhook sealed again, 1 key removed") || !strings.Contains(out, "keep the earlier copies of it as long as backups and exports from their time") {
		t.Error(out)
	}
	s.stop()
	_, state := s.secretsOf()
	out := s.must("restore " + file + " --force")
	for _, part := range []string{"left out: master.key: keep a copy", "the secrets of the backup need these keys of master.key: ", "master.key of the data directory lacks ", "--forget-secrets"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	if strings.Contains(out, state.Primary) {
		t.Errorf("it names the present key:\n%s", out)
	}
	s.wantRefusedStart("and this node has the keys "+state.Primary, "rota serve --forget-secrets")

	present, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(key, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(copied)
	s.start("--forget-secrets")
	if !strings.Contains(s.errs.String(), "no secret was deleted: this node has the keys of all secrets") {
		t.Errorf("the server forgets nothing if it has the keys:\n%s", s.errs)
	}
	s.stop()
	if found, _ := s.secretsOf(); found["backup/DB_PASSWORD"] != setSecretValue {
		t.Error(found)
	}

	write(present)
	s.start("--forget-secrets")
	for _, part := range []string{"secret=backup/DB_PASSWORD", "webhook=https://example.org/hook", "deleted the secrets whose keys are lost"} {
		if !strings.Contains(s.errs.String(), part) {
			t.Errorf("no %q in\n%s", part, s.errs)
		}
	}
	if audit := s.must("audit list -o json"); !strings.Contains(audit, rota.AuditSecretDeleted) || !strings.Contains(audit, "secret backup/DB_PASSWORD") || !strings.Contains(audit, rota.AuditWebhooksModified) {
		t.Error(audit)
	}
	s.must("webhook add https://example.org/hook --secret 0123456789abcdef4567")
	s.setSecret("backup/DB_PASSWORD", "another value")
	s.stop()
	s.start()
	s.stop()
	if found, _ := s.secretsOf(); len(found) != 1 || found["backup/DB_PASSWORD"] != "another value" {
		t.Error(found)
	}
}
