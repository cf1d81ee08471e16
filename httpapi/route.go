package httpapi

import (
	"bytes"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/rotajobs/rota"
)

// noBody is the body of an operation that takes none.
type noBody struct{}

// get registers an operation without a body.
func get(a *api, op operation, handle func(*call) (reply, error)) {
	route(a, op, func(c *call, _ *noBody) (reply, error) { return handle(c) })
}

// route registers an operation. Its body is read strictly into a B.
func route[B any](a *api, op operation, handle func(*call, *B) (reply, error)) {
	entry := op.describe(a.doc.OpenAPI().Components.Schemas, reflect.TypeFor[B]())
	a.doc.OpenAPI().AddOperation(entry)
	a.doc.Adapter().Handle(entry, func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		c := &call{api: a, w: w, r: r, ctx: r.Context(), op: &op, actor: actorOf(r)}
		slots := a.semaphores[op.class]
		if !slots.tryAcquire() && !(op.class.waitsBriefly() && slots.acquire(r.Context(), briefWait) == nil) {
			writeProblem(w, problemOf(op.class.refusal()))
			return
		}
		defer slots.release()
		c.respond(serve(c, handle))
	})
}

// serve reads the request and handles it.
func serve[B any](c *call, handle func(*call, *B) (reply, error)) (reply, error) {
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
	if c.op.class != classDefault && c.r.Method == http.MethodHead { // a stream without a body would go on for nothing
		return reply{status: http.StatusOK}, nil
	}
	answer, err := handle(c, &into)
	if err != nil && c.isReplay(err) {
		return handle(c, &into)
	}
	return answer, err
}

// mayBeLarge says whether a body may be longer than one of a single job.
func (c *call) mayBeLarge() bool {
	return c.op.bulk && (c.r.ContentLength < 0 || c.r.ContentLength > c.BodyMax)
}

// readBody reads the body. An operation that takes none, or may do without one,
// is content with none.
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
			err = malformed("", "the body is empty; send a JSON object")
		}
	}
	if err != nil {
		releaseBody(body)
		return nil, err
	}
	return body, nil
}

// respond writes the answer, and the log what nobody is told.
func (c *call) respond(answer reply, err error) {
	switch {
	case err != nil:
		p := problemOf(err)
		if p.Status == http.StatusInternalServerError {
			c.Logger.Error("a request was not answered", slog.String("method", c.r.Method), slog.String("path", c.r.URL.Path), slog.Any("err", err))
		}
		writeProblem(c.w, p)
	case answer.written:
	case answer.body == nil:
		c.w.WriteHeader(answer.status)
	default:
		if answer.location != "" {
			c.w.Header().Set("Location", answer.location)
		}
		writeJSON(c.w, answer.status, "application/json", answer.body)
	}
}

// asBodyError turns what a body names and is not there into a mistake in the body.
func asBodyError(err error) error {
	e, isRotaError := err.(*rota.Error)
	if !isRotaError || e.Code != rota.NotFound || e.Field == "" || e.Field == "name" {
		return err
	}
	return recode(err, rota.NotFound, rota.Invalid, e.Field)
}

// recode turns a refusal of one code into another, such as a name in a body
// that is not found: the request is wrong, not its address.
func recode(err error, from, to rota.Code, field string) error {
	if rota.CodeOf(err) != from {
		return err
	}
	e, isRotaError := err.(*rota.Error)
	if !isRotaError {
		return err
	}
	changed := *e
	changed.Code, changed.Field = to, field
	return &changed
}
