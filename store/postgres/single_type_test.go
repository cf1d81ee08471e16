package postgres

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// claimTwoTypes claims jobs of two types.
func claimTwoTypes(worker string, limit int) *rota.Claim {
	c := claimOf(worker, limit)
	c.Types = []string{"other", "work"}
	return c
}

// TestSingleTypeClaimKeepsOrder checks the order of claims of a single type, and that a job of
// another type ends that mode.
func TestSingleTypeClaimKeepsOrder(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 50)
	for i := range 3 {
		if got := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 10)).Jobs); !slices.Equal(got, order[10*i:10*i+10]) {
			t.Fatalf("claim %d returned %v of %v", i, got, order)
		}
		if s.singleType.current() != "work" {
			t.Fatalf("after claim %d the single type is %q", i, s.singleType.current())
		}
	}
	urgent := done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "other", Priority: new(9)}}}).Jobs[0].Job.ID
	if got := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 10)).Jobs); !slices.Equal(got, append([]rota.ID{urgent}, order[30:39]...)) {
		t.Errorf("with another type: claimed %v, want %v first, then %v", got, urgent, order[30:39])
	}
	if s.singleType.current() != "" {
		t.Errorf("two types have jobs, and the single type is %q", s.singleType.current())
	}
	rest := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 20)).Jobs)
	if !slices.Equal(rest, order[39:]) {
		t.Errorf("the rest is %v, want %v", rest, order[39:])
	}
}

// TestPausedSingleTypeClaimDoesNotBlockOthers checks that a second claim takes the next jobs at
// once.
func TestPausedSingleTypeClaimDoesNotBlockOthers(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 60)
	slow := openAt(t, urlOf(s), Config{Logger: quiet})
	for i, store := range []*Store{s, slow} {
		if got := idsOf(done[*rota.Claimed](t, store, claimOf("w", 10)).Jobs); !slices.Equal(got, order[10*i:10*i+10]) || store.singleType.current() != "work" {
			t.Fatalf("claimed %v", got)
		}
	}
	paused := pauseClaims(t, slow, 1)
	first := make(chan []*rota.Job, 1)
	go func() { first <- done[*rota.Claimed](t, paused.Store, claimOf("slow", 10)).Jobs }()
	<-paused.reached
	second := idsOf(done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs)
	paused.resume <- struct{}{}
	if one := idsOf(<-first); !slices.Equal(one, order[20:30]) || !slices.Equal(second, order[30:40]) {
		t.Errorf("the first claimed %v\nthe second %v\nof %v", one, second, order[20:40])
	}
}

// TestSingleTypeClaimKeepsAnswerLimit checks the size limit of an answer if the params become long
// while a single type is claimed.
func TestSingleTypeClaimKeepsAnswerLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 80)
	if done[*rota.Claimed](t, s, claimOf("w", 80)); s.singleType.current() != "work" {
		t.Fatal("the single type is not active")
	}
	long := json.RawMessage(`{"text":"` + strings.Repeat("x", rota.ParamsMax-100) + `"}`)
	for range 4 {
		jobs := make([]rota.NewJob, 15)
		for i := range jobs {
			jobs[i] = rota.NewJob{Type: "work", Params: long}
		}
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	}
	taken := 0
	for taken < 60 {
		jobs := done[*rota.Claimed](t, s, claimOf("w", 60)).Jobs
		if weight := paramsBytes(jobs); weight > rota.ClaimBytesMax || len(jobs) == 0 {
			t.Fatalf("an answer has %d jobs with %d bytes of params; at most %d are allowed", len(jobs), weight, rota.ClaimBytesMax)
		}
		taken += len(jobs)
	}
}

// TestClaimReadsPastLockedHeads checks claims while another transaction holds more jobs than a
// claim reads.
func TestClaimReadsPastLockedHeads(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 60)
	release := holdHeads(t, s, 35)
	defer release()
	var got []rota.ID
	for more := true; more; {
		claimed := done[*rota.Claimed](t, s, claimTwoTypes("w", 10))
		got, more = append(got, idsOf(claimed.Jobs)...), claimed.More || len(claimed.Jobs) == 10
	}
	if !slices.Equal(got, order[35:]) {
		t.Errorf("claimed %d jobs: %v; want the %d after the locked ones", len(got), got, len(order[35:]))
	}
}
