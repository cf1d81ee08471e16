package worker

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/rotajobs/rota/internal/partialstore"
)

// store is a server as the engine of a worker sees it: it claims jobs, extends leases,
// records ends and declares types. A claim is a long poll, and a worker learns of a
// cancellation with a heartbeat; so it needs neither wake-ups nor events.
type store struct {
	secrets *secrets
	partialstore.Refused
	server *server
	config *Config
	logs   *logs

	logDeclared sync.Once
}

func newStore(server *server, config *Config, logs *logs) *store {
	return &store{secrets: newSecrets(), Refused: partialstore.Refused{Refuse: errUnsupported}, server: server, config: config, logs: logs}
}

// Apply sends commands to the server, one request after the other. The result of a refused
// command has the error. If the server did not decide a command, Apply returns an error,
// and all commands may be sent again.
func (s *store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results := make([]rota.Result, len(b.Commands))
	for i, command := range b.Commands {
		reply, err := s.apply(ctx, command)
		switch {
		case err == nil:
			results[i].Reply = reply
		case apiclient.Undecided(err):
			return nil, err
		default:
			results[i].Err = asError(err)
		}
	}
	return results, nil
}

func (s *store) apply(ctx context.Context, command rota.Command) (rota.Reply, error) {
	switch c := command.(type) {
	case *rota.Claim:
		return s.claim(ctx, c)
	case *rota.Extend:
		return s.extend(ctx, c)
	case *rota.Note:
		return s.note(ctx, c)
	case *rota.Finish:
		return s.finish(ctx, c)
	case *rota.PutType:
		return s.putType(ctx, c)
	case *rota.PutThrottle:
		return s.putThrottle(ctx, c)
	}
	return nil, errUnsupported(string(command.Verb()))
}

func asError(err error) *rota.Error {
	if e, is := err.(*rota.Error); is {
		return e
	}
	return rota.Errorf(rota.CodeOf(err), "", "%w", err)
}

// Type reads a type.
func (s *store) Type(ctx context.Context, name string) (*rota.Type, error) {
	return callType(ctx, s.server.call, name, apiclient.Request{Method: http.MethodGet})
}

func (s *store) putType(ctx context.Context, c *rota.PutType) (rota.Reply, error) {
	if c.Mode != rota.PutAny || c.Version != nil {
		return nil, errUnsupported("put_type with a condition")
	}
	typ, err := callType(ctx, s.server.declare, c.Name, apiclient.Request{Method: http.MethodPut, Key: c.ID.String(), Body: api.NewTypeRequest(c.Spec)})
	if rota.CodeOf(err) == rota.Denied {
		return s.declaredType(ctx, c.Name, err)
	}
	if err != nil {
		return nil, err
	}
	return &rota.TypePut{Type: typ, Changed: true}, nil
}

// declaredType answers a declaration that the server has denied: a worker token may not declare a type, and runs jobs of
// one that an administrator has declared.
func (s *store) declaredType(ctx context.Context, name string, denied error) (rota.Reply, error) {
	typ, err := s.Type(ctx, name)
	switch {
	case rota.CodeOf(err) == rota.NotFound:
		return nil, &rota.Error{
			Code: rota.Denied, Act: "type " + name, Reason: "there is no type " + name + ", and the token may not declare types",
			Hint: "an administrator declares the type first: rota type put " + name + ", or PUT /types/" + name,
		}
	case apiclient.Undecided(err):
		return nil, err
	case err != nil:
		return nil, denied
	}
	s.logDeclared.Do(func() {
		s.config.Logger.Warn("the token may not declare types; what the server has declared applies, although the worker declares it otherwise", "type", name)
	})
	return &rota.TypePut{Type: typ}, nil
}

func callType(ctx context.Context, call func(context.Context, string, apiclient.Request, any) error, name string, r apiclient.Request) (*rota.Type, error) {
	r.Path = "/types/" + url.PathEscape(name)
	var t api.Type
	if err := call(ctx, "type "+name, r, &t); err != nil {
		return nil, err
	}
	if t.Name == "" {
		return nil, apiclient.Unreadable("type", rota.Invalidf("name", "is empty"))
	}
	return t.Entity(), nil
}

// Throttle reads the limits.
func (s *store) Throttle(ctx context.Context) (*rota.Throttle, error) {
	var t api.Throttle
	err := s.server.call(ctx, "limits", apiclient.Request{Method: http.MethodGet, Path: "/limits"}, &t)
	if err != nil {
		return nil, err
	}
	limits := t.Request()
	spec, err := limits.Spec()
	if err != nil {
		return nil, apiclient.Unreadable("limits", err)
	}
	return &rota.Throttle{Spec: spec, Version: t.Version.ID}, nil
}

// putThrottle writes all limits, unless they were changed since they were read.
func (s *store) putThrottle(ctx context.Context, c *rota.PutThrottle) (rota.Reply, error) {
	limits := api.NewThrottle(&rota.Throttle{Spec: c.Spec})
	body := limits.Request()
	body.Version.Set = true // null: the limits were never set
	if c.Version != nil && !c.Version.IsZero() {
		body.Version.Value = &api.ID{ID: *c.Version}
	}
	err := s.server.call(ctx, "limits", apiclient.Request{Method: http.MethodPut, Path: "/limits", Key: c.ID.String(), Body: body}, &limits)
	if err != nil {
		return nil, err
	}
	return &rota.ThrottlePut{Throttle: &rota.Throttle{Spec: c.Spec}, Changed: true}, nil
}

// Limits states the largest request.
func (s *store) Limits() rota.Limits {
	return rota.Limits{Claim: rota.ClaimMax, Items: rota.ItemsMax}
}

// Close closes the idle connections.
func (s *store) Close() error {
	s.server.client.HTTP.CloseIdleConnections()
	return nil
}
