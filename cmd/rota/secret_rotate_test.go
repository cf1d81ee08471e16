package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/sqlite"
)

// rotatedSecrets are more than a page of a rotation.
const rotatedSecrets = 100 + rota.RewrapMax

// kill ends the server with SIGKILL: it can finish nothing. What it has written to files stays, unlike after a power cut.
func (s *testServer) kill() {
	s.t.Helper()
	if err := s.process.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.process.Wait() // it was killed
}

// secretsOf opens all secrets of the data directory of a server that does not run. It returns them by name, and the keys that they need.
func (s *testServer) secretsOf() (values map[string]string, state rota.SecretState) {
	s.t.Helper()
	store, err := sqlite.Open(filepath.Join(s.data, "rota.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	ring, err := secret.Load(s.data, "")
	if err != nil {
		s.t.Fatal(err)
	}
	if state, err = store.SecretState(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	values = map[string]string{}
	for after := (rota.SecretName{}); ; {
		page, err := store.Secrets(s.t.Context(), rota.SecretQuery{After: after, Limit: 100})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, one := range page {
			value, err := ring.Open(one.Template, one.Key, one.Sealed)
			if err != nil {
				s.t.Fatal(err)
			}
			values[one.Template+"/"+one.Key] = string(value)
			after = rota.SecretName{Template: one.Template, Key: one.Key}
		}
		if len(page) < 100 {
			return values, state
		}
	}
}

// awaitTwoKeys waits until the file of the keyset has two keys, as it has during a rotation.
func (s *testServer) awaitTwoKeys() {
	s.t.Helper()
	for late := time.Now().Add(time.Minute); time.Now().Before(late); time.Sleep(100 * time.Microsecond) {
		if text, err := os.ReadFile(filepath.Join(s.data, secret.FileName)); err == nil && strings.Count(string(text), `"keyId"`) > 1 {
			return
		}
	}
	s.t.Fatal("no rotation begins")
}

// killRoundsMax bounds the rounds if no kill has cut off a rotation yet.
const killRoundsMax = 100

// TestServerKilledWhileItRotatesLosesNoSecret kills the server during rotations, while secrets are set: every second time once a rotation has
// added its key, and otherwise at random moments. After each kill
// all secrets open, the acknowledged values are there, and the next rotation finishes the one that was cut off.
func TestServerKilledWhileItRotatesLosesNoSecret(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	s := startServer(t)
	want := map[string]string{}
	for i := range (rotatedSecrets + rota.SecretsMax - 1) / rota.SecretsMax {
		s.must(fmt.Sprintf("template create t%d --type noop", i))
	}
	for i := range rotatedSecrets {
		name := fmt.Sprintf("t%d/KEY_%d", i/rota.SecretsMax, i)
		want[name] = fmt.Sprintf("first value of %s", name)
		s.setSecret(name, want[name])
	}
	cut, random := 0, rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for round := 0; round < rounds || cut == 0 && round < killRoundsMax; round++ {
		var both sync.WaitGroup
		began := make(chan struct{})
		set, sent, name := "", "", fmt.Sprintf("t0/KEY_%d", round)
		both.Go(func() { // until the server is killed
			close(began)
			for {
				if _, _, code := s.run("secret rotate"); code != exitDone {
					return
				}
			}
		})
		both.Go(func() {
			for i := 0; ; i++ {
				sent = fmt.Sprintf("value %d of round %d", i, round)
				if _, _, code := s.runWith("secret set "+name, terminal{}, map[string]string{"STDIN": sent}); code != exitDone {
					return
				}
				set = sent
			}
		})
		<-began
		if round%2 == 0 {
			s.awaitTwoKeys()
		} else {
			time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		}
		s.kill()
		both.Wait()
		found, state := s.secretsOf()
		if set != "" && found[name] != set && found[name] != sent {
			t.Errorf("%s is %q; the last acknowledged value is %q", name, found[name], set)
		}
		want[name] = found[name]
		for name, value := range want {
			if found[name] != value {
				t.Fatalf("round %d: %s is %q, want %q", round, name, found[name], value)
			}
		}
		ring, err := secret.Load(s.data, "")
		if err != nil {
			t.Fatal(err)
		}
		if all, primary := ring.Keys(); len(all) > 1 || primary != state.Primary || len(state.Needed) > 1 {
			cut++
		}
		s.start()
		if out := s.must("secret rotate"); !strings.Contains(out, "the key is now") {
			t.Error(out)
		}
		if ring, err = secret.Load(s.data, ""); err != nil {
			t.Fatal(err)
		}
		if all, primary := ring.Keys(); len(all) != 1 || all[0] != primary {
			t.Errorf("round %d: after the next rotation there are the keys %v", round, all)
		}
	}
	if cut == 0 {
		t.Errorf("no rotation of %d was cut off", killRoundsMax)
	}
	t.Logf("%d rotations were cut off", cut)
	s.stop()
	if left, err := filepath.Glob(filepath.Join(s.data, ".master.key-*")); err != nil || len(left) > 0 {
		t.Errorf("kills have left copies of keys: %v %v", left, err)
	}
}
