package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// createScheduleOfType creates a schedule and a template of the same name in one request. The note says how an existing
// template was changed.
func (a *app) createScheduleOfType(
	ctx context.Context, name, kind string, params json.RawMessage, body map[string]any,
) (v api.Schedule, answer json.RawMessage, note string, err error) {
	if params == nil {
		params = json.RawMessage("{}")
	}
	body["type"], body["default_params"] = kind, params
	before, _, err := fetch[api.Template](ctx, a, newGet("/templates"+pathSegment(name)))
	if err != nil && exitCode(err) != exitNotFound {
		return v, nil, "", err
	}
	switch existed := err == nil; {
	case existed && (before.Type != kind || !sameJSON(before.DefaultParams, params)):
		note = fmt.Sprintf("; template %s, which no schedule used, was changed to type %s and these params", name, kind)
	case existed && before.State == string(rota.TemplateArchived):
		note = fmt.Sprintf("; template %s is active again", name)
	}
	v, answer, err = create[api.Schedule](ctx, a, "/schedules", body)
	return v, answer, note, err
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(rota.EncodeSpec(x)) == string(rota.EncodeSpec(y))
}
