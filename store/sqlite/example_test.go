package sqlite_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// A job goes through its life: enqueued, claimed, finished.
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
	store := wrap.Coalesce(file) // callers that come together share a commit

	enqueued := apply(store, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{
		{Type: "mail", Params: json.RawMessage(`{"to": "bo"}`), UniqueKey: "welcome:bo"},
		{Type: "mail", Params: json.RawMessage(`{"to": "bo"}`), UniqueKey: "welcome:bo"}, // answered with the first
		{Type: "mail", Params: json.RawMessage(`{"to": "cy"}`), Priority: new(5)},
	}}).(*rota.Enqueued)
	fmt.Println("a duplicate:", enqueued.Jobs[1].Duplicate)

	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "worker-1", Types: []string{"mail"}, Limit: 10, Lease: 30 * time.Second}
	rand.Read(claim.Seed[:])
	finish := &rota.Finish{Meta: rota.NewMeta("")}
	for _, job := range apply(store, claim).(*rota.Claimed).Jobs {
		fmt.Println("run", string(job.Params))
		finish.Items = append(finish.Items, rota.FinishItem{
			LeaseRef: rota.LeaseRef{JobID: job.ID, RunID: job.Run.ID, Token: job.Run.Token},
			Outcome:  rota.OutcomeCompleted,
		})
	}
	apply(store, finish)

	jobs, err := store.Jobs(context.Background(), rota.JobQuery{Type: "mail"})
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

// apply sends one command. Sent again after an error, it is not done twice.
func apply(store rota.Store, command rota.Command) rota.Reply {
	results, err := store.Apply(context.Background(), rota.Batch{Commands: []rota.Command{command}})
	if err != nil {
		log.Fatal(err)
	}
	if results[0].Err != nil {
		log.Fatal(results[0].Err)
	}
	return results[0].Reply
}
