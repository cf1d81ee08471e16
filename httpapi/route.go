package httpapi

import (
	"bytes"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/rotajobs/rota/api/problem"
)

// noBody is the body type of an operation without a body.
type noBody struct{}

// get registers an operation without a body.
func get(a *server, op operation, handle func(*call) (reply, error)) {
	route(a, op, func(c *call, _ *noBody) (reply, error) { return handle(c) })
}

// route registers an operation. Its body is parsed strictly into a B.
func route[B any](a *server, op operation, handle func(*call, *B) (reply, error)) {
	entry := op.describe(a.doc.OpenAPI().Components.Schemas, reflect.TypeFor[B]())
	a.doc.OpenAPI().AddOperation(entry)
	a.doc.Adapter().Handle(entry, func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		identity := identityOf(r)
		c := &call{server: a, Store: a.Access.Guard(identity), w: w, r: r, ctx: r.Context(), op: &op, actor: identity.User}
		slots := a.semaphores[op.class]
		if !slots.tryAcquire() && !(op.class.waitsBriefly() && slots.acquire(r.Context(), briefWait) == nil) {
			writeProblem(w, problemOf(op.class.refusal()))
			return
		}
		c.slots = slots
		defer func() { c.slots.release() }()
		c.respond(serve(c, handle))
	})
}

// serve parses the request and calls the handler.
func serve[B any](c *call, handle func(*call, *B) (reply, error)) (reply, error) {
	if err := c.checkScope(); err != nil {
		return reply{}, err
	}
	if c.op.need != "" {
		if err := c.Store.Require(c.ctx, c.op.scope, c.op.need); err != nil {
			return reply{}, err
		}
	}
	if err := c.readQuery(); err != nil {
		return reply{}, err
	}
	if c.mayBeLarge() {
		if err := c.largeBodies.acquire(c.ctx, largeBodyWait); err != nil {
			return reply{}, err
		}
		defer c.largeBodies.release()
	}
	body, err := c.readBody(reflect.TypeFor[B]().NumField() > 0)
	if err != nil {
		return reply{}, err
	}
	defer releaseBody(body)
	var into B
	if body.Len() > 0 {
		if err := decode(body.Bytes(), &into); err != nil {
			return reply{}, err
		}
	}
	if err := c.readKey(body.Bytes()); err != nil {
		return reply{}, err
	}
	if c.op.class != classDefault && c.r.Method == http.MethodHead { // a HEAD request must not start a stream
		return reply{status: http.StatusOK}, nil
	}
	if err := c.readID(); err != nil {
		return reply{}, err
	}
	matching := func() (reply, error) {
		if err := c.checkMatch(); err != nil {
			return reply{}, err
		}
		return c.matched(handle(c, &into))
	}
	answer, err := matching()
	if err != nil && c.isReplay(err) {
		return matching()
	}
	return answer, err
}

// checkScope refuses a token whose scope excludes the operation, before anything of the request is read: the answer to a bad
// request tells what exists.
func (c *call) checkScope() error {
	switch {
	case c.op.public:
		return nil
	case c.op.ownToken && c.r.PathValue("token_id") == c.Store.Identity().Token:
		return c.Store.InScope(c.ctx, ownScope)
	}
	return c.Store.InScope(c.ctx, c.op.scope)
}

// mayBeLarge reports whether the body may exceed BodyMax.
func (c *call) mayBeLarge() bool {
	return c.op.bulk && (c.r.ContentLength < 0 || c.r.ContentLength > c.BodyMax)
}

// readBody reads the body. It accepts an empty body if the operation takes none or the body is
// optional.
func (c *call) readBody(takes bool) (*bytes.Buffer, error) {
	maxBytes := c.BodyMax
	if c.op.bulk {
		maxBytes = c.BatchMax
	}
	body, err := readBody(c.w, c.r, maxBytes)
	switch {
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(body.Bytes())) == 0 && (!takes || c.op.bodyOptional):
		body.Reset()
	default:
		err = checkMediaType(c.r)
		if err == nil && body.Len() == 0 {
			err = problem.Malformed("", "the body is empty; send a JSON object")
		}
	}
	if err != nil {
		releaseBody(body)
		return nil, err
	}
	return body, nil
}

// withoutPathField removes the field from an error about the job or group in the path: the reason names
// it, and the request has no such field.
func (c *call) withoutPathField(err error) error {
	if c.id.IsZero() {
		return err
	}
	return problem.Rename(err, "job_id", "", "group_id", "")
}

// respond writes the response, and logs internal errors, which the response does not contain.
func (c *call) respond(answer reply, err error) {
	switch {
	case err != nil:
		p := problemOf(c.withoutPathField(err))
		if p.Status == http.StatusInternalServerError {
			c.Logger.Error("request failed with an internal error", slog.String("method", c.r.Method), slog.String("path", c.r.URL.Path), slog.Any("error", err))
		}
		writeProblem(c.w, p)
	case answer.written:
	case answer.body == nil:
		c.w.WriteHeader(answer.status)
	default:
		if answer.location != "" {
			c.w.Header().Set("Location", answer.location)
		}
		if v, is := answer.body.(versioned); is {
			c.w.Header().Set("ETag", v.ETag())
		}
		writeJSON(c.w, answer.status, "application/json", answer.body)
	}
}
