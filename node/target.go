package node

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/internal/yamlfile"
)

// targetsKey is the section of the file that configures databases. Users choose the
// names in it, so it is not in the list of settings.
const targetsKey = "targets"

// targetParts are the settings of a target.
var targetParts = []string{"url", "roles", "open_to", "timeout"}

// targetLine is one value of a target in the file: targets.NAME.url, .timeout,
// .open_to or .roles.ROLE.
type targetLine struct {
	line
	name, part, role string
}

const targetRemedy = `write targets as in targets: {warehouse: {url: "postgres://app@db/warehouse", timeout: 30s}}`

// readTargets reads the section targets.
func (r *parsedFile) readTargets(section yamlfile.Entry) error {
	return r.each(section, targetsKey, func(target yamlfile.Entry, key string) error {
		l := line{key, "", r.Name, target.Line()}
		if err := action.CheckTarget(target.Name, action.Target{URL: action.MainURL}); err != nil {
			return targetError(l.position(), err)
		}
		r.targets = append(r.targets, targetLine{line: l, name: target.Name})
		return r.each(target, key, func(part yamlfile.Entry, key string) error {
			return r.targetPart(part, target.Name, key)
		})
	})
}

func (r *parsedFile) targetPart(part yamlfile.Entry, target, key string) error {
	switch {
	case !slices.Contains(targetParts, part.Name):
		hint := "the settings of a target are " + strings.Join(targetParts, ", ")
		if meant := suggest.Nearest(part.Name, targetParts); meant != "" {
			hint = "did you mean " + meant + "?"
		}
		return r.errorAt(part, "", "unknown setting "+quoted(key), hint)
	case part.Name == "roles":
		return r.each(part, key, func(role yamlfile.Entry, key string) error {
			return r.targetValue(role, targetLine{name: target, part: part.Name, role: role.Name}, key)
		})
	case part.Name == "open_to":
		return r.targetOpenTo(part, target, key)
	}
	return r.targetValue(part, targetLine{name: target, part: part.Name}, key)
}

// targetOpenTo reads a list of names, or a single one. Its line has the names as its variable has them: separated by commas.
func (r *parsedFile) targetOpenTo(part yamlfile.Entry, target, key string) error {
	values := []ast.Node{part.Value}
	if list, isList := part.Value.(*ast.SequenceNode); isList {
		values = list.Values
	}
	if len(values) == 0 {
		return nil
	}
	names := make([]string, len(values))
	for i, value := range values {
		text, isScalar := scalar(value)
		if !isScalar || text == "" {
			return r.errorAt(part, key, "the value is not a list of names", "write users and roles as in open_to: [etl, ada]")
		}
		names[i] = text
	}
	r.targets = append(r.targets, targetLine{line{key, strings.Join(names, ","), r.Name, part.Line()}, target, part.Name, ""})
	return nil
}

func (r *parsedFile) targetValue(e yamlfile.Entry, l targetLine, key string) (err error) {
	if l.line, err = r.line(e, key, targetRemedy); err == nil {
		r.targets = append(r.targets, l)
	}
	return err
}

// each calls visit for each entry of a section, with its key.
func (r *parsedFile) each(section yamlfile.Entry, key string, visit func(e yamlfile.Entry, key string) error) error {
	if !yamlfile.IsMapping(section.Value) {
		return r.errorAt(section, key, "the section is not a list of names", targetRemedy)
	}
	entries, err := r.Entries(section.Value)
	for _, e := range entries {
		if err := visit(e, key+"."+e.Name); err != nil {
			return err
		}
	}
	return err
}

// targetError adds to the error of a target where its value was written.
func targetError(source string, err error) error {
	var of *rota.Error
	if !errors.As(err, &of) {
		return err
	}
	return &rota.Error{Code: rota.Invalid, Act: source, Field: of.Field, Reason: of.Reason, Hint: of.Hint}
}

// setTargets sets the targets of the file. Environment variables override their
// values, so that passwords need not be in the file.
func (c *Config) setTargets(lines []targetLine, env func(string) string) error {
	sources := map[string]string{} // where each field was written
	for _, l := range lines {
		sources[l.key] = l.position()
		if err := c.setTarget(l.name, l.part, l.role, l.text, l.position()); err != nil {
			return err
		}
	}
	for _, name := range targetNames(c.Targets) {
		for _, v := range targetVariables(name, c.Targets[name]) {
			text := env(v.variable)
			if text == "" {
				continue
			}
			sources[v.key] = v.variable
			if err := c.setTarget(name, v.part, v.role, text, v.variable); err != nil {
				return err
			}
		}
	}
	return c.checkTargets(sources)
}

func (c *Config) setTarget(name, part, role, text, source string) error {
	if c.Targets == nil {
		c.Targets = map[string]action.Target{}
	}
	t := c.Targets[name]
	switch part {
	case "url":
		t.URL = text
	case "roles":
		t.Roles = maps.Clone(t.Roles)
		if t.Roles == nil {
			t.Roles = map[string]string{}
		}
		t.Roles[role] = text
	case "open_to":
		t.OpenTo = strings.Split(text, ",")
		for i, one := range t.OpenTo {
			t.OpenTo[i] = strings.TrimSpace(one)
		}
	case "timeout":
		d, err := parseDuration(text)
		if err != nil {
			return &rota.Error{Code: rota.Invalid, Act: source, Field: targetsKey + "." + name + ".timeout", Reason: err.Error(), Hint: "write a duration of at most 7 days, such as 30s"}
		}
		t.Timeout = d
	}
	if t.URL == "" && name == action.MainTarget {
		t.URL = action.MainURL
	}
	c.Targets[name] = t
	return nil
}

// checkTargets checks the targets when all sources are read. Its error names where
// the invalid part was written.
func (c *Config) checkTargets(sources map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(c.Targets)) {
		err := action.CheckTarget(name, c.Targets[name])
		var of *rota.Error
		if !errors.As(err, &of) {
			continue
		}
		source := sources[of.Field]
		if source == "" {
			source = sources[targetsKey+"."+name]
		}
		return targetError(source, err)
	}
	return nil
}

// targetVariable is the environment variable of one setting of a target.
type targetVariable struct{ variable, key, part, role string }

func targetVariables(name string, t action.Target) []targetVariable {
	key := targetsKey + "." + name
	variables := []targetVariable{{part: "url", key: key + ".url"}, {part: "open_to", key: key + ".open_to"}, {part: "timeout", key: key + ".timeout"}}
	for _, role := range slices.Sorted(maps.Keys(t.Roles)) {
		variables = append(variables, targetVariable{part: "roles", role: role, key: key + ".roles." + role})
	}
	for i, v := range variables {
		variables[i].variable = strings.ReplaceAll(Setting{Key: v.key}.Variable(), "-", "_")
	}
	return variables
}
