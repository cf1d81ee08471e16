package httpapi_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

// applyAll applies commands to the store of the server, as another node might.
func (s *server) applyAll(commands ...rota.Command) {
	s.Helper()
	for _, c := range commands {
		s.apply(c)
	}
}

// user creates a user, and returns the headers of requests with a token of it.
func (s *server) user(name string, scope rota.TokenScope, change ...func(*rota.PutToken)) (headers []string, id string) {
	s.Helper()
	if name != rota.AdminUser {
		s.applyAll(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: rota.KindUser})
	}
	id, token := access.NewToken()
	put := &rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: name, Scope: scope, Hash: access.HashToken(token)}
	for _, one := range change {
		one(put)
	}
	s.applyAll(put)
	return []string{"Authorization", "Bearer " + token}, id
}

// TestTokenThatEndsWhileAClaimWaits revokes the token of a waiting claim, and then enqueues a job for it.
func TestTokenThatEndsWhileAClaimWaits(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	headers, id := s.user("admin", rota.ScopeWorker)
	got := s.poll(`{"worker": "w", "types": ["a"], "wait": "30s"}`, headers...)
	waiting.reach(1)
	s.applyAll(&rota.RevokeToken{Meta: rota.NewMeta("admin"), TokenID: id})
	job := s.enqueue(`{"type": "a", "max_retries": 1, "backoff": "1ms"}`)
	answer := receive(t, got).is(401)
	if strings.Contains(answer.text, "lease_token") || !strings.Contains(answer.text, "revoked") {
		t.Error(answer.text)
	}
	stored := s.get("jobs/" + job).is(200).job()
	if stored.Run == nil || stored.Run.ErrorCode != rota.CodeShutdown {
		t.Errorf("the job was not released: %+v", stored.Run)
	}
	s.post("claim", `{"worker": "w", "types": ["a"]}`, headers...).is(401)
}

// TestTokenThatExpiresWhileAClaimWaits moves the clock of the server past the expiry of the token of a waiting claim.
func TestTokenThatExpiresWhileAClaimWaits(t *testing.T) {
	var passed atomic.Int64
	s, waiting := newPollServer(t, func(c *httpapi.Config) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	})
	s.declare("a")
	headers, _ := s.user("admin", rota.ScopeWorker, func(c *rota.PutToken) { c.ExpiresAt = time.Now().Add(time.Hour) })
	got := s.poll(`{"worker": "w", "types": ["a"], "wait": "30s"}`, headers...)
	waiting.reach(1)
	passed.Store(int64(2 * time.Hour))
	job := s.enqueue(`{"type": "a", "max_retries": 1, "backoff": "1ms"}`)
	if answer := receive(t, got).is(401); strings.Contains(answer.text, "lease_token") || !strings.Contains(answer.text, "expired at") {
		t.Error(answer.text)
	}
	if stored := s.get("jobs/" + job).is(200).job(); stored.Run == nil || stored.Run.ErrorCode != rota.CodeShutdown {
		t.Errorf("the job was not released: %+v", stored.Run)
	}
	s.post("claim", `{"worker": "w", "types": ["a"]}`, headers...).is(401)
}

// TestTokenThatExpires uses a token before and after its expiry, by the clock of the server.
func TestTokenThatExpires(t *testing.T) {
	s := newServer(t)
	soon := time.Now().Add(1500 * time.Millisecond)
	headers, _ := s.user("ada", rota.ScopeRead, func(c *rota.PutToken) { c.ExpiresAt = soon })
	s.send("GET", "types", nil, headers...).is(200)
	for time.Now().Before(soon) {
		time.Sleep(time.Until(soon))
	}
	if answer := s.send("GET", "types", nil, headers...).is(401); !strings.Contains(answer.text, "expired at") {
		t.Error(answer.text)
	}
}

