package httpapi

import (
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

// readyz answers whether work can be given to this server.
func (a *api) readyz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if a.Ready != nil {
		if err := a.Ready(); err != nil {
			p := problemOf(&rota.Error{Code: rota.Unavailable, Reason: "not ready", Err: err, Hint: "try again in a moment"})
			writeProblem(w, p)
			return
		}
	}
	writeJSON(w, http.StatusOK, "application/json", Health{Status: "ok"})
}
