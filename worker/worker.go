package worker

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Worker runs jobs of a server.
type Worker struct {
	config    Config
	configErr error // of the arguments of New; Run returns it
	server    *server
	types     *engine.Registry
	engine    *engine.Engine
}

// New creates a worker for the server at a URL, such as https://rota.example.org:7420,
// and the types of a registry; Run starts it.
func New(url, token string, reg *engine.Registry, config Config) *Worker {
	w := &Worker{config: config.withDefaults(), types: reg}
	base, err := apiURL(url)
	if err == nil && token == "" {
		err = rota.Invalidf("token", "is empty; pass the token of the file admin.token in the data directory of the server")
	}
	if err == nil {
		err = w.config.validate()
	}
	w.configErr = err
	w.server = &server{base: base, token: token, http: withoutRedirects(w.config.HTTP), timeout: w.config.Timeout}
	logs := newLogs()
	w.engine = engine.New(rota.New(&store{server: w.server, config: &w.config, logs: logs}), reg, engine.Config{
		Remote: true, Name: w.config.Name, Workers: w.config.Workers, Lease: w.config.Lease,
		CancelGrace: w.config.CancelGrace, ShutdownGrace: w.config.ShutdownGrace, Logger: w.config.Logger, Logs: logs,
	})
	return w
}

// Name is the name of this worker at the server.
func (w *Worker) Name() string { return w.config.Name }

// Ready is closed when the types are declared and the worker claims jobs.
func (w *Worker) Ready() <-chan struct{} { return w.engine.Ready() }

// Cut ends the grace of a shutdown at once: handlers that still run are cut off, and their
// jobs are retried.
func (w *Worker) Cut() { w.engine.Cut() }

// Run declares the types of the registry and runs jobs until ctx ends. Then it claims no
// more, waits for running handlers as long as the grace allows, cuts off the rest, and
// returns when the end of each is recorded.
//
// If the server does not answer, Run retries, also at the start. Only a server that denies
// the token ends the worker, with Denied: running handlers are then cut off, since their
// end could not be recorded. A worker runs once.
func (w *Worker) Run(ctx context.Context) error {
	if w.configErr != nil {
		return w.configErr
	}
	defer w.server.http.CloseIdleConnections()
	done := make(chan struct{})
	defer close(done)
	go w.logStart(done)
	return w.engine.Run(ctx)
}

// logStart logs that the worker has started, and for which server.
func (w *Worker) logStart(done <-chan struct{}) {
	select {
	case <-w.Ready():
		w.config.Logger.Info("working", "for", w.server.address(), "types", w.types.Types(), "slots", w.config.Workers, "worker", w.config.Name)
	case <-done:
	}
}