// TestEventStreamShowsOnlyWhatTheUserMaySee follows events as a user that owns one job, and revokes its token.
func TestEventStreamShowsOnlyWhatTheUserMaySee(t *testing.T) {
	s := newServer(t)
	s.declare("noop")
	headers, id := s.user("ada", rota.ScopeWrite)
	got, _ := s.openStream("events?kinds=job.*", headers...)
	stream := bufio.NewReader(got.Body)
	enqueue := func(actor string) rota.ID {
		c := &rota.Enqueue{Meta: rota.NewMeta(actor), Jobs: []rota.NewJob{{Type: "noop"}}}
		s.applyAll(c)
		return c.JobID(0)
	}
	theirs, own := enqueue("bob"), enqueue("ada")
	var text strings.Builder
	for !strings.Contains(text.String(), own.String()) {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err, text.String())
		}
		text.WriteString(line)
	}
	if strings.Contains(text.String(), theirs.String()) {
		t.Errorf("the stream of ada has the job of bob: %s", text.String())
	}
	s.applyAll(&rota.RevokeToken{Meta: rota.NewMeta("admin"), TokenID: id})
	if _, err := io.ReadAll(stream); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // it ends by itself, before the timeout of the test
		t.Errorf("the stream did not end: %v", err)
	}
}

// TestEndedTokenAlwaysLearnsWhy polls with tokens whose secrets are right and that have ended. They are not guesses, and each
// request is answered by name, also from an address that has sent too many wrong tokens.
func TestEndedTokenAlwaysLearnsWhy(t *testing.T) {
	var passed atomic.Int64
	s := newServer(t, func(c *httpapi.Config) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	})
	revoked, id := s.user("ada", rota.ScopeWorker)
	expired, _ := s.user("bob", rota.ScopeWorker, func(c *rota.PutToken) { c.ExpiresAt = time.Now().Add(time.Hour) })
	dropped, _ := s.user("eve", rota.ScopeWorker)
	s.applyAll(&rota.RevokeToken{Meta: rota.NewMeta("admin"), TokenID: id}, &rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "eve", Kind: rota.KindUser})
	passed.Store(int64(2 * time.Hour))
	last := 0
	for range 15 {
		last = s.send("GET", "me", nil, "Authorization", revoked[1][:len(revoked[1])-1]+"!").status
	}
	if last != 429 {
		t.Fatalf("the last of many wrong tokens is answered with %d", last)
	}
	for range 15 {
		for want, headers := range map[string][]string{"was revoked": revoked, "expired at": expired, "was dropped": dropped} {
			if answer := s.send("POST", "claim", `{"worker": "w", "types": ["noop"]}`, headers...).is(401); !strings.Contains(answer.text, want) {
				t.Fatalf("a token that %s is answered with %s", want, answer.text)
			}
		}
	}
}

// TestHTTPAnswersByRights sends requests of one user that may see one of two jobs.
func TestHTTPAnswersByRights(t *testing.T) {
	s := newServer(t, withEngine(t))
	headers, _ := s.user("ada", rota.ScopeWrite)
	s.send("PUT", "types/mail", `{}`, headers...).is(403)
	for _, name := range []string{"mine", "theirs"} {
		s.applyAll(
			&rota.PutTemplate{Meta: rota.NewMeta("admin"), Name: name, Spec: rota.TemplateSpec{Type: "noop", Params: []byte(`{"secret":1}`)}},
			&rota.PutSchedule{Meta: rota.NewMeta("admin"), Name: name, State: rota.SchedulePaused, Spec: rota.ScheduleSpec{Template: name, Every: time.Hour}, Next: time.Now().Add(time.Hour)},
		)
	}
	s.applyAll(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"ada"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Job: "mine"})
	s.send("GET", "schedules/theirs", nil, headers...).is(404)
	s.post("schedules/theirs/trigger", `{}`, headers...).is(404)
	s.send("DELETE", "schedules/mine", nil, headers...).is(403)
	s.send("GET", "backup", nil, headers...).is(403)
	s.send("GET", "definitions", nil, headers...).is(403)
	s.send("GET", "verify", nil, headers...).is(403)
	s.post("direct", `{"type": "noop"}`, headers...).is(403)
	list := read[api.List[api.Schedule]](s.send("GET", "schedules", nil, headers...).is(200))
	if len(list.Items) != 1 || list.Items[0].Name != "mine" {
		t.Errorf("%+v", list.Items)
	}
	created := s.post("schedules/mine/trigger", `{}`, headers...).is(201)
	if strings.Contains(created.text, "secret") {
		t.Errorf("a caller without VIEW JOB HISTORY sees the params: %s", created.text)
	}
	if sql := s.post("sql", `{"statement": "SELECT job_name FROM sys.jobs"}`, headers...).is(200); strings.Contains(sql.text, "theirs") || !strings.Contains(sql.text, "mine") {
		t.Error(sql.text)
	}
	if sql := s.post("sql", `{"statement": "DROP JOB mine"}`, headers...).is(403); !strings.Contains(sql.text, "42501") || !strings.Contains(sql.text, "DROP JOB") {
		t.Error(sql.text)
	}
	if sql := s.post("sql", `{"statement": "DROP JOB theirs"}`, headers...).is(404); !strings.Contains(sql.text, "42704") {
		t.Error(sql.text)
	}
}

