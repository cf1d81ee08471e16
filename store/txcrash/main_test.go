//go:build unix

// Package txcrash kills processes and PostgreSQL servers while programs commit rows of
// their own together with jobs and with the end of runs. It then compares the rows with
// the jobs. It has tests only.
package txcrash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// Environment variables of a process under test.
const (
	envStore  = "ROTA_TXCRASH_STORE"  // postgres or sqlite
	envTarget = "ROTA_TXCRASH_TARGET" // URL or file of the store
	envLedger = "ROTA_TXCRASH_LEDGER" // file that the process records outcomes in
	envPoint  = "ROTA_TXCRASH_POINT"  // the process kills itself at this point: name:n
	envDrain  = "ROTA_TXCRASH_DRAIN"  // if set, the process enqueues nothing and ends when all jobs have ended
)

// callers is the number of goroutines of a process that place orders.
const callers = 4

// waitMax is how long something may take on a very busy machine.
const waitMax = 90 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(envStore) == "" {
		os.Exit(m.Run())
	}
	if err := runProcess(); err != nil {
		fmt.Fprintln(os.Stderr, "txcrash:", err)
		os.Exit(1)
	}
}

// process is a program that uses the queue in its own transactions.
type process struct {
	store  rota.Store
	client *rota.Client
	db     database
	ledger *ledger
	kill   *killPoint

	full    atomic.Bool  // callers wait until there are fewer jobs
	commits atomic.Int64 // commits sent to PostgreSQL
}

func runProcess() error {
	go func() { // end with the test that started the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		killSelf()
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := &process{}
	if err := p.open(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	reg := engine.NewRegistry()
	engine.Handle(reg, p.fulfil, engine.WithRetries(6), engine.WithBackoff(10*time.Millisecond))
	e := engine.New(p.client, reg, engine.Config{
		Workers: 8, Lease: 2 * time.Second, CancelGrace: time.Second, ShutdownGrace: 5 * time.Second,
		Retention: &rota.Retention{}, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	go func() { ended <- e.Run(ctx) }()
	select {
	case <-e.Ready():
	case err := <-ended:
		return err
	}
	fmt.Println("ready")
	if os.Getenv(envDrain) != "" {
		p.awaitIdle(ctx)
		stop()
		return errors.Join(<-ended, p.store.Close())
	}
	go p.limitBacklog(ctx)
	for range callers {
		go p.placeOrders(ctx)
	}
	return <-ended
}

// limitBacklog keeps callers from placing orders faster than the engine runs jobs.
func (p *process) limitBacklog(ctx context.Context) {
	const backlogMax = 100
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if s, err := p.store.Stats(ctx); err == nil {
			p.full.Store(s.Queued+s.Scheduled > backlogMax)
		}
	}
}

// open opens the store. It retries, because the database may be starting.
func (p *process) open() (err error) {
	if p.ledger, err = openLedger(os.Getenv(envLedger)); err != nil {
		return err
	}
	if p.kill, err = newKillPoint(os.Getenv(envPoint)); err != nil {
		return err
	}
	var store rota.Store
	for deadline := time.Now().Add(waitMax); ; time.Sleep(50 * time.Millisecond) {
		if store, err = openStore(os.Getenv(envStore), os.Getenv(envTarget), false); err == nil {
			break
		}
		if code := rota.CodeOf(err); code != rota.Unavailable && code != rota.Busy || time.Now().After(deadline) {
			return err
		}
	}
	p.store = wrap.Coalesce(store)
	p.client = rota.New(p.store)
	p.db, err = openDatabase(os.Getenv(envStore), os.Getenv(envTarget), p)
	return err
}

// awaitIdle waits until every job has ended.
func (p *process) awaitIdle(ctx context.Context) {
	for idle := 0; idle < 3 && ctx.Err() == nil; time.Sleep(30 * time.Millisecond) {
		s, err := p.store.Stats(ctx)
		if idle++; err != nil || s.Queued+s.Scheduled+s.Blocked+s.Running > 0 {
			idle = 0
		}
	}
}
