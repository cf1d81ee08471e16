package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// declare declares a type, a template, a limit and a schedule. A program calls it at each start: a
// declaration without a change has no effect.
func declare(ctx context.Context, store rota.Store, now time.Time) error {
	daily, err := rota.Declare(rota.NewMeta("ada"), "daily", rota.ScheduleSpec{
		Template: "report", Cron: "0 7 * * *", Zone: "Europe/Berlin", Overlap: rota.OverlapSkip,
	}, now)
	if err != nil {
		return err // names the field, such as the expression or the zone
	}
	_, err = rota.Do[*rota.AllDone](ctx, store, &rota.All{Meta: rota.NewMeta("ada"), Members: []rota.Command{
		&rota.PutType{Meta: rota.NewMeta("ada"), Name: "build", Spec: rota.TypeSpec{
			Policy: rota.PolicyPatch{MaxRetries: new(5)},
		}},
		&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "report", Spec: rota.TemplateSpec{
			Type: "build", Params: json.RawMessage(`{"as": "pdf"}`),
		}},
		&rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{
			Types: []rota.TypeLimit{{Type: "build", Concurrency: 1}},
		}},
		daily,
	}})
	return err
}

// A schedule fires, a request and a group add jobs, a limit holds them back, and Explain returns
// why each job waits.
func Example_schedule() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	now := time.Date(2027, time.March, 1, 5, 0, 0, 0, time.UTC)
	store, err := sqlite.OpenWith(filepath.Join(dir, "app.db"), sqlite.Config{Clock: func() time.Time { return now }})
	must(err)
	defer store.Close()
	ctx := context.Background()
	must(declare(ctx, store, now))

	now = now.Add(time.Hour) // 7:00 in Berlin
	next, err := runMaintenance(ctx, store, now)
	must(err)
	fmt.Println("fires again", next.Format(time.DateTime))

	_, err = rota.Do[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta("bo"), Jobs: []rota.NewJob{
		{Template: "report", Name: "extra", Params: json.RawMessage(`{"user": 7}`)},
	}})
	must(err)
	_, err = rota.Do[*rota.GroupEnqueued](ctx, store, &rota.EnqueueGroup{
		Meta: rota.NewMeta("bo"), Name: "month end", Mode: rota.GroupSequential, OnFailure: rota.FailureStop,
		Jobs: []rota.NewJob{
			{Template: "report", Name: "books"},
			{Type: "mail", Name: "letter"},
		},
	})
	must(err)

	claimed, err := rota.Do[*rota.Claimed](ctx, store, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "worker-1", Seed: rota.NewToken(),
		Types: []string{"build", "mail"}, Limit: 10, Lease: rota.DefaultLease,
	})
	must(err)
	fmt.Println("claimed", len(claimed.Jobs))

	jobs, err := store.Jobs(ctx, rota.JobQuery{})
	must(err)
	for _, job := range jobs { // newest first
		reasons, err := store.Explain(ctx, job.ID)
		must(err)
		fmt.Println(job.Name, string(job.Params), job.State()+":", reasons[0].Code)
	}
	// Output:
	// fires again 2027-03-02 06:00:00
	// claimed 1
	// letter {} blocked: group
	// books {"as":"pdf"} queued: type_limit
	// extra {"as":"pdf","user":7} queued: type_limit
	// daily {"as":"pdf"} running: running
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
