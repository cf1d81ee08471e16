package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// The built-in job types of the AS clause.
const (
	typeSQL  = "sql"
	typeCall = "call"
	typeExec = "exec"
)

// mainTarget is the target of jobs that name none.
const mainTarget = "main"

// actionParams are the params of the built-in types.
type actionParams struct {
	Statement string          `json:"statement,omitempty"`
	Procedure string          `json:"procedure,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Command   string          `json:"command,omitempty"`
	Target    string          `json:"target,omitempty"`
	RunAs     string          `json:"run_as,omitempty"`
}

// applyAction sets the action, its target and its role.
func (d *definition) applyAction(p *planner, c *ddl.Clauses) error {
	if err := p.checkTarget(c.Target); err != nil {
		return err
	}
	if c.Action == nil && c.Target == nil && c.RunAs == nil {
		return nil
	}
	params := actionParams{}
	if d.keepOthers && runsOnTarget(d.templateSpec.Type) {
		_ = json.Unmarshal(d.templateSpec.Params, &params) // of a type that has these fields
	}
	if c.Action != nil {
		params = actionParams{Target: params.Target, RunAs: params.RunAs}
		if err := d.applyAs(p, c, &params); err != nil {
			return err
		}
	}
	if c.Target != nil {
		if !runsOnTarget(d.templateSpec.Type) {
			return newError(StateBadValue, "leave ON TARGET out", "ON TARGET needs an SQL statement or a stored procedure; a job of type %s has no target", d.templateSpec.Type).at("ON TARGET")
		}
		params.Target = *c.Target
	}
	if c.RunAs != nil {
		if !runsOnTarget(d.templateSpec.Type) && *c.RunAs != "" {
			return newError(StateNotSupported, "leave RUN AS out", "RUN AS needs an SQL statement or a stored procedure; a job of type %s has no role", d.templateSpec.Type).at("RUN AS")
		}
		params.RunAs = *c.RunAs
	}
	if c.Action == nil && !runsOnTarget(d.templateSpec.Type) { // RUN AS NONE, of a handler
		return nil
	}
	d.templateSpec.Params = nil
	if params := rota.EncodeSpec(params); string(params) != "{}" {
		d.templateSpec.Params = params
	}
	return nil
}

// runsOnTarget reports whether jobs of a type run on a target database.
func runsOnTarget(kind string) bool { return kind == typeSQL || kind == typeCall }

func (d *definition) applyAs(p *planner, c *ddl.Clauses, params *actionParams) error {
	switch a := c.Action; a.Kind {
	case ddl.SQL:
		d.templateSpec.Type, params.Statement = typeSQL, a.Text
	case ddl.Exec:
		d.templateSpec.Type = typeExec
		if err := params.setProgram(a.Text); err != nil {
			return err
		}
		return d.dropTarget(c, params)
	case ddl.Call:
		return d.applyCall(p, c, params)
	}
	return nil
}

// execWordsHint shows single quotes, because splitWords refuses $ in double quotes, too.
const execWordsHint = "put it in single quotes, which SQL doubles; a shell runs the text of AS EXEC '/bin/sh -c ''echo $X'''"

// execHint says how to correct the text of EXEC.
func execHint(err error) string {
	if quote := openQuoteError(0); errors.As(err, &quote) {
		return fmt.Sprintf(`close it, or write \%c for the character itself`, byte(quote))
	}
	return execWordsHint
}

// setProgram sets the program and the arguments of a job.
func (p *actionParams) setProgram(text string) error {
	words, err := splitWords(text)
	if err != nil {
		return newError(StateBadValue, execHint(err), "EXEC starts a program without a shell: %s", err).at(ddl.PlaceAction)
	}
	if p.Command = words[0]; len(words) > 1 {
		p.Args = rota.EncodeSpec(words[1:])
	}
	return nil
}

// applyCall sets the type of the job: a stored procedure if the statement names a target, else the handler.
func (d *definition) applyCall(p *planner, c *ddl.Clauses, params *actionParams) error {
	a := c.Action
	if c.Target != nil {
		d.templateSpec.Type, params.Procedure = typeCall, a.Procedure
		if len(a.Args) > 0 {
			params.Args = rota.EncodeSpec(a.Args)
		}
		return nil
	}
	_, err := p.store.Type(p.ctx, a.Procedure)
	switch {
	case rota.CodeOf(err) == rota.NotFound || rota.CodeOf(err) == rota.Invalid || rota.InternalType(a.Procedure):
		return newError(StateNoProcedure, "check the name of the handler, or declare its type with rota type put "+a.Procedure+", or name the database of a stored procedure with ON TARGET",
			"there is no handler %s", a.Procedure).at(ddl.PlaceAction)
	case err != nil:
		return err
	case len(a.Args) > 0:
		return newError(StateBadValue, "leave the parentheses empty and use WITH PARAMS '{…}'", "the handler %s takes params, not arguments", a.Procedure).at(ddl.PlaceAction)
	}
	d.templateSpec.Type = a.Procedure
	return d.dropTarget(c, params)
}

// dropTarget removes the target and the role of a job whose new action has none. A role is a right, so the statement
// must remove it in words.
func (d *definition) dropTarget(c *ddl.Clauses, params *actionParams) error {
	if params.RunAs != "" && c.RunAs == nil {
		return newError(StateNotSupported, "add SET RUN AS NONE to remove the role",
			"the job runs as %s, and a job of type %s has no role", params.RunAs, d.templateSpec.Type).at(ddl.PlaceAction)
	}
	if params.Target != "" {
		d.notice("the job no longer has target %s: a job of type %s has none", params.Target, d.templateSpec.Type)
	}
	params.Target, params.RunAs = "", ""
	return nil
}

func (p *planner) checkTarget(name *string) error {
	if name == nil || p.config.Targets == nil || slices.Contains(p.config.Targets, *name) {
		return nil
	}
	hint := "add it to the configuration; no target is configured"
	if len(p.config.Targets) > 0 {
		hint = "the configured targets are " + strings.Join(p.config.Targets, ", ")
	}
	return newError(StateUnknown, hint, "there is no target %s", *name).at("ON TARGET")
}
