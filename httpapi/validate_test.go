package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// booking refuses row 13 and a row without a chair in Validate; its schema accepts both.
type booking struct {
	Row   string `json:"row"`
	Chair string `json:"chair,omitempty"`
}

func (booking) JobType() string { return "booking" }

func (b booking) Validate() error {
	switch {
	case b.Row == "13":
		return rota.Invalidf("row", "is 13, which does not exist")
	case b.Chair == "":
		return rota.Invalidf("chair", "is missing")
	}
	return nil
}

// withBookings is an engine that handles bookings and has not started.
func withBookings(c *httpapi.Config) {
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, booking) error { return nil })
	c.Engine = engine.New(rota.New(c.Store), reg, engine.Config{})
}

// TestWholeParamsAreAskedOfValidate sends params that match the schema and that Validate refuses, in
// each request whose params are whole.
func TestWholeParamsAreAskedOfValidate(t *testing.T) {
	s := newServer(t, withBookings)
	job, err := rota.New(s.store).Enqueue(context.Background(), booking{Row: "1", Chair: "a"}, rota.Name("first"))
	if err != nil {
		t.Fatal(err)
	}
	// The default params are partial: Validate would refuse them because chair is missing.
	s.post("templates", `{"name": "window", "type": "booking", "default_params": {"row": "7"}}`).is(201)
	s.post("templates", `{"name": "row13", "type": "booking", "default_params": {"row": "13"}}`).is(201)
	s.post("schedules", `{"name": "fine", "template": "window", "every": "1h", "param_overrides": {"chair": "a"}}`).is(201)
	s.post("schedules", `{"name": "bare", "template": "window", "every": "1h"}`).field(422, "invalid", "param_overrides.chair")
	for _, c := range []struct{ path, body, field string }{
		{"jobs", `{"type": "booking", "params": {"row": "13", "chair": "a"}}`, "params.row"},
		{"jobs", `{"template": "window"}`, "params.chair"},
		{"jobs/batch", `{"jobs": [{"type": "booking", "params": {"row": "13", "chair": "a"}}]}`, "jobs[0].params.row"},
		{"groups", `{"name": "g", "mode": "parallel", "jobs": [{"type": "booking", "params": {"row": "13", "chair": "a"}}]}`, "jobs[0].params.row"},
		{"direct", `{"type": "booking", "params": {"row": "13", "chair": "a"}}`, "params.row"},
		{"direct", `{"template": "row13", "params": {"chair": "a"}}`, "params.row"},
		{"schedules", `{"name": "s", "template": "row13", "every": "1h", "param_overrides": {"chair": "a"}}`, "param_overrides.row"},
		{"schedules", `{"name": "s", "type": "booking", "every": "1h", "default_params": {"row": "13", "chair": "a"}}`, "default_params.row"},
		{"schedules/fine/trigger", `{"params": {"row": "13"}}`, "params.row"},
	} {
		t.Run(c.path, func(t *testing.T) { s.post(c.path, c.body).field(422, "invalid", c.field) })
	}
	s.send("PUT", "definitions", `{"schedules": {"s": {"template": "window", "every": "1h"}}}`).field(422, "invalid", "schedules.s.param_overrides.chair")
	s.send("PATCH", "schedules/fine", `{"param_overrides": {"chair": "a", "row": "13"}}`).field(422, "invalid", "param_overrides.row")
	s.send("PATCH", "jobs/"+job.ID.String(), `{"merge_params": {"row": "13"}}`).field(422, "invalid", "merge_params.row")
	statement := `{"statement": "CREATE JOB j SCHEDULE = EVERY 1 HOUR WITH PARAMS '{\"row\": \"13\", \"chair\": \"a\"}' AS CALL booking()"}`
	if p := s.post("sql", statement).problem(422, "invalid"); !strings.Contains(p.Detail, "is 13, which does not exist") {
		t.Errorf("SQL: %s", p.Detail)
	}
}
