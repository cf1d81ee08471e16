package httpapi

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/payload"
)

// plan holds the commands that make the store match a document.
type plan struct {
	c    *call
	body *api.Definitions
	now  time.Time // by the store's clock

	items    []api.DefinitionChange
	commands []planCommand
	written  int // commands that were written
	errs     []api.FieldError
	hint     string

	types              map[string]*rota.Type     // as they will be after the write, from the document or the store
	templates          map[string]*rota.Template // as they will be after the write
	schemas            map[string]*payload.Compiled
	schedulePlans      map[string]*schedulePlan // schedules of the document
	storedDependencies map[string][]string
	chainLength        map[string]int // longest chain of dependencies that starts at a schedule

	archiving  []planCommand // commands that archive templates, sent after the schedules
	unarchived map[string]bool
}

// plan compares a document with the store. Its error lists everything that is invalid.
func (c *call) plan(body *api.Definitions) (*plan, error) {
	now, err := c.now()
	if err != nil {
		return nil, err
	}
	p := &plan{
		c: c, body: body, now: now, types: map[string]*rota.Type{}, templates: map[string]*rota.Template{}, schemas: map[string]*payload.Compiled{},
		schedulePlans: map[string]*schedulePlan{}, storedDependencies: map[string][]string{}, chainLength: map[string]int{}, unarchived: map[string]bool{},
	}
	for _, part := range []func() error{p.planTypes, p.planTemplates, p.planSchedules, p.planLimits, p.planWebhooks} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	if len(p.errs) > 0 {
		problem := badFields(p.errs[:min(len(p.errs), errorsMax)])
		problem.Hint = p.hint
		return nil, problem
	}
	return p, nil
}

// addError records an error of a definition. It returns errors of the store, which end the plan.
func (p *plan) addError(path string, err error) error {
	var problem *api.Problem
	if !errors.As(atPath(path, err), &problem) || problem.Status >= http.StatusInternalServerError {
		return err
	}
	p.errs = append(p.errs, problem.Errors...)
	if p.hint == "" {
		p.hint = problem.Hint
	}
	return nil
}

// meta returns the metadata of a command for one definition. Its id is derived from the request and
// the action, so that a repeated request sends the same command.
func (p *plan) meta(what string) rota.Meta {
	return rota.Meta{ID: p.c.commandID.Derive([]byte("definition: " + what)), Actor: p.c.actor, RulesVersion: rota.RulesVersion}
}

func (p *plan) addCommand(path string, command rota.Command) {
	p.commands = append(p.commands, planCommand{command, path})
}

// addItem records the result for a definition, and reports whether it changes. current and target are
// its shown forms; current is nil if it does not exist. For a replayed request, change is what the
// request did the first time.
func (p *plan) addItem(kind, name string, current, target any, change string, notes ...string) (changes bool) {
	item := api.DefinitionChange{Kind: kind, Name: name, Change: changeUnchanged, Notes: notes}
	switch {
	case current == nil:
		item.Change, changes = changeCreated, true
	case change != "":
		item.Change = change
	default:
		if item.Fields = changedFields(current, target); len(item.Fields) > 0 {
			item.Change, changes = changeChanged, true
		}
	}
	p.items = append(p.items, item)
	return changes
}

// changedByRequest returns what this request did to a definition earlier, recognized by the version.
func (p *plan) changedByRequest(version rota.ID, isNew bool, what ...string) string {
	for _, w := range what {
		if p.meta(w).ID == version {
			if isNew {
				return changeCreated
			}
			return changeChanged
		}
	}
	return ""
}

// changedFields returns the fields in which two definitions differ.
func changedFields(current, target any) (fields []string) {
	before, after := fieldMap(current), fieldMap(target)
	all := map[string]json.RawMessage{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(before[name]) != string(after[name]) {
			fields = append(fields, name)
		}
	}
	return fields
}

func fieldMap(definition any) map[string]json.RawMessage {
	parts := map[string]json.RawMessage{}
	if json.Unmarshal(rota.EncodeSpec(definition), &parts) != nil { // a list, which has no fields
		parts[""] = rota.EncodeSpec(definition)
	}
	return parts
}

// findType returns a type as it will be after the write.
func (p *plan) findType(name string) (*rota.Type, error) {
	if t := p.types[name]; t != nil {
		return t, nil
	}
	t, err := p.c.findType(name)
	if err == nil {
		p.types[name] = t
	}
	return t, err
}

// findTemplate returns a template as it will be after the write, in any state.
func (p *plan) findTemplate(name string) (*rota.Template, error) {
	if t := p.templates[name]; t != nil {
		return t, nil
	}
	t, err := p.c.Store.Template(p.c.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, &rota.Error{
			Code: rota.Invalid, Field: "template", Reason: "there is no template " + name + " in the document or in the store", Hint: "check the name",
		}
	}
	if err == nil {
		p.templates[name] = t
	}
	return t, err
}

// nilIfNotFound turns a NotFound error into a nil value.
func nilIfNotFound[T any](value *T, err error) (*T, error) {
	if rota.CodeOf(err) == rota.NotFound {
		return nil, nil
	}
	return value, err
}
