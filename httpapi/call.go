package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// call is one request under way.
type call struct {
	*api
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context
	op    *operation
	query url.Values
	actor string

	commandID     rota.ID // what the request's first command is called
	provisionalID rota.ID // what it was called before the key was tied
	commandCount  int     // how many commands were begun
	key           string  // under which the request may be sent again; empty: it has none
	hash          string  // tells the request from others under its key
	keyBound      bool    // the key is tied to the command
	replay        bool    // it was before: the request was sent, and found right
}

// reply is what a handler answers. A handler that wrote its answer itself says
// so.
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

// meta begins a command. The first is named by the request, so that the same
// request sent again is the same command; further ones are derived from it.
func (c *call) meta() rota.Meta {
	c.ensureCommandID()
	id := c.commandID
	if c.commandCount > 0 {
		id = c.commandID.Derive([]byte("command " + strconv.Itoa(c.commandCount)))
	}
	c.commandCount++
	return rota.Meta{ID: id, Actor: c.actor, RulesVersion: rota.RulesVersion}
}

// metaFor begins the command of a request that is about one of many.
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

// do sends a command, under the id that the key of the request gives it.
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

// now is the time by the store's clock, which is what times are held against
// there. That of this process may be another.
func (c *call) now() (time.Time, error) {
	due, err := c.Store.NextDue(c.ctx)
	return due.Now, err
}

// name is the name in the path.
func (c *call) name() string { return c.r.PathValue("name") }

// id is the id in the path. What is no id names nothing.
func (c *call) id() (rota.ID, error) {
	id, err := rota.ParseID(c.r.PathValue("id"))
	if err != nil {
		return id, &rota.Error{Code: rota.NotFound, Reason: "what stands in the path is not an id", Hint: "an id looks like " + exampleID}
	}
	return id, nil
}

// readQuery holds the query to what the operation knows: a filter with a typo
// must not list everything.
func (c *call) readQuery() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return malformed("", "the query of the address cannot be read")
	}
	for name, values := range query {
		switch {
		case !c.op.hasQueryParam(name):
			return c.unknownQuery(name)
		case len(values) > 1:
			return malformed(joinPath("", name), "is given more than once")
		}
	}
	c.query = query
	return nil
}

func (c *call) unknownQuery(name string) *Problem {
	p := malformed(joinPath("", name), "is not a parameter of this address")
	var known []string
	for i := range c.op.query {
		known = append(known, c.op.query[i].name)
	}
	p.Hint = "it has none"
	if len(known) > 0 {
		p.Hint = "it has " + strings.Join(known, ", ")
	}
	return p
}

// limit is how many rows a page shows.
func (c *call) limit() (int, error) {
	return c.intParam("limit", 100, 1, rota.PageMax)
}

func (c *call) intParam(name string, fallback, low, high int) (int, error) {
	text, given := c.queryParam(name)
	if !given {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, malformed(name, "is not a number from %d to %d", low, high)
	}
	return n, nil
}

func (c *call) boolParam(name string) (bool, error) {
	switch text, given := c.queryParam(name); {
	case !given || text == "false":
		return false, nil
	case text == "true":
		return true, nil
	}
	return false, malformed(name, "is neither true nor false")
}

// queryParam is a query parameter, and whether it is there.
func (c *call) queryParam(name string) (string, bool) {
	values, ok := c.query[name]
	if !ok {
		return "", false
	}
	return values[0], true
}

// enumParam is a query parameter that is one of some words, in any case.
func (c *call) enumParam(name string, allowed ...string) (string, error) {
	text, given := c.queryParam(name)
	if !given {
		return "", nil
	}
	if found := oneOf(text, allowed); found != "" {
		return found, nil
	}
	return "", malformed(name, "is none of %s", strings.Join(allowed, ", "))
}

func oneOf(text string, allowed []string) string {
	for _, a := range allowed {
		if strings.EqualFold(a, text) {
			return a
		}
	}
	return ""
}
