//go:build unix

package examples_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// runCounts counts the runs of jobs by the name in their params.
type runCounts struct {
	mu   sync.Mutex
	runs map[string]int
}

func (c *runCounts) handle(_ context.Context, j *rota.Job) error {
	var params struct{ Name string }
	if err := json.Unmarshal(j.Params, &params); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[params.Name]++
	return nil
}

func (c *runCounts) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.runs)
}

// A program in Python puts 1,000 items, 600 of them with 300 unique keys, while two processes of Rota run jobs and one
// of them enqueues jobs with the same keys. Each job runs once, and each key once, no matter which program has taken it.
func TestDynamoDBRunsItemsOfPythonOnce(t *testing.T) {
	t.Parallel()
	const keys, others = 300, 400
	server := dyntest.Shared(t, dyntest.Dynoxide)
	table := server.TableName(t)
	counts := &runCounts{runs: map[string]int{}}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var stores []*dynamo.Store
	for n := range 2 {
		store, err := dynamo.Open(ctx, server.URL(table)+"&skew=1s&poll=500ms", dynamo.Config{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		reg := engine.NewRegistry()
		reg.Func("sync", rota.TypeSpec{}, counts.handle, engine.WithRetries(0))
		running.Go(func() {
			config := engine.Config{Name: fmt.Sprint("process-", n), Workers: 8, Membership: store, Lease: 20 * time.Second}
			if err := engine.New(rota.New(store), reg, config).Run(ctx); err != nil {
				t.Error(err)
			}
		})
		stores = append(stores, store)
	}
	defer running.Wait()
	defer stop()

	var lines strings.Builder
	for n := range others {
		fmt.Fprintf(&lines, "{\"name\": \"other-%d\"}\t\n", n)
	}
	for n := range 2 * keys {
		fmt.Fprintf(&lines, "{\"name\": \"key-%d\"}\tday#%d\n", n%keys, n%keys)
	}
	script := exec.Command(interpreter(t), "dynamodb/put_jobs.py", table, "sync", "-")
	script.Env = []string{"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_REGION=" + server.Region(), "AWS_ENDPOINT_URL=" + server.Endpoint()}
	script.Stdin = strings.NewReader(lines.String())
	var output []byte
	written := make(chan error, 1)
	go func() {
		var err error
		output, err = script.CombinedOutput()
		written <- err
	}()
	own, held := 0, 0
	for n := keys - 1; n >= 0; n-- { // towards the program in Python
		job := rota.NewJob{Type: "sync", Params: json.RawMessage(fmt.Sprintf(`{"name": "key-%d"}`, n)), UniqueKey: fmt.Sprint("day#", n)}
		reply, err := rota.Do[*rota.Enqueued](ctx, stores[0], &rota.Enqueue{Meta: rota.NewMeta("tester"), Jobs: []rota.NewJob{job}})
		if err != nil {
			t.Fatal(err)
		}
		if reply.Jobs[0].Duplicate {
			held++
		} else {
			own++
		}
	}
	if err := <-written; err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	deadline := time.Now().Add(60 * time.Second)
	for counts.total() < keys+others && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(time.Second) // for a second run of a job
	put := strings.Count(string(output), "put ")
	t.Logf("Python put %d of 1,000 and was refused %d; Rota enqueued %d keys and was refused %d", put, 1000-put, own, held)
	if put+own != keys+others || own == 0 {
		t.Errorf("%d jobs were put and %d enqueued; want %d together", put, own, keys+others)
	}
	if n := counts.total(); n != keys+others {
		t.Errorf("%d jobs have run; want %d", n, keys+others)
	}
	for name, n := range counts.runs {
		if n != 1 {
			t.Errorf("%s has run %d times", name, n)
		}
	}
	for v, err := range stores[1].Verify(t.Context()) {
		t.Errorf("the store breaks %s: %s %v", v.Check, v.Detail, err)
	}
}
