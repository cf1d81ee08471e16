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
	edited, err := client.Edit(ctx, job.ID, rota.At(at), rota.Priority(3), rota.SetParams(map[string]any{"to": "b", "n": 1}))
	if err != nil || !edited.RunAt.Equal(at) || edited.Priority != 3 || string(edited.Params) != `{"n":1,"to":"b"}` {
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
	retried, err := client.Retry(ctx, again.ID, rota.SetParams(map[string]int{"n": 1}))
	if err != nil || string(retried.Params) != `{"n":1,"to":"b"}` {
		t.Errorf("got %+v, %v", retried, err)
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
		"nothing":             {edit(), "priority", "no change is given"},
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
