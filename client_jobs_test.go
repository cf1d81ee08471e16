package rota_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestClientEditsAndRunsNow(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t), rota.WithActor("ada"))
	job, err := client.Enqueue(ctx, mail{"a"}, rota.After(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	edited, err := client.Edit(ctx, job.ID, rota.At(at), rota.Priority(3), rota.SetParams(map[string]any{"to": "b"}))
	if err != nil || !edited.RunAt.Equal(at) || edited.Priority != 3 || string(edited.Params) != `{"to":"b"}` {
		t.Fatalf("got %+v, %v", edited, err)
	}
	ready, err := client.RunNow(ctx, job.ID)
	if err != nil || !ready.Ready() {
		t.Fatalf("got %+v, %v", ready, err)
	}
	if delayed, err := client.Edit(ctx, job.ID, rota.After(time.Hour)); err != nil || delayed.State() != rota.StateScheduled {
		t.Errorf("got %+v, %v", delayed, err)
	}
	if ready, err := client.Edit(ctx, job.ID, rota.After(0)); err != nil || !ready.Ready() {
		t.Errorf("got %+v, %v", ready, err)
	}
	if _, err := client.RunNow(ctx, rota.NewID()); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
}

func TestClientRunsAgain(t *testing.T) {
	ctx, store := context.Background(), openStore(t)
	client := rota.New(store, rota.WithActor("ada"))
	job, err := client.Enqueue(ctx, mail{"a"})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := rota.Do[*rota.Claimed](ctx, store, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.RunAgain(ctx, job.ID); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("a running job: got %v, want Conflict", err)
	}
	done := rota.FinishItem{LeaseRef: claimed.Jobs[0].Lease(), Outcome: rota.OutcomeCompleted}
	if _, err := rota.Do[*rota.Finished](ctx, store, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{done}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Retry(ctx, job.ID); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("retry: got %v, want Conflict", err)
	}
	again, err := client.RunAgain(ctx, job.ID, rota.SetParams(mail{"b"}))
	if err != nil || again.RedriveOf != job.ID || again.CreatedBy != "ada" || string(again.Params) != `{"to":"b"}` {
		t.Fatalf("got %+v, %v", again, err)
	}
	if _, err := client.Cancel(ctx, again.ID, ""); err != nil {
		t.Fatal(err)
	}
	retried, err := client.Retry(ctx, again.ID, rota.SetParams(map[string]string{"to": "c"}))
	if err != nil || string(retried.Params) != `{"to":"c"}` {
		t.Errorf("got %+v, %v", retried, err)
	}
}

// finishOne runs the next job of a type.
func finishOne(t *testing.T, store rota.Store, typ string, outcome rota.Outcome) {
	t.Helper()
	ctx := context.Background()
	claimed, err := rota.Do[*rota.Claimed](ctx, store, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Types: []string{typ}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	})
	if err != nil {
		t.Fatal(err)
	}
	item := rota.FinishItem{LeaseRef: claimed.Jobs[0].Lease(), Outcome: outcome, Permanent: outcome == rota.OutcomeFailed}
	if _, err := rota.Do[*rota.Finished](ctx, store, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}}); err != nil {
		t.Fatal(err)
	}
}

// TestChangedParamsAreCheckedAsPayloads changes params of a queued, a dead and a completed job. One
// client knows the Go type, another one only the schema that the store has.
func TestChangedParamsAreCheckedAsPayloads(t *testing.T) {
	ctx, store := context.Background(), openStore(t)
	client := rota.New(store)
	enqueue := func() rota.ID {
		t.Helper()
		job, err := client.Enqueue(ctx, ticket{Copies: 1, Name: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	completed := enqueue()
	finishOne(t, store, "ticket", rota.OutcomeCompleted)
	dead := enqueue()
	finishOne(t, store, "ticket", rota.OutcomeFailed)
	queued := enqueue()
	type change func(*rota.Client, map[string]any) (*rota.Job, error)
	changes := map[string]change{
		"edit": func(c *rota.Client, p map[string]any) (*rota.Job, error) {
			return c.Edit(ctx, queued, rota.SetParams(p))
		},
		"retry": func(c *rota.Client, p map[string]any) (*rota.Job, error) {
			return c.Retry(ctx, dead, rota.SetParams(p))
		},
		"run again": func(c *rota.Client, p map[string]any) (*rota.Job, error) {
			return c.RunAgain(ctx, completed, rota.SetParams(p))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			for _, other := range []*rota.Client{client, rota.New(store)} {
				_, err := change(other, map[string]any{"copies": 0})
				wantInvalid(t, err, "params.copies", "")
				_, err = change(other, map[string]any{"cc": "bob"})
				wantInvalid(t, err, "params.cc", "")
			}
			_, err := change(client, map[string]any{"name": "nobody"})
			wantInvalid(t, err, "params.name", "is nobody")
			told := rota.New(store)
			told.KnowType(ticket{})
			_, err = change(told, map[string]any{"name": "nobody"})
			wantInvalid(t, err, "params.name", "is nobody")
			changed, err := change(client, map[string]any{"copies": 2})
			if err != nil || string(changed.Params) != `{"copies":2,"name":"ada"}` {
				t.Errorf("got %+v, %v", changed, err)
			}
		})
	}
	if _, err := rota.New(store, rota.WithChecker(nil)).Edit(ctx, queued, rota.SetParams(map[string]int{"copies": 0})); err != nil {
		t.Errorf("without a checker: %v", err)
	}
}

func TestOptionsOfChangesNameTheirCalls(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t))
	edit := func(options ...rota.Option) error {
		_, err := client.Edit(ctx, rota.NewID(), options...)
		return err
	}
	_, retry := client.Retry(ctx, rota.NewID(), rota.At(time.Now()))
	_, again := client.RunAgain(ctx, rota.NewID(), rota.SetParams([]int{1}))
	for name, c := range map[string]struct {
		err           error
		field, reason string
	}{
		"nothing":             {edit(), "", "no change is given; set at least one of priority, params, merge_params, run_at and delay"},
		"retries":             {edit(rota.Retries(1)), "max_retries", "the option Retries is for Enqueue and Schedule, not for Edit"},
		"unique":              {edit(rota.Unique("k")), "unique_key", "the option Unique is for Enqueue, not for Edit"},
		"two times":           {edit(rota.At(time.Now()), rota.After(0)), "delay", "run_at is also given"},
		"a function":          {edit(rota.SetParams(func() {})), "params", "cannot be encoded as JSON"},
		"at a retry":          {retry, "at", "the option At is for Enqueue, Schedule and Edit, not for Retry"},
		"params a list":       {again, "params", "[]int is encoded as"},
		"params of a new job": {enqueueWith(client, rota.SetParams(map[string]int{})), "params", "the option SetParams is for Edit, Retry and RunAgain, not for Enqueue"},
	} {
		t.Run(name, func(t *testing.T) { wantInvalid(t, c.err, c.field, c.reason) })
	}
}
