package node

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/rotajobs/rota/httpapi"
)

// The bounds of a connection: a caller who sends or reads too slowly must not
// hold what others wait for. Those who follow events or a log, or wait for a run
// or a backup, are answered for as long as it takes: the API lifts them there.
const (
	readHeaderMax = 5 * time.Second
	readMax       = time.Minute           // a request, its body included
	writeMax      = readMax + time.Minute // counted from the head of the request, so the body is in it
	idleMax       = 2 * time.Minute
	headerMax     = 64 << 10
)

// openHTTP puts the API together.
func (n *Node) openHTTP() error {
	config := httpapi.Config{
		Store: n.store, Engine: n.engine, Events: n.feed, Schemas: n.book, Console: n.console,
		Token: n.token, Logs: logReader{n.logs}, LogWriter: n.logs, Backup: n.kept.backup, ScratchDir: n.scratch,
		Metrics: n.meters.handler(n.logger), Ready: n.readiness, Version: n.config.Version,
		Logger: n.logger, Clock: n.clock, Addresses: n.Addresses, Rate: n.config.HTTPRate, Webhooks: n.sender,
		OnPolls: n.meters.polling,
	}
	if n.traces != nil {
		config.OnEnqueue = n.traces.Enqueuing
	}
	api, err := httpapi.New(config)
	if err != nil {
		return err
	}
	base, hangUp := context.WithCancel(context.Background())
	n.hangUp = hangUp
	n.server = &http.Server{
		Handler:           n.meters.counting(n.gate(api)),
		ReadHeaderTimeout: readHeaderMax,
		ReadTimeout:       readMax,
		WriteTimeout:      writeMax,
		IdleTimeout:       idleMax,
		MaxHeaderBytes:    headerMax,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(n.logger.Handler(), slog.LevelDebug),
	}
	return nil
}

// gate keeps callers out until what an earlier life left is settled, except
// those who ask how the server is.
func (n *Node) gate(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-n.serving:
			api.ServeHTTP(w, r)
			return
		default:
		}
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			api.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(startingProblem))
	})
}

const startingProblem = `{"title":"Unavailable","status":503,"code":"unavailable",` +
	`"detail":"the server is starting","hint":"send it again in a second"}` + "\n"
