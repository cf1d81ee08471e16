package definitions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// Request identifies one import. The ids of its commands are derived from its id, so that an import that is
// sent again changes nothing twice.
type Request struct {
	ID     rota.ID // zero: a new one
	Actor  string
	Replay bool // the request was sent before and was valid then, so what it refers to is not checked again
	Strict bool // refuse a schedule that can no longer be declared, instead of leaving it out

	// Owner gets the definitions whose owner does not exist. Empty: they are refused.
	Owner string

	// Bind is called before the first write. It may set ID and Replay to those of an earlier sending.
	// Nil: the request stays as it is.
	Bind func(*Request) error
}

// Import applies a document: it creates and changes what the document names and leaves the rest. A dry run
// writes nothing, and its result lists what a write would change.
func (s *Sync) Import(ctx context.Context, body *api.Definitions, r Request, dry bool) (api.DefinitionsPut, error) {
	if body.Version > api.DefinitionsVersion || body.Version < 0 {
		return api.DefinitionsPut{}, rota.Invalidf("version", "is %d; this server supports version %d", body.Version, api.DefinitionsVersion)
	}
	if r.ID.IsZero() {
		r.ID = rota.NewID()
	}
	for range 10 {
		p, err := s.plan(ctx, body, &r)
		if err != nil {
			return api.DefinitionsPut{}, err
		}
		if dry {
			return p.result(true), nil
		}
		before := r.ID
		if r.Bind != nil {
			if err := r.Bind(&r); err != nil {
				return api.DefinitionsPut{}, err
			}
		}
		if r.ID != before { // replay: the earlier commands have other ids
			continue
		}
		if err := p.seal(); err != nil {
			return api.DefinitionsPut{}, err
		}
		if err = p.write(); err == nil {
			return p.result(false), nil
		}
		if !isStale(err) {
			return api.DefinitionsPut{}, p.withPath(err)
		}
	}
	return api.DefinitionsPut{}, &rota.Error{Code: rota.Busy, Reason: "the definitions changed during every attempt to import", Hint: "retry in a moment"}
}

// isStale reports whether a plan was refused because something it depends on was created or changed
// after it was read, or because a rotation has replaced the key that has sealed its values.
func isStale(err error) bool {
	var e *rota.Error
	return errors.As(err, &e) && e.Code == rota.Conflict && slices.ContainsFunc([]string{"].version", "].name", "].sealed", "].secret"},
		func(suffix string) bool { return strings.HasSuffix(e.Field, suffix) })
}

// planCommand is a command of a plan with the path of its definition.
type planCommand struct {
	rota.Command
	path    string
	follows bool // must be in the step of the command before it
}

// stepMax is the highest number of changes in one atomic step. Other writers wait during a step,
// including heartbeats.
const stepMax = 500

// steps splits the commands into atomic steps, in order.
func (p *plan) steps() (steps [][]planCommand) {
	entries, bytes := 0, 0
	for rest := p.commands; len(rest) > 0; {
		n, e, b := together(rest)
		last := len(steps) - 1
		if last < 0 || len(steps[last])+n > stepMax || entries+e > rota.CommandEntriesMax || bytes+b > rota.CommandBytesMax {
			steps = append(steps, nil)
			last++
			entries, bytes = 0, 0
		}
		steps[last] = append(steps[last], rest[:n]...)
		entries, bytes, rest = entries+e, bytes+b, rest[n:]
	}
	return steps
}

// together returns how many of the first commands must be in one step, and their size.
func together(commands []planCommand) (n, entries, bytes int) {
	for n < len(commands) && (n == 0 || commands[n].follows) {
		e, b := rota.Weigh(commands[n].Command)
		n, entries, bytes = n+1, entries+e, bytes+b
	}
	return n, entries, bytes
}

// write sends the commands.
func (p *plan) write() error {
	for i, step := range p.steps() {
		all := &rota.All{Meta: rota.Meta{ID: p.request.ID, Actor: p.request.Actor, RulesVersion: rota.RulesVersion}}
		if i > 0 {
			all.ID = p.request.ID.Derive([]byte("step " + strconv.Itoa(i)))
		}
		for _, m := range step {
			all.Members = append(all.Members, m.Command)
		}
		if _, err := rota.Do[*rota.AllDone](p.ctx, p.Store, all); err != nil {
			return err
		}
		p.written += len(step)
	}
	return nil
}

// withPath adds the path of the definition to an error of the write.
func (p *plan) withPath(err error) error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return err
	}
	located := *e
	if rest, found := strings.CutPrefix(e.Field, "members["); found {
		number, field, _ := strings.Cut(rest, "]")
		i, _ := strconv.Atoi(number)
		located.Field = strings.TrimPrefix(field, ".")
		err = atPath(p.commands[p.written+i].path, problem.InBody(&located))
	}
	if p.written == 0 {
		return err
	}
	refusal := *problem.Of(err)
	refusal.Detail += fmt.Sprintf(" (%d of %d changes are already written)", p.written, len(p.commands))
	refusal.Hint = strings.TrimPrefix(refusal.Hint+"; the written changes stay, and you can send the same document again", "; ")
	return &refusal
}

// atPath turns the error of one definition into an error of the document: it prefixes fields with the
// path of the definition and uses the field names of documents.
func atPath(path string, err error) error {
	kind, _, _ := strings.Cut(path, ".")
	switch kind {
	case "templates":
		err = problem.Rename(err, "params", "default_params")
	case "schedules":
		err = problem.Rename(err, "params", "param_overrides")
	}
	refusal := *problem.Of(err)
	if refusal.Status >= http.StatusInternalServerError {
		return err
	}
	errs := slices.Clone(refusal.Errors)
	if len(errs) == 0 {
		errs = []api.FieldError{{Reason: refusal.Detail}}
	}
	for i := range errs {
		switch field := errs[i].Field; {
		case field == "name" || field == "":
			errs[i].Field = path
		case field[0] == '[':
			errs[i].Field = path + field
		default:
			errs[i].Field = path + "." + field
		}
	}
	refusal.Errors, refusal.Detail = errs, problem.Detail(errs)
	return &refusal
}

// result summarizes what happened to each definition.
func (p *plan) result(dry bool) api.DefinitionsPut {
	v := api.DefinitionsPut{DryRun: dry, Items: make([]api.DefinitionChange, 0, len(p.items))}
	if dry {
		v.Steps = len(p.steps())
	}
	for _, item := range p.items {
		if !dry {
			item.Fields = nil // a replayed request could not compute them
		}
		v.Items = append(v.Items, item)
		switch item.Change {
		case changeCreated:
			v.Created++
		case changeChanged:
			v.Changed++
		case changeLeftOut:
			v.LeftOut++
		default:
			v.Unchanged++
		}
	}
	return v
}

// Results for a definition.
const (
	changeCreated   = "created"
	changeChanged   = "changed"
	changeUnchanged = "unchanged"
	changeLeftOut   = "left_out"
)
