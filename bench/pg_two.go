package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/rotajobs/rota/store/postgres"
)

const (
	pgTwoCase  = "postgres/two"
	pgTwoLeast = 1   // of the speed of one process
	pgTwoAim   = 1.1 // faster than which it should be

	pgTwoSlowCase    = "postgres/two/slow"
	pgTwoSlowJobs    = 5_000
	pgTwoSlowWorkers = 50 // of a process
	pgTwoSlowWork    = 10 * time.Millisecond
	pgTwoSlowLeast   = 1.5
)

func pgTwoBenchmark() benchmark {
	s := pgShift{
		name: pgTwoCase, jobs: pgJobs,
		applicants: []pgApplicant{
			pgTeamApplicant("one", 1, pgWorkers, 0), pgTeamApplicant("two", 2, pgWorkers/2, 0), pgTeamApplicant("two, whole", 2, pgWorkers, 0),
		},
		bars: []bar{
			{caseName: pgTwoCase, subject: "two, whole", against: "one", least: pgTwoLeast}, // a second one as the first
			{caseName: pgTwoCase, subject: "two", against: "one", least: pgTwoLeast, aim: true},
			{caseName: pgTwoCase, subject: "two, whole", against: "one", least: pgTwoAim, aim: true},
		},
	}
	return s.benchmark()
}

// pgTwoSlowBenchmark has the handlers take their time: then it is not the
// processors that bound one process, but its workers.
func pgTwoSlowBenchmark() benchmark {
	s := pgShift{
		name: pgTwoSlowCase, jobs: pgTwoSlowJobs,
		applicants: []pgApplicant{
			pgTeamApplicant("one", 1, pgTwoSlowWorkers, pgTwoSlowWork), pgTeamApplicant("two", 2, pgTwoSlowWorkers, pgTwoSlowWork),
		},
		bars: []bar{{caseName: pgTwoSlowCase, subject: "two", against: "one", least: pgTwoSlowLeast}},
	}
	return s.benchmark()
}

func pgTeamApplicant(name string, processes, workers int, work time.Duration) pgApplicant {
	return pgApplicant{
		name: name,
		note: fmt.Sprintf("of processes of their own, with an engine and %d workers each; a handler takes %v", workers, work),
		open: func(_ context.Context, db *database) (crew, error) {
			c := &pgTeam{db: db}
			return c, c.open(processes, workers, work)
		},
	}
}

// pgTeam is processes that share a store. Each says how many jobs it has ended
// when that is committed.
type pgTeam struct {
	db      *database
	store   *postgres.Store // by which the queue is filled
	members []*pgMember
	ended   tally
}

func (c *pgTeam) open(processes, workers int, work time.Duration) (err error) {
	if c.store, err = postgres.OpenWith(c.db.url, pgQuiet); err != nil {
		return err
	}
	for range processes {
		m, err := startPgMember(c.db.url, workers, work)
		if err != nil {
			return err
		}
		c.members = append(c.members, m)
		go m.hear(&c.ended)
		if err := m.await(context.Background(), sayReady); err != nil {
			return err
		}
	}
	return nil
}

func (c *pgTeam) processes() (pids []int) {
	for _, m := range c.members {
		pids = append(pids, m.child.Process.Pid)
	}
	return pids
}

func (c *pgTeam) fill(ctx context.Context, n int) error { return enqueueAll(ctx, c.store, n) }

func (c *pgTeam) work(ctx context.Context, n int) error {
	ended := c.ended.await(n)
	for _, m := range c.members {
		if _, err := fmt.Fprintln(m.orders, orderWork); err != nil {
			return err
		}
	}
	return wait(ctx, ended)
}

func (c *pgTeam) rest(ctx context.Context) error {
	for _, m := range c.members {
		if _, err := fmt.Fprintln(m.orders, orderRest); err != nil {
			return err
		}
	}
	for _, m := range c.members {
		if err := m.await(ctx, sayResting); err != nil {
			return err
		}
	}
	return nil
}

func (c *pgTeam) close(ctx context.Context, n int) error {
	err := c.store.Close()
	for _, m := range c.members {
		err = errors.Join(err, m.orders.Close(), <-m.over)
	}
	return errors.Join(err, c.db.audit(ctx, counts{completed: n}))
}

// pgMember is one of the processes.
type pgMember struct {
	child  *exec.Cmd
	orders io.WriteCloser
	says   io.Reader
	said   chan string
	over   chan error
}

// pgChildEnv names the database that a process started by this one is to work
// in, pgWorkersEnv with how many workers, and pgWorkEnv how long a job takes.
const (
	pgChildEnv   = "ROTA_BENCH_POSTGRES"
	pgWorkersEnv = "ROTA_BENCH_WORKERS"
	pgWorkEnv    = "ROTA_BENCH_WORK"
)

// What passes between the processes, a word a line. A number says how many jobs
// were ended.
const (
	orderWork  = "work"
	orderRest  = "rest"
	sayReady   = "ready"
	sayResting = "resting"
)

func startPgMember(url string, workers int, work time.Duration) (m *pgMember, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m = &pgMember{child: exec.Command(self), said: make(chan string, 2), over: make(chan error, 1)}
	m.child.Env = append(os.Environ(), pgChildEnv+"="+url, pgWorkersEnv+"="+strconv.Itoa(workers), pgWorkEnv+"="+work.String())
	m.child.Stderr = os.Stderr
	m.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive a failed run
	if m.orders, err = m.child.StdinPipe(); err != nil {
		return nil, err
	}
	if m.says, err = m.child.StdoutPipe(); err != nil {
		return nil, err
	}
	return m, m.child.Start()
}

// hear hears the process until it ends.
func (m *pgMember) hear(ended *tally) {
	for lines := bufio.NewScanner(m.says); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			ended.add(n)
			continue
		}
		m.said <- lines.Text()
	}
	close(m.said)
	m.over <- m.child.Wait()
}

func (m *pgMember) await(ctx context.Context, word string) error {
	select {
	case said := <-m.said:
		if said == word {
			return nil
		}
		return fmt.Errorf("a process was to say %q, not %q", word, said)
	case <-ctx.Done():
		return ctx.Err()
	}
}
