package worker

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func registry(types ...string) *engine.Registry {
	reg := engine.NewRegistry()
	for _, name := range types {
		reg.Func(name, rota.TypeSpec{}, nil)
	}
	return reg
}

// All defaults apply.
func TestZeroConfigWorks(t *testing.T) {
	w := New("http://127.0.0.1:7420/", "token", registry("mail"), Config{})
	if w.configErr != nil {
		t.Fatal(w.configErr)
	}
	if c := w.config; c.Wait != DefaultWait || c.Workers != engine.DefaultWorkers || c.Lease != rota.DefaultLease || c.Timeout != DefaultTimeout {
		t.Errorf("the defaults are %+v", c)
	}
	claim := rota.Claim{Meta: rota.NewMeta(""), Worker: w.Name(), Types: []string{"mail"}, Limit: 1, Lease: time.Second, Seed: rota.NewToken()}
	if err := claim.Validate(); err != nil {
		t.Errorf("the default name %q is refused: %v", w.Name(), err)
	}
	if other := New("http://h", "token", registry("mail"), Config{}); other.Name() == w.Name() {
		t.Errorf("two workers are both called %s", w.Name())
	}
	if w.server.client.Address != "http://127.0.0.1:7420" {
		t.Errorf("the address of the server is %s", w.server.client.Address)
	}
}

// The error names the field and what is allowed.
func TestInvalidConfigIsRefused(t *testing.T) {
	good := "http://127.0.0.1:1"
	for _, row := range []struct {
		url, token  string
		config      Config
		field, want string
	}{
		{"", "t", Config{}, "url", "http://127.0.0.1:7420"},
		{"127.0.0.1:7420", "t", Config{}, "url", "http://127.0.0.1:7420"},
		{"ftp://h", "t", Config{}, "url", "http://127.0.0.1:7420"},
		{"http://h?x=1", "t", Config{}, "url", "http://127.0.0.1:7420"},
		{"http://me:secret@h", "t", Config{}, "url", "password"},
		{good, "", Config{}, "token", "admin.token"},
		{good, "t", Config{Wait: 61 * time.Second}, "wait", "1s to 1m"},
		{good, "t", Config{Wait: -1}, "wait", "1s to 1m"},
		{good, "t", Config{Timeout: time.Millisecond}, "timeout", "100ms"},
		{good, "t", Config{HTTP: &http.Client{Timeout: time.Second}}, "http", "30s"},
		{good, "t", Config{Lease: time.Millisecond}, "lease", "1s"},
		{good, "t", Config{Workers: -1}, "workers", "1 to"},
		{good, "t", Config{Name: strings.Repeat("x", 200)}, "name", "128"},
		{good, "t", Config{ShutdownGrace: -1}, "shutdown_grace", "at least"},
	} {
		err := New(row.url, row.token, registry("mail"), row.config).Run(t.Context())
		var e *rota.Error
		if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != row.field || !strings.Contains(e.Error(), row.want) {
			t.Errorf("%q %+v: %v; want %s, saying %q", row.url, row.config, err, row.field, row.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("a password is repeated: %v", err)
		}
	}
}
