package report_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/report"
	"github.com/rotajobs/rota/store/sqlite"
)

// Pager is a reporter: it calls a function when a job is dead.
type Pager func(text string)

// Report receives each failed attempt, wherever it ran.
func (page Pager) Report(_ context.Context, r engine.Report) {
	if r.Dead {
		page(r.Job.DefinitionName() + " failed for good: " + report.ScrubText(r.Job.Run.Error))
	}
}

// A custom reporter. NewSentry returns one for Sentry.
func Example() {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client, reg := rota.New(store), engine.NewRegistry()
	reg.Func("import", rota.TypeSpec{}, func(context.Context, *rota.Job) error {
		return rota.Permanent(errors.New("no answer from postgres://app:hunter2@db:5432/shop"))
	})

	ctx, stop := context.WithCancel(context.Background())
	pager := Pager(func(text string) {
		fmt.Println(text)
		stop()
	})
	go func() {
		if _, err := rota.Do[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "import"}}}); err != nil {
			log.Fatal(err)
		}
	}()
	if err := engine.New(client, reg, engine.Config{Reporter: pager}).Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: import failed for good: no answer from postgres://app:[hidden]@db:5432/shop
}

func ExampleScrub() {
	fmt.Println(string(report.Scrub([]byte(`{"to": "ada@example.org", "smtp": {"user": "app", "apiKey": "k-17"}}`))))
	// Output: {"to":"ada@example.org","smtp":{"user":"app","apiKey":"[hidden]"}}
}

func ExampleScrubText() {
	fmt.Println(report.ScrubText("dial postgres://app:hunter2@db:5432/shop: connection refused"))
	// Output: dial postgres://app:[hidden]@db:5432/shop: connection refused
}