// TestRefusedClaimListsNoWorker: a client that may claim nothing does not appear among the workers.
func TestRefusedClaimListsNoWorker(t *testing.T) {
	s := newServer(t)
	s.declare("mail", "pay")
	mail, _ := s.user("mailer", rota.ScopeWorker, func(c *rota.PutToken) { c.Type = "mail" })
	s.post("claim", `{"worker": "ghost", "types": ["pay"]}`, mail...).problem(403, "denied")
	s.post("claim", `{"worker": "real", "types": ["mail"]}`, mail...).is(200)
	for typ, want := range map[string]int{"pay": 0, "mail": 1} {
		if got := read[api.Type](s.get("types/" + typ).is(200)).Workers; got != want {
			t.Errorf("%s has %d workers, want %d", typ, got, want)
		}
	}
}

// TestKeyOfAClaimIsThatOfItsToken: a token for one type that repeats the key of another token gets none of its jobs.
func TestKeyOfAClaimIsThatOfItsToken(t *testing.T) {
	s := newServer(t)
	s.declare("mail", "pay")
	all, _ := s.user("worker", rota.ScopeWorker)
	id, token := access.NewToken()
	s.applyAll(&rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: "worker", Scope: rota.ScopeWorker, Type: "mail", Hash: access.HashToken(token)})
	mail := []string{"Authorization", "Bearer " + token}
	s.enqueue(`{"type": "pay"}`)
	key := []string{"Idempotency-Key", rota.NewID().String()}
	if first := s.claim(`{"worker": "w", "types": ["pay"]}`, append(key, all...)...); len(first) != 1 {
		t.Fatal(first)
	}
	if stolen := s.claim(`{"worker": "w", "types": ["mail"]}`, append(key, mail...)...); len(stolen) != 0 {
		t.Errorf("the token for mail got %+v", stolen)
	}
	s.post("claim", `{"worker": "w", "types": ["mail"]}`, append(key, all...)...).problem(409, "conflict")
}

// rememberedHashes is a store that notes the hashes of requests with a key.
type rememberedHashes struct {
	rota.Store
	hashes []string
}

func (s *rememberedHashes) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	for _, c := range b.Commands {
		if remember, is := c.(*rota.Remember); is {
			s.hashes = append(s.hashes, remember.Hash)
		}
	}
	return s.Store.Apply(ctx, b)
}

// TestHashOfSQLRequestIsSlow: a statement may contain a password, and the hash of its request is stored for a day.
func TestHashOfSQLRequestIsSlow(t *testing.T) {
	var noted *rememberedHashes
	s := newServer(t, func(c *httpapi.Config) {
		noted = &rememberedHashes{Store: c.Store}
		c.Store = noted
	})
	body := `{"statement": "CREATE USER bob PASSWORD 'correct horse battery'"}`
	s.post("sql", body, "Idempotency-Key", "k").is(200)
	fast := sha256.Sum256([]byte("POST\x00/api/v1/sql\x00" + body + "\x00"))
	if len(noted.hashes) == 0 || slices.Contains(noted.hashes, hex.EncodeToString(fast[:])) {
		t.Errorf("the request is stored with the hashes %q", noted.hashes)
	}
}
