package postgres

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// claimTwoTypes claims from two lanes.
func claimTwoTypes(worker string, limit int) *rota.Claim {
	c := claimOf(worker, limit)
	c.Types = []string{"other", "work"}
	return c
}

// TestSingleTypeClaimKeepsOrder, and left when another is not empty.
func TestSingleTypeClaimKeepsOrder(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 50)
	for i := range 3 {
		if got := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 10)).Jobs); !slices.Equal(got, order[10*i:10*i+10]) {
			t.Fatalf("claim %d took %v of %v", i, got, order)
		}
		if s.singleType.typ() != "work" {
			t.Fatalf("after claim %d the lane is %q", i, s.singleType.typ())
		}
	}
	urgent := done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "other", Priority: new(9)}}}).Jobs[0].Job.ID
	if got := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 10)).Jobs); !slices.Equal(got, append([]rota.ID{urgent}, order[30:39]...)) {
		t.Errorf("with another lane %v were taken; want %v first, then %v", got, urgent, order[30:39])
	}
	if s.singleType.typ() != "" {
		t.Errorf("two lanes have jobs, and %q is walked", s.singleType.typ())
	}
	rest := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 20)).Jobs)
	if !slices.Equal(rest, order[39:]) {
		t.Errorf("the rest is %v; want %v", rest, order[39:])
	}
}

// TestPausedSingleTypeClaimDoesNotBlockOthers, and nobody passes over what it does not take.
func TestPausedSingleTypeClaimDoesNotBlockOthers(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 60)
	slow := openAt(t, urlOf(s), Config{Logger: quiet})
	for i, store := range []*Store{s, slow} {
		if got := idsOf(done[*rota.Claimed](t, store, claimOf("w", 10)).Jobs); !slices.Equal(got, order[10*i:10*i+10]) || store.singleType.typ() != "work" {
			t.Fatalf("%v were taken", got)
		}
	}
	paused := pauseClaims(t, slow, 1)
	first := make(chan []*rota.Job, 1)
	go func() { first <- done[*rota.Claimed](t, paused.Store, claimOf("slow", 10)).Jobs }()
	<-paused.reached
	second := idsOf(done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs)
	paused.resume <- struct{}{}
	if one := idsOf(<-first); !slices.Equal(one, order[20:30]) || !slices.Equal(second, order[30:40]) {
		t.Errorf("the first took %v\nthe second %v\nof %v", one, second, order[20:40])
	}
}

// TestSingleTypeClaimKeepsAnswerLimit: the params get long when the lane is
// known to be deep.
func TestSingleTypeClaimKeepsAnswerLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 80)
	if done[*rota.Claimed](t, s, claimOf("w", 80)); s.singleType.typ() != "work" {
		t.Fatal("the lane is not known to be deep")
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

// TestClaimReadsPastLockedHeads: somebody holds more than it looks at.
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
		t.Errorf("%d were taken: %v; want the %d behind those that are held", len(got), got, len(order[35:]))
	}
}
