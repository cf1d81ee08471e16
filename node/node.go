package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/pgwire"
	"github.com/rotajobs/rota/telemetry"
)

// Node is one process of Rota: a store, an engine and their faces.
type Node struct {
	config Config
	logger *slog.Logger
	clock  func() time.Time
	offset *offsetClock // nil unless a test sets the clock

	scratch  string // directory for what is under way
	token    string
	kept     keptStore
	meter    *metered
	store    rota.Store // what everybody uses
	feed     *eventring.Ring
	meters   *meters
	logs     *runLogs
	book     *payload.SchemaCache // compiled schemas of the types, for HTTP and SQL
	console  *console.Console
	engine   *engine.Engine
	lane     *engine.Engine      // of webhooks
	sender   *action.Sender      // to webhooks
	traces   *telemetry.Provider // nil: none are sent
	listener net.Listener
	server   *http.Server
	port     *pgwire.Server     // of SQL
	hangUp   context.CancelFunc // ends what the server is still answering

	sqlListener net.Listener // nil: there is no SQL port

	serving  chan struct{} // closed when requests are answered
	ready    chan struct{} // closed when that is said in the data directory, too
	stopping atomic.Bool
	cut      chan struct{} // closed when nobody wants to wait any more
	cutIt    sync.Once

	closing sync.Once
	closers []func() error // what Open took, in that order
	closed  error
}

// Ready is closed when the node has recovered what an earlier life left, runs
// jobs, answers, and has written down where.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// Run runs the node until ctx ends, or something in it does. Then it takes no
// more jobs, lets those that run end within the grace, answers meanwhile, hangs
// up, and closes what Open took. A node runs once.
func (n *Node) Run(ctx context.Context) error {
	incarnation, die := context.WithCancel(context.Background())
	defer die()
	jobs := begin(func() error { return n.runEngines(incarnation) })
	web := begin(func() error { return n.server.Serve(n.listener) })
	talk, fallSilent := context.WithCancel(context.Background())
	defer fallSilent()
	port := begin(func() error { return n.serveSQL(talk) })
	var upkeep sync.WaitGroup
	upkeep.Go(func() { n.logs.run(incarnation) })
	if n.offset != nil {
		upkeep.Go(func() { n.offset.run(incarnation) })
	}
	err := n.attend(ctx, jobs, web, port)
	n.stop(die, jobs, web)
	fallSilent()
	<-port.done
	upkeep.Wait()
	err = errors.Join(err, jobs.result(), n.Close())
	n.logger.Info("stopped")
	return err
}

// runEngines runs jobs and delivers webhooks. If one cannot go on, neither does
// the other.
func (n *Node) runEngines(incarnation context.Context) error {
	incarnation, die := context.WithCancel(incarnation)
	defer die()
	lane := begin(func() error {
		defer die()
		return n.lane.Run(incarnation)
	})
	err := n.engine.Run(incarnation)
	die()
	<-lane.done
	return errors.Join(err, lane.err)
}

// attend waits until everything stands, says so, and waits for the end.
func (n *Node) attend(ctx context.Context, jobs, web, port *task) error {
	select {
	case <-n.engine.Ready():
	case <-jobs.done: // its error is told by Run
		return nil
	case <-web.done:
		return faceFault("http", web.err)
	case <-ctx.Done():
		return nil
	}
	close(n.serving) // first: whoever finds the address is answered
	if err := writeAddr(n.path(addrName), n.Addresses()); err != nil {
		return err
	}
	close(n.ready)
	n.logger.Info("ready", "http", n.listener.Addr().String(), "sql", n.Addresses()["sql"], "data", n.config.Data, "workers", n.config.Workers)
	select {
	case <-jobs.done: // its error is told by Run
		return nil
	case <-web.done:
		return faceFault("http", web.err)
	case <-port.done:
		return faceFault("sql", port.err)
	case <-ctx.Done():
		return nil
	}
}

func faceFault(face string, err error) error {
	return &rota.Error{Code: rota.Unavailable, Act: face, Reason: "the server cannot go on", Err: err}
}

// readiness says why the node is not ready for requests.
func (n *Node) readiness() error {
	if n.stopping.Load() {
		return errors.New("the server is stopping")
	}
	select {
	case <-n.serving:
		return n.meter.writable()
	default:
		return errors.New("the server is starting")
	}
}

// task is something that runs beside us until it ends.
type task struct {
	done chan struct{}
	err  error // once done
}

func begin(work func() error) *task {
	t := &task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = work()
	}()
	return t
}

// result is the error of a task that has ended.
func (t *task) result() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}
