package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
)

// Summary is the payload of a job.
type Summary struct {
	User int `json:"user" jsonschema:"minimum=1"`
}

// JobType names the type.
func (Summary) JobType() string { return "summary" }

// summarize enqueues a job at a server. Sent again, it enqueues nothing.
func summarize(ctx context.Context, url, token string, user int) (*rota.Job, error) {
	queue, err := client.Dial(url, token) // connects with the first call
	if err != nil {
		return nil, err
	}
	job, err := queue.Enqueue(ctx, Summary{User: user}, rota.Unique(fmt.Sprintf("summary:%d:2026-11-15", user)))
	if invalid := (*rota.Error)(nil); errors.As(err, &invalid) && invalid.Code == rota.Invalid {
		return nil, fmt.Errorf("wrong %s: %w", invalid.Field, err) // the same codes and fields as those of an embedded queue
	}
	return job, err
}

func ExampleDial() {
	server, done := exampleServer()
	defer done()
	ctx := context.Background()

	for range 2 {
		job, err := summarize(ctx, server.URL, token, 7)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job.Type, string(job.Params), job.State(), job.CreatedBy)
	}
	_, err := summarize(ctx, server.URL, token, 0)
	fmt.Println(rota.CodeOf(err), err)
	// Output:
	// summary {"user":7} queued admin
	// summary {"user":7} queued admin
	// invalid wrong params.user: enqueue: params.user: is 0; at least 1 is required: see the schema of its type
}

// exampleServer is a server of a new store.
func exampleServer() (server *httptest.Server, done func()) {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(dir, "rota.db"))
	if err != nil {
		log.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Store: store, Token: token})
	if err != nil {
		log.Fatal(err)
	}
	server = httptest.NewServer(handler)
	return server, func() {
		server.Close()
		store.Close()
		os.RemoveAll(dir)
	}
}
