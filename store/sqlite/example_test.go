package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// The life of a job: enqueue, claim, finish. A program that runs jobs for long also extends its
// leases: see the worker example.
func Example() {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, err := sqlite.Open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	store := wrap.Coalesce(file) // concurrent callers share a commit

	ctx := context.Background()
	enqueued, err := rota.Do[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{
		{Type: "mail", Params: json.RawMessage(`{"to": "bo"}`), UniqueKey: "welcome:bo"},
		{Type: "mail", Params: json.RawMessage(`{"to": "bo"}`), UniqueKey: "welcome:bo"}, // a duplicate of the first
		{Type: "mail", Params: json.RawMessage(`{"to": "cy"}`), Priority: new(5)},
	}})
	if err != nil {
		log.Fatal(err) // a command that is sent again is applied once
	}
	fmt.Println("a duplicate:", enqueued.Jobs[1].Duplicate)

	claimed, err := rota.Do[*rota.Claimed](ctx, store, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "worker-1", Seed: rota.NewToken(),
		Types: []string{"mail"}, Limit: 10, Lease: rota.DefaultLease,
	})
	if err != nil {
		log.Fatal(err)
	}
	finish := &rota.Finish{Meta: rota.NewMeta("")}
	for _, job := range claimed.Jobs {
		fmt.Println("run", string(job.Params))
		finish.Items = append(finish.Items, rota.FinishItem{LeaseRef: job.Lease(), Outcome: rota.OutcomeCompleted})
	}
	if _, err := rota.Do[*rota.Finished](ctx, store, finish); err != nil {
		log.Fatal(err)
	}

	jobs, err := store.Jobs(ctx, rota.JobQuery{Type: "mail"})
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range jobs {
		fmt.Println(job.State(), "after attempt", job.Attempt)
	}
	// Output:
	// a duplicate: true
	// run {"to": "cy"}
	// run {"to": "bo"}
	// completed after attempt 1
	// completed after attempt 1
}
