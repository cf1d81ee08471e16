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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
)

const (
	pgTwoCase  = "postgres/two"
	pgTwoLeast = 1   // of the speed of one process
	pgTwoGoal  = 1.1 // of the speed of one process

	pgTwoSlowCase    = "postgres/two/slow"
	pgTwoSlowJobs    = 5_000
	pgTwoSlowWorkers = 50 // of one process
	pgTwoSlowWork    = 10 * time.Millisecond
	pgTwoSlowLeast   = 1.5

	pgReaderCase = "postgres/reader"
	pgReaderGoal = 0.7 // of the speed without a reader
)

func pgTwoBenchmark() benchmark {
	s := pgEngineComparison{
		name: pgTwoCase, jobs: pgJobs,
		contenders: []pgContender{
			pgProcessesContender("one", 1, pgWorkers, 0), pgProcessesContender("two", 2, pgWorkers/2, 0), pgProcessesContender("two, 1,000 each", 2, pgWorkers, 0),
		},
		bars: []bar{
			{caseName: pgTwoCase, subject: "two, 1,000 each", against: "one", least: pgTwoLeast}, // with as many workers in each process as in one
			{caseName: pgTwoCase, subject: "two", against: "one", least: pgTwoLeast, goal: true},
			{caseName: pgTwoCase, subject: "two, 1,000 each", against: "one", least: pgTwoGoal, goal: true},
		},
	}
	return s.benchmark()
}

// pgTwoSlowBenchmark uses handlers that sleep, so that the number of workers and not the processors limits one process.
func pgTwoSlowBenchmark() benchmark {
	s := pgEngineComparison{
		name: pgTwoSlowCase, jobs: pgTwoSlowJobs,
		contenders: []pgContender{
			pgProcessesContender("one", 1, pgTwoSlowWorkers, pgTwoSlowWork), pgProcessesContender("two", 2, pgTwoSlowWorkers, pgTwoSlowWork),
		},
		bars: []bar{{caseName: pgTwoSlowCase, subject: "two", against: "one", least: pgTwoSlowLeast}},
	}
	return s.benchmark()
}

func pgProcessesContender(name string, processes, workers int, work time.Duration) pgContender {
	return pgContender{
		name: name,
		note: fmt.Sprintf("separate processes, each with an engine and %d workers; a handler takes %v", workers, work),
		open: func(_ context.Context, db *database) (workerPool, error) {
			c := &pgProcesses{db: db}
			return c, c.open(processes, workers, work)
		},
	}
}

// pgReaderBenchmark measures what a reader of the events of another process costs that process.
func pgReaderBenchmark() benchmark {
	reader := pgProcessesContender("reader", 1, pgWorkers, 0)
	reader.note = "as no reader, and the process that fills the queue receives the events of the other"
	open := reader.open
	reader.open = func(ctx context.Context, db *database) (workerPool, error) {
		pool, err := open(ctx, db)
		if err == nil {
			pool.(*pgProcesses).readEvents()
		}
		return pool, err
	}
	s := pgEngineComparison{
		name: pgReaderCase, jobs: pgJobs,
		contenders: []pgContender{pgProcessesContender("no reader", 1, pgWorkers, 0), reader},
		bars:       []bar{{caseName: pgReaderCase, subject: "reader", against: "no reader", least: pgReaderGoal, goal: true}},
	}
	return s.benchmark()
}

// pgProcesses is a worker pool of several processes that share a store. Each reports how many jobs it has finished
// after the commit.
type pgProcesses struct {
	db    *database
	store *postgres.Store // fills the queue
	list  []*pgProcess
	ended counter

	reads            bool         // the events of the other processes
	received, losses atomic.Int64 // events of other processes, and reports that some are missing
}

// readEvents receives the events of the other processes, as a node does for the readers of its event stream.
func (c *pgProcesses) readEvents() {
	c.reads = true
	c.store.WatchOthers(func(events []rota.Event) { c.received.Add(int64(len(events))) }, func(string) { c.losses.Add(1) })
}

