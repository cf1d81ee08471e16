package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func putDefinitions(c *call, body *api.Definitions) (reply, error) {
	dry, err := c.boolParam("dry_run")
	if err != nil {
		return reply{}, err
	}
	if body.Version > api.DefinitionsVersion || body.Version < 0 {
		return reply{}, rota.Invalidf("version", "is %d; this server supports version %d", body.Version, api.DefinitionsVersion)
	}
	c.ensureCommandID()
	clearDeadlines(c.w)
	for range 10 {
		p, err := c.plan(body)
		if err != nil {
			return reply{}, err
		}
		if dry {
			return ok(p.result(true))
		}
		before := c.commandID
		if err := c.bindKey(); err != nil {
			return reply{}, err
		}
		if c.commandID != before { // replay: the earlier commands have other ids
			continue
		}
		if err = p.write(); err == nil {
			return ok(p.result(false))
		}
		if !isStale(err) {
			return reply{}, p.withPath(err)
		}
	}
	return reply{}, &rota.Error{Code: rota.Busy, Reason: "the definitions changed during every attempt to import", Hint: "retry in a moment"}
}

// isStale reports whether a plan was refused because something it depends on was created or changed
// after it was read.
func isStale(err error) bool {
	var e *rota.Error
	return errors.As(err, &e) && e.Code == rota.Conflict && (strings.HasSuffix(e.Field, "].version") || strings.HasSuffix(e.Field, "].name"))
}

// planCommand is a command of a plan with the path of its definition.
type planCommand struct {
	rota.Command
	path string
}

// stepMax is the highest number of changes in one atomic step. Other writers wait during a step,
// including heartbeats.
const stepMax = 500

// steps splits the commands into atomic steps, in order.
func (p *plan) steps() (steps [][]planCommand) {
	entries, bytes := 0, 0
	for _, m := range p.commands {
		e, b := rota.Weigh(m.Command)
		last := len(steps) - 1
		if last < 0 || len(steps[last]) == stepMax || entries+e > rota.CommandEntriesMax || bytes+b > rota.CommandBytesMax {
			steps = append(steps, nil)
			last++
			entries, bytes = 0, 0
		}
		steps[last] = append(steps[last], m)
		entries, bytes = entries+e, bytes+b
	}
	return steps
}

// write sends the commands.
func (p *plan) write() error {
	for i, step := range p.steps() {
		all := &rota.All{Meta: rota.Meta{ID: p.c.commandID, Actor: p.c.actor, RulesVersion: rota.RulesVersion}}
		if i > 0 {
			all.ID = p.c.commandID.Derive([]byte("step " + strconv.Itoa(i)))
		}
		for _, m := range step {
			all.Members = append(all.Members, m.Command)
		}
		if _, err := do[*rota.AllDone](p.c, all); err != nil {
			return err
		}
		p.written += len(step)
	}
	return nil
}

// writeError adds the path of the definition to an error of the write.
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
		err = atPath(p.commands[p.written+i].path, asBodyError(&located))
	}
	if p.written == 0 {
		return err
	}
	problem := *problemOf(err)
	problem.Detail += fmt.Sprintf(" (%d of %d changes are already written)", p.written, len(p.commands))
	problem.Hint = strings.TrimPrefix(problem.Hint+"; the written changes stay, and you can send the same document again", "; ")
	return &problem
}

// atPath turns the error of one definition into an error of the document: it prefixes fields with the
// path of the definition and uses the field names of documents.
func atPath(path string, err error) error {
	kind, _, _ := strings.Cut(path, ".")
	switch kind {
	case "templates":
		err = templateError(err)
	case "schedules":
		err = scheduleError(err)
	}
	problem := *problemOf(err)
	if problem.Status >= http.StatusInternalServerError {
		return err
	}
	errs := slices.Clone(problem.Errors)
	if len(errs) == 0 {
		errs = []api.FieldError{{Reason: problem.Detail}}
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
	problem.Errors, problem.Detail = errs, detailOf(errs)
	return &problem
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
