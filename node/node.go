package node

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/sql/pgwire"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/telemetry"
)

// Node is one process of Rota: a store, an engine, and the servers of HTTP and SQL.
type Node struct {
	config Config
	logger *slog.Logger
	clock  func() time.Time
	offset *offsetClock // nil unless a test sets the clock

	scratch        string // directory of temporary files
	token          string
	audit          *auditor
	backend        backend
	monitor        *storeMonitor
	store          rota.Store // coalescing store that all parts use
	client         *rota.Client
	events         *eventring.Ring
	metrics        *metricSet
	logs           runLogs
	schemas        *payload.SchemaCache // compiled schemas of the types, for HTTP and SQL
	access         *access.Directory
	vault          *secret.Vault
	console        *session.Console
	engine         *engine.Engine
	deliveryEngine *engine.Engine      // delivers webhooks
	sender         *action.Sender      // sends requests to webhooks
	traces         *telemetry.Provider // nil: no traces are sent
	httpTLS        *tls.Config         // nil: the API has no TLS
	sqlTLS         *tls.Config         // nil: the SQL port has no TLS
	logins         *access.LoginThrottle
	userRate       *access.RateLimiter // nil: no limit
	listener       net.Listener
	server         *http.Server
	port           *pgwire.Server     // SQL port
	cancelRequests context.CancelFunc // cancels the HTTP requests in progress

	sqlListener net.Listener // nil: no SQL port

	serving  chan struct{} // closed when the API accepts requests
	ready    chan struct{} // closed when the address file is written, too
	stopping atomic.Bool
	cut      chan struct{} // closed by Cut
	cutOnce  sync.Once

	closing sync.Once
	closers []func() error // called by Close, last one first
	closed  error
}

// Ready is closed when the node has recovered the runs of an earlier process, runs
// jobs, accepts requests, and has written the address file.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// Client returns a client of the node's queue, for the program that runs the node. It can be
// used from Open until Run returns; jobs wait until Run. Its actor in the audit is admin, as
// that of requests with the admin token. It knows the Go types of Config.Register.
func (n *Node) Client() *rota.Client { return n.client }

// Run runs the node until ctx ends or one of its parts fails. Then it starts no more
// jobs, waits for the running ones within the grace period, answers requests
// meanwhile, closes its connections, and releases what Open acquired. A node runs
// once.
func (n *Node) Run(ctx context.Context) error {
	incarnation, cancel := context.WithCancel(context.Background())
	defer cancel()
	jobs := startTask(func() error { return n.runEngines(incarnation) })
	web := startTask(func() error { return serveHTTP(n.server, n.listener) })
	sqlContext, stopSQL := context.WithCancel(context.Background())
	defer stopSQL()
	port := startTask(func() error { return n.serveSQL(sqlContext) })
	var maintenance sync.WaitGroup
	maintenance.Go(func() { n.audit.run(incarnation) })
	if n.offset != nil {
		maintenance.Go(func() { n.offset.run(incarnation) })
	}
	accessContext, stopAccess := context.WithCancel(context.Background())
	maintenance.Go(func() { recordAccess(accessContext, n.access, n.logger) })
	err := n.waitForEnd(ctx, jobs, web, port)
	n.stop(cancel, jobs, web)
	stopSQL()
	<-port.done
	stopAccess()
	maintenance.Wait()
	err = errors.Join(err, jobs.result(), n.Close())
	n.logger.Info("stopped")
	return err
}

// runEngines runs jobs and delivers webhooks. If one engine ends, it stops the other.
func (n *Node) runEngines(incarnation context.Context) error {
	incarnation, cancel := context.WithCancel(incarnation)
	defer cancel()
	deliveries := startTask(func() error {
		defer cancel()
		return n.deliveryEngine.Run(incarnation)
	})
	err := n.engine.Run(incarnation)
	cancel()
	<-deliveries.done
	return errors.Join(err, deliveries.err)
}

// waitForEnd waits until the node is ready, announces that, and waits until the node must stop.
func (n *Node) waitForEnd(ctx context.Context, jobs, web, port *task) error {
	select {
	case <-n.engine.Ready():
	case <-jobs.done: // Run returns its error
		return nil
	case <-web.done:
		return serverError("http", web.err)
	case <-ctx.Done():
		return nil
	}
	close(n.serving) // before the address file: a client that reads it is answered
	if err := writeAddr(n.path(addrName), n.address()); err != nil {
		return err
	}
	close(n.ready)
	n.logger.Info("ready", "http", n.listener.Addr().String(), "sql", n.Addresses()["sql"], "data", n.config.Data, "workers", n.config.Workers)
	select {
	case <-jobs.done: // Run returns its error
		return nil
	case <-web.done:
		return serverError("http", web.err)
	case <-port.done:
		return serverError("sql", port.err)
	case <-ctx.Done():
		return nil
	}
}

func serverError(server string, err error) error {
	return &rota.Error{Code: rota.Unavailable, Act: server, Reason: "the server stopped unexpectedly", Err: err}
}

// readiness returns why the node is not ready for requests, or nil.
func (n *Node) readiness() error {
	if n.stopping.Load() {
		return errors.New("the server is stopping")
	}
	select {
	case <-n.serving:
		return n.monitor.writable()
	default:
		return errors.New("the server is starting")
	}
}

// task is a function that runs in its own goroutine.
type task struct {
	done chan struct{}
	err  error // set before done is closed
}

func startTask(work func() error) *task {
	t := &task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = work()
	}()
	return t
}

// result is the error of a task that has ended; nil while it runs.
func (t *task) result() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// How long requests may continue after the last job has ended. Short requests are
// answered in that time; streams and long polls are ended, and their clients
// reconnect.
const (
	cancelRequestsAfter = 500 * time.Millisecond
	closeAfter          = 5 * time.Second
)

// stop ends the node in the order that loses nothing: it claims no more jobs, waits
// until the running ones are recorded, and answers requests meanwhile.
func (n *Node) stop(cancel context.CancelFunc, jobs, web *task) {
	cancel()
	n.stopping.Store(true) // after cancel: a client that sees STOPPING can rely on no further claim
	n.logger.Info("stopping: no more jobs start; waiting for those that run",
		"running", n.engine.Snapshot().Running, "deliveries", n.deliveryEngine.Snapshot().Running, "grace", n.config.ShutdownGrace)
	<-jobs.done
	shutdownHTTP(n.server, n.cancelRequests, n.cut, web)
	if err := removeAddr(n.path(addrName)); err != nil {
		n.logger.Warn("the address file could not be removed", "error", err)
	}
}

// Cut ends the grace period of a stop at once: running jobs are interrupted and
// recorded as FAILED with the code shutdown, to be retried at the next start.
func (n *Node) Cut() {
	n.cutOnce.Do(func() { close(n.cut) })
	n.engine.Cut()
	n.deliveryEngine.Cut()
}

// onClose registers a function for Close, which calls them in reverse order.
func (n *Node) onClose(closer func() error) { n.closers = append(n.closers, closer) }

// Close releases what Open acquired. Run calls it at its end.
func (n *Node) Close() error {
	n.closing.Do(func() {
		for _, closer := range slices.Backward(n.closers) {
			n.closed = errors.Join(n.closed, closer())
		}
	})
	return n.closed
}
