package node

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/sql/session"
)

// Time limits of a connection, so that a slow client does not hold resources that
// others need. The API lifts them for event streams, followed logs, direct runs
// and backups, which may take any time.
const (
	readHeaderMax = 5 * time.Second
	readMax       = time.Minute           // for reading a request, including its body
	writeMax      = readMax + time.Minute // starts at the header of the request, so it includes readMax
	idleMax       = 2 * time.Minute
	headerMax     = 64 << 10
)

// openHTTP creates the API and its server.
func (n *Node) openHTTP() error {
	n.logins = access.NewLoginThrottle(n.clock)
	if n.config.UserRate.Count > 0 {
		n.userRate = access.NewRateLimiter(n.config.UserRate, n.clock)
	}
	config := httpapi.Config{
		Store: n.store, Access: n.access, Engine: n.engine, Events: n.events, Schemas: n.schemas, Console: n.console,
		Token: n.token, Logs: n.logs, LogWriter: n.logs, Backup: n.backupOrNone(), ScratchDir: n.scratch,
		Metrics: n.metrics.handler(n.logger), Ready: n.readiness, Version: n.config.Version,
		Logger: n.logger, Clock: n.clock, Addresses: n.Addresses, Rate: n.config.HTTPRate, Webhooks: n.sender,
		Vault: n.vault, OtherNodes: n.otherNodes, Auditor: n.audit, OnPolls: n.metrics.setPolls, CancelGrace: n.config.CancelGrace, Logins: n.logins, UserRate: n.userRate,
		ExecRemote: n.config.programs() == session.ProgramsRemote,
	}
	if n.config.programs() == session.ProgramsHere {
		config.ExecAccounts, config.ExecAllow, config.ExecEnv = n.config.Exec.Accounts(), n.config.Exec.Programs(), n.config.Exec.Variables()
	}
	if n.traces != nil {
		config.OnEnqueue = n.traces.Enqueuing
	}
	api, err := httpapi.New(config)
	if err != nil {
		return err
	}
	base, cancelRequests := context.WithCancel(context.Background())
	n.cancelRequests = cancelRequests
	checked := checkHost(n.gate(api), parseHosts(n.config.HTTPHosts))
	n.server = newHTTPServer(base, n.metrics.instrument(checked), n.httpTLS, n.logger)
	return nil
}

// checkHost refuses foreign host names on connections to a loopback address, and if names are set on all connections.
// Without names a name server or a proxy may have given any other address names that the server does not know.
func checkHost(next http.Handler, names []string) http.Handler {
	checked := httpapi.CheckHost(next, names)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if len(names) > 0 || loopback(local) {
			checked.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// gate refuses requests until recovery has ended, except those for the health of
// the server and its metrics.
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
	`"detail":"the server is starting","hint":"send the request again in a second"}` + "\n"