func (c *pgProcesses) open(processes, workers int, work time.Duration) (err error) {
	if c.store, err = postgres.OpenWith(c.db.url, c.db.config()); err != nil {
		return err
	}
	for range processes {
		m, err := startPgProcess(c.db, workers, work)
		if err != nil {
			return err
		}
		c.list = append(c.list, m)
		go m.readOutput(&c.ended)
		if err := m.await(context.Background(), messageReady); err != nil {
			return err
		}
	}
	return nil
}

func (c *pgProcesses) processes() (pids []int) {
	for _, m := range c.list {
		pids = append(pids, m.child.Process.Pid)
	}
	return pids
}

func (c *pgProcesses) fill(ctx context.Context, n int) error { return enqueueAll(ctx, c.store, n) }

func (c *pgProcesses) work(ctx context.Context, n int) error {
	ended := c.ended.await(n)
	for _, m := range c.list {
		if _, err := fmt.Fprintln(m.commands, commandWork); err != nil {
			return err
		}
	}
	return wait(ctx, ended)
}

func (c *pgProcesses) stopWorkers(ctx context.Context) error {
	for _, m := range c.list {
		if _, err := fmt.Fprintln(m.commands, commandStop); err != nil {
			return err
		}
	}
	for _, m := range c.list {
		if err := m.await(ctx, messageStopped); err != nil {
			return err
		}
	}
	return nil
}

func (c *pgProcesses) close(ctx context.Context, n int) error {
	err := c.store.Close()
	if c.reads {
		fmt.Fprintf(os.Stderr, "%s: %d events of %d jobs received, %d reports of a loss\n", pgReaderCase, c.received.Load(), n, c.losses.Load())
		if c.received.Load() == 0 && c.losses.Load() == 0 {
			err = errors.Join(err, fmt.Errorf("%s: the reader received no events", pgReaderCase))
		}
	}
	for _, m := range c.list {
		err = errors.Join(err, m.commands.Close(), <-m.ended)
	}
	return errors.Join(err, c.db.audit(ctx, counts{completed: n}))
}

// pgProcess is one of the processes.
type pgProcess struct {
	child    *exec.Cmd
	commands io.WriteCloser
	output   io.Reader
	lines    chan string
	ended    chan error
}

// pgChildEnv names the database of a child process, pgDisableEnv the fast paths that it does not use, pgWorkersEnv its
// number of workers, and pgWorkEnv the duration of a job.
const (
	pgChildEnv   = "ROTA_BENCH_POSTGRES"
	pgDisableEnv = "ROTA_BENCH_DISABLE"
	pgWorkersEnv = "ROTA_BENCH_WORKERS"
	pgWorkEnv    = "ROTA_BENCH_WORK"
)

// The messages between the processes, one per line. A number is a count of finished jobs.
const (
	commandWork    = "work"
	commandStop    = "stop"
	messageReady   = "ready"
	messageStopped = "stopped"
)

func startPgProcess(db *database, workers int, work time.Duration) (m *pgProcess, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m = &pgProcess{child: exec.Command(self), lines: make(chan string, 2), ended: make(chan error, 1)}
	m.child.Env = append(os.Environ(), pgChildEnv+"="+db.url, pgDisableEnv+"="+db.disable.String(), pgWorkersEnv+"="+strconv.Itoa(workers), pgWorkEnv+"="+work.String())
	m.child.Stderr = os.Stderr
	m.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // ends with this process, also after a failure
	if m.commands, err = m.child.StdinPipe(); err != nil {
		return nil, err
	}
	if m.output, err = m.child.StdoutPipe(); err != nil {
		return nil, err
	}
	return m, m.child.Start()
}

// readOutput reads the messages of the process until it ends.
func (m *pgProcess) readOutput(ended *counter) {
	for lines := bufio.NewScanner(m.output); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			ended.add(n)
			continue
		}
		m.lines <- lines.Text()
	}
	close(m.lines)
	m.ended <- m.child.Wait()
}

func (m *pgProcess) await(ctx context.Context, word string) error {
	select {
	case said := <-m.lines:
		if said == word {
			return nil
		}
		return fmt.Errorf("a process sent %q instead of %q", said, word)
	case <-ctx.Done():
		return ctx.Err()
	}
}
