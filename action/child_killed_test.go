package action

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// Environment of a child process that runs the jobs of a store and is killed.
const (
	envChildStore           = "ROTA_TEST_CHILD_STORE"
	envChildTarget          = "ROTA_TEST_CHILD_TARGET"
	envChildKillAfterCommit = "ROTA_TEST_CHILD_KILL_AFTER_COMMIT" // if set, the child kills itself after the commit and before it reports the end of the run
)

// runUntilKilled is the main function of the child.
func runUntilKilled(path string) {
	store, err := sqlite.Open(path)
	if err != nil {
		panic(err)
	}
	reg := engine.NewRegistry()
	if os.Getenv(envChildKillAfterCommit) != "" {
		reg.Use(func(next engine.Handler) engine.Handler {
			return func(ctx context.Context, job *rota.Job) error {
				if err := next(ctx, job); err != nil {
					panic(err)
				}
				if own, err := os.FindProcess(os.Getpid()); err == nil {
					_ = own.Kill()
				}
				select {}
			}
		})
	}
	Register(reg, Config{Targets: map[string]Target{"t": {URL: os.Getenv(envChildTarget)}}})
	panic(engine.New(rota.New(store, rota.WithActor("rota")), reg, engine.Config{Workers: 1}).Run(context.Background()))
}

// startChild enqueues a job in a new store and starts a child that runs it.
func startChild(t *testing.T, g *testTarget, j rota.NewJob, env ...string) (store string, id rota.ID, child *exec.Cmd) {
	t.Helper()
	store = filepath.Join(t.TempDir(), "rota.db")
	kept, err := sqlite.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	w := &testEnv{T: t, store: kept}
	types := &rota.PutType{Meta: rota.NewMeta("ada"), Name: j.Type}
	if _, err := rota.Do[*rota.TypePut](t.Context(), kept, types); err != nil {
		t.Fatal(err)
	}
	id = w.enqueue(j)
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child = exec.Command(self)
	child.Env = append(append(os.Environ(), envChildStore+"="+store, envChildTarget+"="+g.target.URL), env...)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	return store, id, child
}

// TestProcessKilledBeforeCommitChangesNothing kills a process while its statement runs.
func TestProcessKilledBeforeCommitChangesNothing(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		g.newEnv(t).mustComplete(statement("CREATE TABLE a (id INT)"))
		_, id, child := startChild(t, g, statement("INSERT INTO a VALUES (1); %s", g.slowStatement))
		waitFor(t, "the child's statement runs", func() bool { return g.slowRunning(t) > 0 })
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		if g.name == "MariaDB" { // it notices a closed connection only when it sends an answer
			for _, row := range g.query(t, "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE '%SLEEP(600)%' AND id <> CONNECTION_ID()") {
				g.query(t, "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR 1094 BEGIN END; KILL "+row[0]+"; END") // the statement may have ended by itself
			}
		}
		waitFor(t, "the server executes no statement", func() bool { return g.activeStatements(t) == 0 })
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "0" {
			t.Errorf("a killed run left %s rows", n)
		}
		if n := g.queryValue(t, "SELECT count(*) FROM rota_effects WHERE execution_id = '"+id.String()+"'"); n != "0" {
			t.Error("the effect of a killed run is committed")
		}
	})
}

// TestProcessKilledAfterCommitExecutesOnce kills a process after its commit and before its report.
func TestProcessKilledAfterCommitExecutesOnce(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		g.newEnv(t).mustComplete(statement("CREATE TABLE a (id INT)"))
		j := statement("INSERT INTO a VALUES (1), (2)")
		j.MaxRetries = new(2)
		store, id, child := startChild(t, g, j, envChildKillAfterCommit+"=1")
		_ = child.Wait()
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "2" {
			t.Fatalf("%s rows: the child died too early", n)
		}
		w := newTestEnvAt(t, store, g.register())
		jobs := w.waitAttempts(id)
		last := jobs[len(jobs)-1]
		if len(jobs) != 2 || last.Run.Outcome != rota.OutcomeCompleted || *last.Run.RowsAffected != 2 {
			t.Errorf("%d attempts, the last %s: %s", len(jobs), last.Run.Outcome, last.Run.Error)
		}
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "2" {
			t.Errorf("%s rows: the statement was executed twice", n)
		}
	})
}
