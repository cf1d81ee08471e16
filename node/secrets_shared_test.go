package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/secret"
)

// startWithSecretType starts a node that runs jobs of a type, which fail unless their template has the test secret.
func startWithSecretType(t *testing.T, url, name string) *testNode {
	t.Helper()
	return start(t, Config{Store: url, Data: t.TempDir(), Name: name, Lease: rota.LeaseMax, SQL: "none", Register: func(reg *engine.Registry) {
		reg.Func("at-"+name, rota.TypeSpec{}, func(ctx context.Context, _ *rota.Job) error {
			value, err := engine.Secret(ctx, "TOKEN")
			if err == nil && value != testSecret {
				return rota.Permanent(os.ErrInvalid)
			}
			return err
		})
	}})
}

// copyKey copies master.key from one node to another one.
func copyKey(t *testing.T, from, to *testNode) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(from.config.Data, secret.FileName))
	if err == nil {
		err = os.WriteFile(filepath.Join(to.config.Data, secret.FileName), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wantRun runs a job and requires that its first attempt completes, or fails with a text in its error.
func (l *testNode) wantRun(template, failure string) {
	l.t.Helper()
	id := l.enqueue(`{"template":"` + template + `"}`)
	for deadline := time.Now().Add(waitMax); ; time.Sleep(5 * time.Millisecond) {
		job, err := l.store.Job(context.Background(), id)
		if err != nil {
			l.t.Fatal(err)
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("the job does not end: %+v", job)
		}
		if job.Run == nil || job.Run.Open() {
			continue
		}
		if failure == "" && job.Run.Outcome != rota.OutcomeCompleted || !strings.Contains(job.Run.Error, failure) {
			l.t.Fatalf("%s: %q, want %q", template, job.Run.Error, failure)
		}
		if failure != "" && job.Sequel == rota.SequelDead {
			l.t.Fatalf("the failure is permanent: %s", job.Run.Error)
		}
		return
	}
}

func (l *testNode) secretState() rota.SecretState {
	l.t.Helper()
	state, err := l.store.SecretState(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	return state
}

// TestRotationWithOtherNodesWaitsForTheirFiles: the first rotation only adds the key, until master.key was copied. A node that
// meets a key which it does not have reads its file again.
func TestRotationWithOtherNodesWaitsForTheirFiles(t *testing.T) {
	url := newSharedStore(t)
	a := startWithSecretType(t, url, "a")
	b := startWithSecretType(t, url, "b")
	for _, node := range []string{"a", "b"} {
		a.wantStatus(201, "POST", "/templates", `{"name":"`+node+`","type":"at-`+node+`","max_retries":9,"backoff":"1h"}`)
		a.wantStatus(200, "PUT", "/secrets/"+node+"/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	}
	for deadline := time.Now().Add(waitMax); ; time.Sleep(5 * time.Millisecond) {
		if names, err := a.otherNodes(t.Context()); err == nil && slices.Equal(names, []string{b.config.Name}) {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(names, err)
		}
	}
	first := a.secretState().Primary
	a.wantRun("a", "")
	a.wantRun("b", first) // the error names the key
	copyKey(t, a, b)
	a.wantRun("b", "")

	pending := a.wantStatus(200, "POST", "/secrets/rotate", "")
	if state := a.secretState(); !strings.Contains(pending, `"pending":true`) || !strings.Contains(pending, `"nodes":["`+b.config.Name+`"]`) || state.Primary != first || len(state.Needed) != 1 {
		t.Fatalf("%s, %+v", pending, state)
	}
	keys, _ := a.vault.Keyring.Keys()
	if len(keys) != 2 || !strings.Contains(pending, keys[1]) {
		t.Fatalf("keys %v, %s", keys, pending)
	}
	a.wantStatus(200, "PUT", "/secrets/a/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	a.wantRun("a", "")
	a.wantRun("b", "") // it does not need the new key yet
	copyKey(t, a, b)
	done := a.wantStatus(200, "POST", "/secrets/rotate", "")
	if state := a.secretState(); !strings.Contains(done, `"pending":false`) || !strings.Contains(done, `"rewrapped":2`) || state.Primary != keys[1] || !slices.Equal(state.Needed, keys[1:]) {
		t.Fatalf("%s, %+v", done, state)
	}
	a.wantRun("a", "")
	a.wantRun("b", "")
	b.wantStatus(200, "PUT", "/secrets/b/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	a.wantRun("b", "")
	if left := b.wantStatus(200, "POST", "/secrets/rotate", ""); !strings.Contains(left, `"retired":1`) || a.secretState().Primary != keys[1] {
		t.Errorf("the other node removes the old key: %s", left)
	}

	// Without the wait, jobs fail until the file was copied.
	if now := a.wantStatus(200, "POST", "/secrets/rotate?now=true", ""); !strings.Contains(now, `"pending":false`) {
		t.Error(now)
	}
	third := a.secretState().Primary
	if third == keys[1] {
		t.Fatal("the key is still the same")
	}
	a.wantRun("a", "")
	a.wantRun("b", third)
	copyKey(t, a, b)
	a.wantRun("b", "")

	// A node that ends does not count.
	b.stopCleanly()
	for deadline := time.Now().Add(waitMax); ; time.Sleep(5 * time.Millisecond) {
		if names, err := a.otherNodes(t.Context()); err == nil && len(names) == 0 {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(names, err)
		}
	}
	if alone := a.wantStatus(200, "POST", "/secrets/rotate", ""); !strings.Contains(alone, `"pending":false`) || a.secretState().Primary == third {
		t.Error(alone)
	}
	a.wantRun("a", "")
}

// TestSecretsOfLiveNodesAreNotForgotten: a node that lacks a key must not delete the secrets of a node that has it.
func TestSecretsOfLiveNodesAreNotForgotten(t *testing.T) {
	url := newSharedStore(t)
	a := startWithSecretType(t, url, "a")
	a.wantStatus(201, "POST", "/templates", `{"name":"a","type":"at-a"}`)
	a.wantStatus(200, "PUT", "/secrets/a/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	forgetful := Config{Store: url, Data: t.TempDir(), Name: "b", HTTP: "127.0.0.1:0", SQL: "none", Logger: quiet, ForgetSecrets: true}
	for deadline := time.Now().Add(waitMax); ; time.Sleep(5 * time.Millisecond) {
		if members, err := a.backend.membership.Members(t.Context()); err == nil && len(members) == 1 {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(members, err)
		}
	}
	if n, err := Open(t.Context(), forgetful); rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), a.config.Name) {
		t.Errorf("%v, %v", n, err)
	}
	a.wantRun("a", "")
	a.stopCleanly()
	n, err := Open(t.Context(), forgetful)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := n.store.SecretState(t.Context()); err != nil || len(state.Needed) > 0 {
		t.Errorf("%+v, %v", state, err)
	}
	n.Cut()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
