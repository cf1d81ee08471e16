package worker

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Worker runs jobs of a server.
type Worker struct {
	config Config
	wrong  error // with what New was given
	server *server
	types  *engine.Registry
	engine *engine.Engine
}

// New makes a worker of the server at a URL, such as https://rota.example.org:7420,
// for the types of a registry; Run starts it.
func New(url, token string, reg *engine.Registry, config Config) *Worker {
	w := &Worker{config: config.withDefaults(), types: reg}
	base, err := apiAt(url)
	if err == nil && token == "" {
		err = rota.Invalidf("token", "is empty; the admin's stands in the file admin.token of the server's data directory")
	}
	if err == nil {
		err = w.config.validate()
	}
	w.wrong = err
	w.server = &server{base: base, token: token, http: quiet(w.config.HTTP), timeout: w.config.Timeout}
	logs := newLogs()
	w.engine = engine.New(rota.New(&store{server: w.server, config: &w.config, logs: logs}), reg, engine.Config{
		Remote: true, Name: w.config.Name, Workers: w.config.Workers, Lease: w.config.Lease,
		CancelGrace: w.config.CancelGrace, ShutdownGrace: w.config.ShutdownGrace, Logger: w.config.Logger, Logs: logs,
	})
	return w
}

// Name is what the server calls this worker.
func (w *Worker) Name() string { return w.config.Name }

// Ready is closed when the types are declared and jobs are taken.
func (w *Worker) Ready() <-chan struct{} { return w.engine.Ready() }

// Cut ends the grace of a shutdown at once: what still runs is recorded as cut
// off, and is retried.
func (w *Worker) Cut() { w.engine.Cut() }

// Run declares the types of the registry and runs jobs until ctx ends. Then it
// takes no more, waits for those that run as long as the grace allows, cuts off
// the rest, and returns when the end of each is recorded.
//
// A server that does not answer is waited for, also at the start. Only one that
// does not accept the token ends the worker, with Denied: what runs then is cut
// off, since nobody would hear of how it ended. A worker runs once.
func (w *Worker) Run(ctx context.Context) error {
	if w.wrong != nil {
		return w.wrong
	}
	defer w.server.http.CloseIdleConnections()
	over := make(chan struct{})
	defer close(over)
	go w.greet(over)
	return w.engine.Run(ctx)
}

// greet tells whoever started the worker that it works, and for whom.
func (w *Worker) greet(over <-chan struct{}) {
	select {
	case <-w.Ready():
		w.config.Logger.Info("working", "for", w.server.address(), "types", w.types.Types(), "slots", w.config.Workers, "worker", w.config.Name)
	case <-over:
	}
}
