package definitions

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/payload"
)

// plan holds the commands that make the store match a document.
type plan struct {
	*Sync
	Lookup  // types and templates as they will be after the write, from the document or the store
	ctx     context.Context
	request *Request
	body    *api.Definitions
	now     time.Time // by the store's clock

	items    []api.DefinitionChange
	commands []planCommand
	written  int // commands that were written
	errs     []api.FieldError
	hint     string

	users map[string]bool // whether a user of this name exists

	schemas            map[string]*payload.Compiled
	schedulePlans      map[string]*schedulePlan // schedules of the document
	storedDependencies map[string][]string
	chainLength        map[string]int // longest chain of dependencies that starts at a schedule

	archiving  []planCommand // commands that archive templates, sent after the schedules
	unarchived map[string]bool
}

// plan compares a document with the store. Its error lists everything that is invalid.
func (s *Sync) plan(ctx context.Context, body *api.Definitions, r *Request) (*plan, error) {
	due, err := s.Store.NextDue(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{
		Sync: s, Lookup: NewLookup(ctx, s.Store, s.Schemas), ctx: ctx, request: r, body: body, now: due.Now, schemas: map[string]*payload.Compiled{},
		schedulePlans: map[string]*schedulePlan{}, storedDependencies: map[string][]string{}, chainLength: map[string]int{}, unarchived: map[string]bool{},
		users: map[string]bool{},
	}
	p.searched = " in the document or in the store"
	if err := p.checkOwner(); err != nil {
		return nil, err
	}
	for _, part := range []func() error{p.planTypes, p.planTemplates, p.planSchedules, p.planLimits, p.planWebhooks} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	if len(p.errs) > 0 {
		refusal := problem.Fields(p.errs[:min(len(p.errs), problem.Max)])
		refusal.Hint = p.hint
		return nil, refusal
	}
	return p, nil
}

// addError records an error of a definition. It returns errors of the store, which end the plan.
func (p *plan) addError(path string, err error) error {
	var refusal *api.Problem
	if !errors.As(atPath(path, err), &refusal) {
		return err
	}
	p.errs = append(p.errs, refusal.Errors...)
	if p.hint == "" {
		p.hint = refusal.Hint
	}
	return nil
}

// meta returns the metadata of a command for one definition. Its id is derived from the request and
// the action, so that a repeated request sends the same command.
func (p *plan) meta(what string) rota.Meta {
	return rota.Meta{ID: p.request.ID.Derive([]byte("definition: " + what)), Actor: p.request.Actor, RulesVersion: rota.RulesVersion}
}

func (p *plan) addCommand(path string, command rota.Command) {
	p.commands = append(p.commands, planCommand{Command: command, path: path})
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

// planEach plans the definitions of one section of the document, by name.
func planEach[D, T any](
	p *plan, section string, all map[string]D, read func(context.Context, string) (*T, error),
	planOne func(path, name string, d D, current *T) error,
) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := api.FieldPath(section, name)
		current, err := nilIfNotFound(read(p.ctx, name))
		if err == nil {
			err = planOne(path, name, all[name], current)
		}
		if err != nil {
			if err := p.addError(path, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// nilIfNotFound turns a NotFound error into a nil value.
func nilIfNotFound[T any](value *T, err error) (*T, error) {
	if rota.CodeOf(err) == rota.NotFound {
		return nil, nil
	}
	return value, err
}
