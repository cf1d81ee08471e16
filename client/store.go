package client

import (
	"context"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/rotajobs/rota/internal/partialstore"
)

// store is a server as rota.Client sees it. It supports the commands and reads that the methods of the client need.
type store struct {
	partialstore.Refused
	server  apiclient.Caller
	timeout time.Duration // of one request
}

func newStore(c apiclient.Client, timeout time.Duration) *store {
	return &store{Refused: partialstore.Refused{Refuse: errUnsupported}, server: apiclient.Caller{Client: c}, timeout: timeout}
}

// errUnsupported refuses a call that has no request of the API behind it.
func errUnsupported(act string) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Act: act, Reason: "is not supported by a client of a server",
		Hint: "use the methods of the client or the HTTP API; to run jobs of a server, use package worker",
	}
}

// CheckEngine refuses an engine on this store. The engine asks before it does anything.
func (s *store) CheckEngine() error {
	return &rota.Error{
		Code: rota.Invalid, Act: "engine: run", Reason: "the client is that of a server, which has its own engine",
		Hint: "run the handlers with package worker: worker.New(url, token, registry, worker.Config{}) in place of engine.New",
	}
}

// call sends a request and decodes the answer.
func (s *store) call(ctx context.Context, act string, r apiclient.Request, into any) error {
	ctx, done := context.WithTimeout(ctx, s.timeout)
	defer done()
	return s.server.Call(ctx, act, r, into)
}

// Apply sends commands to the server, one request after the other. The id of a command is the idempotency key of its
// request. The result of a refused command has the error. If the server did not decide a command, Apply returns an error, and all
// commands may be sent again.
func (s *store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results := make([]rota.Result, len(b.Commands))
	for i, command := range b.Commands {
		reply, err := s.apply(ctx, command)
		switch e, is := err.(*rota.Error); {
		case err == nil:
			results[i].Reply = reply
		case is && !apiclient.Undecided(err):
			results[i].Err = e
		default:
			return nil, err
		}
	}
	return results, nil
}

func (s *store) apply(ctx context.Context, command rota.Command) (rota.Reply, error) {
	if err := rota.CheckCommand(command); err != nil {
		return nil, err
	}
	switch c := command.(type) {
	case *rota.Enqueue:
		return s.enqueue(ctx, c)
	case *rota.Cancel:
		return s.cancel(ctx, c)
	case *rota.Edit:
		return s.edit(ctx, c)
	case *rota.Redrive:
		return s.redrive(ctx, c)
	case *rota.PutType:
		return s.putType(ctx, c)
	case *rota.All:
		return s.putSchedule(ctx, c)
	}
	return nil, errUnsupported(string(command.Verb()))
}

// Job reads a job.
func (s *store) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	return s.readJob(ctx, "job", apiclient.Request{Method: http.MethodGet, Path: jobPath(id, "")})
}

// Execution reads the attempts of an execution.
func (s *store) Execution(ctx context.Context, id rota.ID) ([]*rota.Job, error) {
	var e struct {
		Attempts []api.Job `json:"attempts"`
	}
	if err := s.call(ctx, "execution", apiclient.Request{Method: http.MethodGet, Path: "/executions/" + id.String()}, &e); err != nil {
		return nil, err
	}
	if len(e.Attempts) == 0 {
		return nil, apiclient.Unreadable("execution", rota.Invalidf("attempts", "is empty"))
	}
	return api.Entities(e.Attempts), nil
}

// LastAttempt reads the last attempt of an execution.
func (s *store) LastAttempt(ctx context.Context, id rota.ID) (*rota.Job, error) {
	attempts, err := s.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	return attempts[len(attempts)-1], nil
}

// Explain reads why a job does not run.
func (s *store) Explain(ctx context.Context, id rota.ID) ([]rota.Reason, error) {
	var e api.Explanation
	if err := s.call(ctx, "explain", apiclient.Request{Method: http.MethodGet, Path: jobPath(id, "/explain")}, &e); err != nil {
		return nil, err
	}
	reasons := make([]rota.Reason, len(e.Reasons))
	for i := range e.Reasons {
		reasons[i] = e.Reasons[i].Entity()
	}
	return reasons, nil
}

// NextDue knows no time: the server plans schedules by its own clock.
func (s *store) NextDue(context.Context) (rota.Due, error) { return rota.Due{}, nil }

// Limits states the largest request.
func (s *store) Limits() rota.Limits { return rota.Limits{Jobs: rota.BatchMax} }

// Close closes the idle connections.
func (s *store) Close() error {
	s.server.HTTP.CloseIdleConnections()
	return nil
}
