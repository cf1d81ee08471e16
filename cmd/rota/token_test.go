package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokenFileIsSentToLocalServerOnly: the token of the data directory is sent to the server of that directory and to
// loopback addresses. Other servers get only a token that was given explicitly.
func TestTokenFileIsSentToLocalServerOnly(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"rota.addr": `{"http": "10.1.2.3:7420"}`, "admin.token": "secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for address, shown := range map[string]bool{
		"":                           true,
		"http://127.0.0.1:9999":      true,
		"127.9.9.9:80":               true,
		"https://[::1]:7420/base":    true,
		"http://LOCALHOST:7420":      true,
		"http://0.0.0.0:7420":        true,
		"http://10.1.2.3:7420":       true,
		"http://10.1.2.3:7421":       false,
		"https://rota.example.com":   false,
		"http://localhost.evil.test": false,
		"http://127.0.0.1.evil.test": false,
		"http://127.0.0.1@evil.test": false,
		"http://bad host":            false,
	} {
		for _, name := range []string{"--url", "ROTA_URL"} {
			env := map[string]string{"ROTA_DATA": dir}
			a := &app{}
			a.getenv = func(name string) string { return env[name] }
			if name == "--url" {
				a.server.url = address
			} else {
				env[name] = address
			}
			if token, _ := a.authToken(); (token == "secret") != shown {
				t.Errorf("%s %s is sent %q", name, address, token)
			}
			a.server.token = "given"
			if token, _ := a.authToken(); token != "given" {
				t.Errorf("%s %s is sent %q, not the given token", name, address, token)
			}
		}
	}
}

// TestDeniedHintNamesTokenSource covers each source of the token.
func TestDeniedHintNamesTokenSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "admin.token")
	env := map[string]string{"ROTA_DATA": dir}
	a := &app{}
	a.getenv = func(name string) string { return env[name] }
	expect := func(want string) {
		t.Helper()
		if got := a.tokenHint(); !strings.Contains(got, want) {
			t.Errorf("the hint is %q, want %q", got, want)
		}
	}
	expect("there is no token in " + file)
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("the token sent was that of " + file)
	a.server.url = "https://rota.example.com"
	expect("the token in " + file + " is not sent to other machines")
	a.server.token = "given"
	expect("the token sent was that of --token")
}
