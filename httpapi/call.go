package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/definitions"
)

// call is one request being handled.
type call struct {
	*server
	// Store is what the caller may see and do of the store of the server. Work that the server does on its own behalf,
	// such as releasing the jobs of a claim that could not be delivered, uses server.Store.
	Store *access.Guard
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context
	op    *operation
	query url.Values
	id    rota.ID // id in the path
	actor string
	slots semaphore // slots of the class of the request

	commandID     rota.ID            // id of the first command of the request
	provisionalID rota.ID            // id of that command before the key was bound
	commandCount  int                // commands created so far
	key           string             // idempotency key; empty: none
	hash          string             // hash that distinguishes the request from others with the same key
	keyBound      bool               // the key is bound to commandID
	found         definitions.Lookup // definitions read so far; see lookup
	looked        bool               // found is set
	required      *rota.ID           // version that If-Match requires; nil: any
	last          rota.ID            // last attempt of the job in the path, whose version If-Match was compared with; zero: not read
	replay        bool               // the key was bound before: the request was sent earlier and was valid
}

// reply is the response of a handler. A handler that has written the response itself sets written.
type reply struct {
	status   int
	body     any
	location string
	written  bool
}

func ok(body any) (reply, error) { return reply{status: http.StatusOK, body: body}, nil }

func created(body any, location string) (reply, error) {
	return reply{status: http.StatusCreated, body: body, location: location}, nil
}

// then returns a function that responds with a result, or with the error of getting it. Its arguments are
// the results of a read or of do.
func then[T any](respond func(T) (reply, error)) func(T, error) (reply, error) {
	return func(result T, err error) (reply, error) {
		if err != nil {
			return reply{}, err
		}
		return respond(result)
	}
}

// show is then for a result that only has to be converted.
func show[T, V any](convert func(T) V) func(T, error) (reply, error) {
	return then(func(result T) (reply, error) { return ok(convert(result)) })
}

// meta returns the metadata of the next command. The id of the first command belongs to the request,
// so that a repeated request sends the same command. Ids of further commands are derived from it.
func (c *call) meta() rota.Meta {
	c.ensureCommandID()
	id := c.commandID
	if c.commandCount > 0 {
		id = c.commandID.Derive([]byte("command " + strconv.Itoa(c.commandCount)))
	}
	c.commandCount++
	return rota.Meta{ID: id, Actor: c.actor, RulesVersion: rota.RulesVersion}
}

// metaFor returns the metadata of the command for one job of a bulk request.
func (c *call) metaFor(job rota.ID) rota.Meta {
	c.ensureCommandID()
	return rota.Meta{ID: c.commandID.Derive(append([]byte("for "), job[:]...)), Actor: c.actor, RulesVersion: rota.RulesVersion}
}

func (c *call) ensureCommandID() {
	if c.commandID.IsZero() {
		c.commandID = rota.NewID()
		c.provisionalID = c.commandID
	}
}

// do sends a command. If the idempotency key of the request is bound to an earlier command id, the
// command gets that id.
func do[R rota.Reply](c *call, command rota.Command) (R, error) {
	if err := c.bindKey(); err != nil {
		var zero R
		return zero, err
	}
	if head := command.Head(); head.ID == c.provisionalID {
		head.ID = c.commandID
	}
	return rota.Do[R](c.ctx, c.Store, command)
}

// now returns the time of the store, which the store compares times with. The clock of this process
// may differ.
func (c *call) now() (time.Time, error) {
	due, err := c.Store.NextDue(c.ctx)
	return due.Now, err
}

// requestTime returns the time of the store when the request was first sent. The id of the command of a
// write contains it, so that a replay computes the same times.
func (c *call) requestTime() (time.Time, error) {
	if !c.op.writes() {
		return c.now()
	}
	if c.commandID.IsZero() {
		now, err := c.now()
		if err != nil {
			return now, err
		}
		c.commandID = rota.NewIDAt(now)
		c.provisionalID = c.commandID
	}
	return c.commandID.Time(), nil
}

// name is the name in the path.
func (c *call) name() string { return c.r.PathValue("name") }

// readID parses the id in the path, if the path has one. A malformed id is NotFound, since it names nothing.
func (c *call) readID() (err error) {
	text := c.r.PathValue("id")
	if text == "" {
		return nil
	}
	if c.id, err = rota.ParseID(text); err != nil {
		return &rota.Error{Code: rota.NotFound, Reason: "the id in the path is malformed", Hint: "an id looks like " + api.ExampleID}
	}
	return nil
}

// readQuery parses the query string. It refuses unknown parameters: a filter with a typo must not list
// everything.
func (c *call) readQuery() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return problem.Malformed("", "the query string cannot be parsed")
	}
	for name, values := range query {
		p := c.op.param(name)
		switch {
		case p == nil:
			return c.unknownQuery(name)
		case len(values) > 1:
			return problem.Malformed(api.FieldPath("", name), "is given more than once")
		}
		if err := p.check(values[0]); err != nil {
			return err
		}
	}
	c.query = query
	return nil
}

func (c *call) unknownQuery(name string) *api.Problem {
	p := problem.Malformed(api.FieldPath("", name), "is not a parameter of this path")
	var known []string
	for i := range c.op.query {
		known = append(known, c.op.query[i].name)
	}
	p.Hint = "this path has no parameters"
	if len(known) > 0 {
		p.Hint = "use one of " + strings.Join(known, ", ")
	}
	return p
}

// The values of query parameters, which readQuery has checked.

func (c *call) flag(name string) bool { return c.query.Get(name) == "true" }

func (c *call) number(name string, fallback int) int {
	if n, err := strconv.Atoi(c.query.Get(name)); err == nil {
		return n
	}
	return fallback
}

// word returns one of the words of an enum, or an empty text.
func (c *call) word(name string) string {
	if p := c.op.param(name); p != nil {
		return api.OneOf(c.query.Get(name), p.enum)
	}
	return ""
}

func (c *call) queryID(name string) rota.ID {
	id, _ := rota.ParseID(c.query.Get(name))
	return id
}
