package console

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/ddl"
)

// The types that the AS clause makes jobs of, beside those of handlers.
const (
	typeSQL  = "sql"
	typeCall = "call"
	typeExec = "exec"
)

// deed is what the params of those types say.
type deed struct {
	Statement string          `json:"statement,omitempty"`
	Procedure string          `json:"procedure,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Command   string          `json:"command,omitempty"`
	Target    string          `json:"target,omitempty"`
	RunAs     string          `json:"run_as,omitempty"`
}

// applyAction sets the action, its target and its role.
func (d *definition) applyAction(p *planner, c *ddl.Clauses) error {
	if err := p.knowsTarget(c.Target); err != nil {
		return err
	}
	if c.Action == nil && c.Target == nil && c.RunAs == nil {
		return nil
	}
	what := deed{}
	if d.kept && aimed(d.what.Type) {
		_ = json.Unmarshal(d.what.Params, &what) // of a type that has these fields
	}
	if c.Action != nil {
		what = deed{Target: what.Target, RunAs: what.RunAs}
		if err := d.applyAs(p, c, &what); err != nil {
			return err
		}
	}
	if c.Target != nil {
		if !aimed(d.what.Type) {
			return refuse(StateBadValue, "leave ON TARGET out", "ON TARGET needs an SQL statement or a stored procedure; a job of type %s has no target", d.what.Type)
		}
		what.Target = *c.Target
	}
	if c.RunAs != nil {
		if !aimed(d.what.Type) && *c.RunAs != "" {
			return refuse(StateNotSupported, "leave RUN AS out", "RUN AS needs an SQL statement or a stored procedure; a job of type %s has no role", d.what.Type)
		}
		what.RunAs = *c.RunAs
	}
	if c.Action == nil && !aimed(d.what.Type) { // RUN AS NONE, of a handler
		return nil
	}
	d.what.Params = nil
	if params := rota.EncodeSpec(what); string(params) != "{}" {
		d.what.Params = params
	}
	return nil
}

// aimed says whether jobs of a type go to a target.
func aimed(kind string) bool { return kind == typeSQL || kind == typeCall }

func (d *definition) applyAs(p *planner, c *ddl.Clauses, what *deed) error {
	switch a := c.Action; a.Kind {
	case ddl.SQL:
		d.what.Type, what.Statement = typeSQL, a.Text
	case ddl.Exec:
		d.what.Type, what.Command = typeExec, a.Text
		what.Target, what.RunAs = "", ""
	case ddl.Call:
		return d.applyCall(p, c, what)
	}
	return nil
}

// applyCall makes a job of a handler, if one goes by the name and no target is
// named, and else of a stored procedure.
func (d *definition) applyCall(p *planner, c *ddl.Clauses, what *deed) error {
	a := c.Action
	if c.Target != nil {
		d.what.Type, what.Procedure = typeCall, a.Procedure
		if len(a.Args) > 0 {
			what.Args = rota.EncodeSpec(a.Args)
		}
		return nil
	}
	_, err := p.config.Store.Type(p.ctx, a.Procedure)
	switch {
	case rota.CodeOf(err) == rota.NotFound || rota.CodeOf(err) == rota.Invalid || rota.InternalType(a.Procedure):
		return refuse(StateNoProcedure, "check the name of the handler, or name the database of a stored procedure with ON TARGET",
			"there is no handler %s", a.Procedure)
	case err != nil:
		return err
	case len(a.Args) > 0:
		return refuse(StateBadValue, "leave the parentheses empty and use WITH PARAMS '{…}'", "the handler %s takes params, not arguments", a.Procedure)
	}
	d.what.Type = a.Procedure
	what.Target, what.RunAs = "", ""
	return nil
}

func (p *planner) knowsTarget(name *string) error {
	if name == nil || p.config.Targets == nil || slices.Contains(p.config.Targets, *name) {
		return nil
	}
	hint := "add it to the configuration; no target is configured"
	if len(p.config.Targets) > 0 {
		hint = "the configured targets are " + strings.Join(p.config.Targets, ", ")
	}
	return refuse(StateUnknown, hint, "there is no target %s", *name)
}
