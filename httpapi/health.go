package httpapi

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/rotajobs/rota"
)

// Health is how the server feels.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// healthz answers as long as the process does.
func (a *api) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, "application/json", Health{Status: "ok"})
}

// readyz answers whether work can be given to this server. It needs no token, so
// a fault of the store is told in general; the log has it whole, once.
func (a *api) readyz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var err error
	if a.Ready != nil {
		err = a.Ready()
	}
	if err == nil {
		a.notReadyReason.Store("")
		writeJSON(w, http.StatusOK, "application/json", Health{Status: "ok"})
		return
	}
	reason := err.Error()
	if fault := (*rota.Error)(nil); errors.As(err, &fault) {
		if a.notReadyReason.Swap(reason) != reason {
			a.Logger.Warn("the server is not ready", slog.Any("err", err))
		}
		reason = publicReason(fault)
	}
	writeProblem(w, problemOf(&rota.Error{Code: rota.Unavailable, Reason: "not ready: " + reason, Hint: "try again in a moment"}))
}

// publicFaults are faults that say nothing about the machine, and may be told to anybody.
var publicFaults = map[string]bool{
	"the disk is full": true, "the disk failed": true, "the file cannot be written": true, "another connection holds the file": true,
}

func publicReason(fault *rota.Error) string {
	if publicFaults[fault.Reason] {
		return "the store cannot be written: " + fault.Reason
	}
	return "the store cannot be written; the log of the server says why"
}
