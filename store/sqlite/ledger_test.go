//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/wrap"
)

const (
	envLedger    = "ROTA_TEST_LEDGER_STORE"
	envCrashTime = "ROTA_CRASH_TIME" // duration of TestCrashKeepsAnsweredCommands; by default a few kills
)

// ledger holds the answers that the child processes report. A child writes each line after the
// store has answered.
type ledger struct {
	enqueued map[string]bool
	started  map[string]int
	finished map[string]string
}

// TestCrashKeepsAnsweredCommands kills a process under load at random times, and compares the store
// with the ledger.
func TestCrashKeepsAnsweredCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	kills, until := 4, time.Time{}
	if text := os.Getenv(envCrashTime); text != "" {
		d, err := time.ParseDuration(text)
		must(t, err)
		until = time.Now().Add(d)
	}
	path := filepath.Join(t.TempDir(), "rota.db")
	answered := ledger{enqueued: map[string]bool{}, started: map[string]int{}, finished: map[string]string{}}
	for killed := 0; killed < kills || time.Now().Before(until); killed++ {
		runAndKill(t, path, &answered, killed%4 != 0)
		if killed%10 == 3 {
			answered.audit(t, path)
		}
	}
	answered.audit(t, path)
	t.Logf("%d enqueued, %d started, %d finished", len(answered.enqueued), len(answered.started), len(answered.finished))
	if len(answered.finished) == 0 {
		t.Error("no child process lived long enough to finish a job")
	}
}

// runAndKill kills a child at a random time after its start, or after it has finished its first job.
func runAndKill(t *testing.T, path string, answered *ledger, afterFinish bool) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), envLedger+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	kill := func() {
		time.AfterFunc(time.Duration(100+rand.IntN(500))*time.Millisecond, func() { _ = child.Process.Kill() })
	}
	if !afterFinish {
		kill()
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		answered.add(t, lines.Text())
		if afterFinish && strings.HasPrefix(lines.Text(), "finished ") {
			afterFinish = false
			kill()
		}
	}
	_ = child.Wait()
	if child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %s", child.ProcessState)
	}
}

func (l *ledger) add(t *testing.T, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "enqueued":
		l.enqueued[rest] = true
	case "started":
		if l.started[rest]++; l.started[rest] > 1 {
			t.Errorf("job %s was started twice", rest)
		}
	case "finished":
		id, outcome, _ := strings.Cut(rest, " ")
		l.finished[id] = outcome
	default:
		t.Errorf("unexpected line of the child process: %q", line)
	}
}

// audit compares the store with the ledger.
func (l *ledger) audit(t *testing.T, path string) {
	t.Helper()
	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	verifyClean(t, s)
	for id := range l.enqueued {
		if _, err := s.Job(context.Background(), mustID(t, id)); err != nil {
			t.Errorf("a job whose enqueue was answered is missing: %v", err)
		}
	}
	for id, outcome := range l.finished {
		j, err := s.Job(context.Background(), mustID(t, id))
		must(t, err)
		if j.Run == nil || string(j.Run.Outcome)+" "+string(j.Sequel) != outcome {
			t.Errorf("job %s: the finish was answered %s, the job is %+v", id, outcome, j)
		}
	}
}

func mustID(t *testing.T, text string) rota.ID {
	t.Helper()
	id, err := rota.ParseID(text)
	must(t, err)
	return id
}

// workUntilKilled is the child process: it recovers the runs of its last incarnation, then enqueues
// and works, and prints what the store answers.
func workUntilKilled(path string) {
	file, err := OpenWith(path, Config{Logger: quiet})
	exitOnError(err)
	s := wrap.Coalesce(file)
	incarnation := rota.NewID()
	for more := true; more; {
		more = applyOne[*rota.Recovered](s, &rota.Recover{Meta: rota.NewMeta(""), Runner: "node", Incarnation: incarnation}).More
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { enqueueForever(s) })
		group.Go(func() { workForever(s, incarnation) })
	}
	group.Wait()
}

func enqueueForever(s rota.Store) {
	for {
		jobs := make([]rota.NewJob, 1+rand.IntN(5))
		for i := range jobs {
			jobs[i] = rota.NewJob{Type: "mail", Priority: new(rand.IntN(3)), Backoff: new(time.Duration(0)), MaxRetries: new(1)}
		}
		reply := applyOne[*rota.Enqueued](s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
		for _, one := range reply.Jobs {
			fmt.Println("enqueued", one.Job.ID)
		}
	}
}

func workForever(s rota.Store, incarnation rota.ID) {
	for {
		jobs := applyOne[*rota.Claimed](s, &rota.Claim{
			Meta: rota.NewMeta(""), Worker: "node", Incarnation: incarnation, Types: []string{"mail"}, Limit: 8, Lease: time.Minute,
			Seed: rota.Token(rota.NewID()),
		}).Jobs
		if len(jobs) == 0 {
			continue
		}
		finish := &rota.Finish{Meta: rota.NewMeta("")}
		for _, j := range jobs {
			fmt.Println("started", j.ID)
			item := rota.FinishItem{LeaseRef: lease(j), Outcome: rota.OutcomeCompleted, Result: json.RawMessage(`"done"`)}
			if rand.IntN(4) == 0 {
				item.Outcome, item.Result = rota.OutcomeFailed, nil
			}
			finish.Items = append(finish.Items, item)
		}
		for i, a := range applyOne[*rota.Finished](s, finish).Items {
			fmt.Println("finished", jobs[i].ID, a.Outcome, a.Sequel)
		}
	}
}

func applyOne[R rota.Reply](s rota.Store, c rota.Command) R {
	results, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{c}})
	exitOnError(err)
	if results[0].Err != nil {
		exitOnError(results[0].Err)
	}
	return results[0].Reply.(R)
}
