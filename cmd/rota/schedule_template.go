package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/client"
	"github.com/rotajobs/rota/payload"
)

// createScheduleOfType creates a schedule and a template of the same name. A template cannot be deleted, so it is created
// after all other checks, and an existing one is reused if no schedule runs it: after an error the user can correct the
// command and run it again. The note says how an existing template was changed.
func (a *app) createScheduleOfType(
	ctx context.Context, name, kind string, params json.RawMessage, body map[string]any,
) (v api.Schedule, answer json.RawMessage, note string, err error) {
	if params == nil {
		params = json.RawMessage("{}")
	}
	body["template"] = name
	if err := a.checkNewSchedule(ctx, name, kind, params); err != nil {
		return v, nil, "", err
	}
	t, _, err := fetch[api.Template](ctx, a, newGet("/templates"+pathSegment(name)))
	if exitCode(err) == exitNotFound {
		v, answer, err = a.createWithTemplate(ctx, name, kind, params, body)
		return v, answer, "", err
	}
	if err != nil {
		return v, nil, "", err
	}
	note, undo, err := a.reuseTemplate(ctx, t, kind, params)
	if err != nil {
		return v, nil, "", err
	}
	v, answer, err = create[api.Schedule](ctx, a, "/schedules", body)
	if err != nil {
		undo()
	}
	return v, answer, note, err
}

// checkNewSchedule refuses a schedule name in use, an unknown type and params that do not match its schema.
func (a *app) checkNewSchedule(ctx context.Context, name, kind string, params json.RawMessage) error {
	_, err := a.call(ctx, newGet("/schedules"+pathSegment(name)))
	switch {
	case err == nil:
		return failf(exitFailed, "change it with rota schedule edit, or delete it first with rota schedule delete", "the schedule %s already exists", name)
	case exitCode(err) != exitNotFound:
		return err
	}
	t, _, err := fetch[api.Type](ctx, a, newGet("/types"+pathSegment(kind)))
	if err != nil || nonNull(t.Schema) == "" {
		return err
	}
	return paramsError(kind, payload.NewSchemaCache().Check(&rota.Type{Name: t.Name, Spec: rota.TypeSpec{Schema: t.Schema}}, params))
}

// paramsError names each invalid param, as the server does.
func paramsError(kind string, err error) error {
	var wrong payload.Problems
	if !errors.As(err, &wrong) {
		return err
	}
	lines := make([]string, len(wrong))
	for i, one := range wrong {
		lines[i] = sanitize(one.Field + ": " + one.Reason)
	}
	return usagef("rota type show "+kind+" shows the schema", "%s", strings.Join(lines, "\n  "))
}

// createWithTemplate creates the template and the schedule. It sends the schedule first, while the template is missing:
// if the server refuses only the template, the schedule is valid and the template can be created.
func (a *app) createWithTemplate(
	ctx context.Context, name, kind string, params json.RawMessage, body map[string]any,
) (api.Schedule, json.RawMessage, error) {
	if v, answer, err := fetch[api.Schedule](ctx, a, newPost("/schedules", body)); !isUsageErrorOf(err, "template") {
		return v, answer, err
	}
	template := map[string]any{"name": name, "type": kind, "default_params": params}
	if _, _, err := create[api.Template](ctx, a, "/templates", template); err != nil {
		return api.Schedule{}, nil, err
	}
	return create[api.Schedule](ctx, a, "/schedules", body)
}

// reuseTemplate changes an existing template to the type and params. undo reverts the change.
func (a *app) reuseTemplate(ctx context.Context, t api.Template, kind string, params json.RawMessage) (note string, undo func(), err error) {
	path, archived := "/templates"+pathSegment(t.Name), t.State == string(rota.TemplateArchived)
	same := t.Type == kind && sameJSON(t.DefaultParams, params)
	if !same {
		if err := a.checkUnused(ctx, t.Name); err != nil {
			return "", nil, err
		}
	}
	change := func(kind string, params json.RawMessage, verb string) error {
		var changed, switched error
		if !same {
			body := map[string]any{"type": kind, "default_params": params}
			_, changed = a.call(ctx, client.Request{Method: http.MethodPatch, Path: path, Body: body})
		}
		if archived {
			_, switched = a.call(ctx, newPost(path+"/"+verb, nil))
		}
		return errors.Join(changed, switched)
	}
	undo = func() { _ = change(t.Type, t.DefaultParams, "archive") } // the caller returns the error of the schedule
	switch {
	case !same:
		note = fmt.Sprintf("; template %s, which no schedule used, was changed to type %s and these params", t.Name, kind)
	case archived:
		note = fmt.Sprintf("; template %s is active again", t.Name)
	}
	return note, undo, change(kind, params, "unarchive")
}

// checkUnused refuses to change a template that another schedule runs.
func (a *app) checkUnused(ctx context.Context, name string) error {
	users, err := a.page(ctx, "/schedules", url.Values{"template": {name}}, "", 1)
	if err != nil || len(users.Items) == 0 {
		return err
	}
	user, err := decode[api.Schedule](users.Items[0])
	if err != nil {
		return err
	}
	return failf(exitFailed, "run that template with --template "+name+", or choose another name for the schedule",
		"the template %s already exists with another type or params, and schedule %s runs it", name, user.Name)
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(rota.EncodeSpec(x)) == string(rota.EncodeSpec(y))
}
