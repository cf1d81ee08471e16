package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// setSecret sets a secret by standard input.
func (s *testServer) setSecret(name, value string) {
	s.t.Helper()
	out, errs, code := s.runWith("secret set "+name, terminal{}, map[string]string{"STDIN": value + "\n"})
	if code != exitDone || !strings.Contains(out, "set secret "+name) {
		s.t.Fatalf("rota secret set %s exits with %d: %s%s", name, code, out, errs)
	}
}

// setSecretValue is a value that no output may contain.
const setSecretValue = "swordfish of the variable"

// TestSecretSetReadsStandardInput: exactly one line break at the end is removed, with LF alone: a carriage return may belong to a value.
func TestSecretSetReadsStandardInput(t *testing.T) {
	s := startServer(t)
	s.must("template create backup --type noop")
	s.must("template create program --type exec -p command=/bin/true")
	s.must("user create ada --no-password")
	ada := strings.TrimSpace(s.must("token create --user ada --scope write --expires 1d"))
	largest := strings.Repeat("x", rota.SecretMax)
	for _, c := range []struct {
		name, input, want string
		code              int
		message           string
		token             string
	}{
		{"backup/PLAIN", "swordfish", "swordfish", exitDone, "set secret backup/PLAIN", ""},
		{"backup/LINE", "swordfish\n", "swordfish", exitDone, "", ""},
		{"backup/LINES", "sword\nfish\n\n", "sword\nfish\n", exitDone, "", ""},
		{"backup/CRLF", "swordfish\r\n", "swordfish\r", exitDone, "", ""},
		{"backup/SPACES", "  swordfish \n", "  swordfish ", exitDone, "", ""},
		{"backup/BINARY", "\xff\x00\xfe\n", "\xff\x00\xfe", exitDone, "", ""},
		{"backup/LARGEST", largest + "\n", largest, exitDone, "", ""},
		{"backup/LARGER", largest + "x\n", "", exitUsage, "more than 65536 bytes", ""},
		{"backup/EMPTY", "", "", exitUsage, "the value is empty", ""},
		{"backup/BREAK", "\n", "", exitUsage, "the value is empty", ""},
		{"backup/bad-key", "swordfish\n", "", exitUsage, "is not the name of a secret", ""},
		{"backup/9", "swordfish\n", "", exitUsage, "begins with a letter or _, and has at most 128 bytes", ""},
		{"backup/" + strings.Repeat("K", rota.SecretKeyMax+1), "swordfish\n", "", exitUsage, "at most 128 bytes", ""},
		{"backup/DB/KEY", "swordfish\n", "", exitNotFound, "there is no template backup/DB", ""},
		{"program/LD_PRELOAD", "swordfish\n", "", exitUsage, "LD_PRELOAD cannot be a variable of a program: it decides what code a program loads", ""},
		{"program/BASH_ENV", "swordfish\n", "", exitUsage, "it decides what code a program loads", ""},
		{"program/ROTA_X", "swordfish\n", "", exitUsage, "names with ROTA_ are reserved for Rota", ""},
		{"program/NUL", "sword\x00fish\n", "", exitUsage, "contains a NUL character, which no environment variable can contain", ""},
		{"none/KEY", "swordfish\n", "", exitNotFound, "none", ""},
		{"backup/DENIED", "swordfish\n", "", exitNotFound, "there is no template backup", ada},
	} {
		out, errs, code := s.runWith("secret set "+c.name, terminal{}, map[string]string{"STDIN": c.input, "ROTA_TOKEN": c.token})
		if code != c.code || !strings.Contains(out+errs, c.message) || strings.Contains(out+errs, "sword") {
			t.Errorf("%s: %d %s%s", c.name, code, out, errs)
		}
	}
	if out := s.must("secret list backup -o json"); strings.Contains(out, "sword") || strings.Contains(out, "sealed") || !strings.Contains(out, `"key": "CRLF"`) {
		t.Error(out)
	}
	if _, errs, code := s.run("secret list nosuch"); code != exitNotFound || !strings.Contains(errs, "there is no template nosuch") {
		t.Errorf("%d %s", code, errs)
	}
	for _, statement := range []string{"ALTER JOB nightly SET SECRET 'LD_PRELOAD' = 'swordfish'", "ALTER JOB nightly SET SECRET 'rota_x' = 'swordfish'"} {
		file := filepath.Join(t.TempDir(), "secret.sql")
		if err := os.WriteFile(file, []byte("CREATE JOB IF NOT EXISTS nightly SCHEDULE = EVERY 1 HOUR AS EXEC '/bin/true';\n"+statement+";\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := s.run("sql -f " + file); code == exitDone || !strings.Contains(errs, "cannot be a variable of a program") || strings.Contains(out+errs, "sword") {
			t.Errorf("%s: %d %s%s", statement, code, out, errs)
		}
	}
	s.must("secret delete backup/LINES --yes")
	s.stop()
	found, _ := s.secretsOf()
	if want := "swordfish"; len(found) != 6 || found["backup/LINE"] != want || found["backup/PLAIN"] != want || found["backup/CRLF"] != want+"\r" ||
		found["backup/SPACES"] != "  "+want+" " || found["backup/BINARY"] != "\xff\x00\xfe" || found["backup/LARGEST"] != largest {
		t.Errorf("%d secrets", len(found))
	}
}

// TestMasterKeyInVariable runs a server with the keyset in its environment: secrets work, a rotation is refused with the reason, and
// no file with a key is written. A server without the variable names the key that it lacks.
func TestMasterKeyInVariable(t *testing.T) {
	first := startServer(t)
	first.must("template create backup --type noop")
	first.setSecret("backup/DB_PASSWORD", setSecretValue)
	first.stop()
	key := filepath.Join(first.data, "master.key")
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, data: first.data, env: []string{"ROTA_MASTER_KEY=" + base64.StdEncoding.EncodeToString(text)}}
	s.start()
	s.setSecret("backup/OTHER", setSecretValue)
	if out, errs, code := s.run("secret rotate"); code == exitDone || !strings.Contains(errs, "ROTA_MASTER_KEY, which a process cannot change") || !strings.Contains(errs, "master.key of the data directory") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	s.setSecret("backup/AFTER", setSecretValue) // the refusal has changed nothing
	s.stop()
	if _, err := os.Stat(key); !os.IsNotExist(err) {
		t.Errorf("the server wrote a keyset: %v", err)
	}
	store, err := sqlite.Open(filepath.Join(s.data, "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if found, err := store.Secrets(t.Context(), rota.SecretQuery{Limit: 10}); err != nil || len(found) != 3 {
		t.Errorf("%d secrets: %v", len(found), err)
	}
}
