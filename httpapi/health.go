package httpapi

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// healthz reports that the process is alive.
func (a *server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, "application/json", api.Health{Status: "ok"})
}

// readyz reports whether the server accepts work. It needs no token, so an error of the store is
// described in general terms; the log has the whole error, once.
func (a *server) readyz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var err error
	if a.Ready != nil {
		err = a.Ready()
	}
	if err == nil {
		a.notReadyReason.Store("")
		writeJSON(w, http.StatusOK, "application/json", api.Health{Status: "ok"})
		return
	}
	reason := err.Error()
	if fault := (*rota.Error)(nil); errors.As(err, &fault) {
		if a.notReadyReason.Swap(reason) != reason {
			a.Logger.Warn("the server is not ready", slog.Any("error", err))
		}
		reason = publicReason(fault)
	}
	writeProblem(w, problemOf(&rota.Error{Code: rota.Unavailable, Reason: "not ready: " + reason, Hint: "retry in a moment"}))
}

// publicFaults are store errors that reveal nothing about the machine and may be shown without a
// token.
var publicFaults = map[string]bool{
	"the disk is full": true, "the disk failed": true, "the file cannot be written": true, "another connection holds the file": true,
}

func publicReason(fault *rota.Error) string {
	if publicFaults[fault.Reason] {
		return "the store cannot be written: " + fault.Reason
	}
	return "the store cannot be written; see the server log for the cause"
}

func (a *server) statsRoutes() {
	get(a, operation{
		method: "GET", path: "/stats", id: "get-stats", scope: readScope, tag: "Server", summary: "Count jobs and runs", response: api.Stats{},
	}, func(c *call) (reply, error) {
		counts, err := c.Store.Stats(c.ctx)
		if err != nil {
			return reply{}, err
		}
		var slots api.Workers
		if c.Engine != nil {
			pool := c.Engine.Snapshot()
			slots = api.Workers{Slots: pool.Workers, Running: pool.Running, Abandoned: pool.Abandoned}
		}
		return ok(api.NewStats(counts, slots))
	})
}

const violationsMax = 1000

func (a *server) verifyRoutes() {
	get(a, operation{
		method: "GET", path: "/verify", id: "verify", scope: readScope, tag: "Server", summary: "Check every invariant of the store",
		description: "Reads every row, which may take a while. The check ends when the client disconnects. Only one check runs at a time.", response: api.Verification{}, errors: []int{409}, class: classVerify, need: rota.Admin,
	}, verifyStore)
}

func verifyStore(c *call) (reply, error) {
	clearDeadlines(c.w)
	found := api.Verification{Violations: []api.Violation{}}
	for v, err := range c.Store.Verify(c.ctx) {
		if err != nil {
			return reply{}, err
		}
		if len(found.Violations) == violationsMax {
			found.More = true
			break
		}
		found.Violations = append(found.Violations, api.Violation{Check: v.Check, Rows: append([]string{}, v.Rows...), Detail: v.Detail})
	}
	found.Clean = len(found.Violations) == 0
	return ok(found)
}
