package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/internal/apiclient"
)

// Type reads a type.
func (s *store) Type(ctx context.Context, name string) (*rota.Type, error) {
	return s.callType(ctx, name, apiclient.Request{Method: http.MethodGet, Path: typePath(name)})
}

func typePath(name string) string { return "/types/" + url.PathEscape(name) }

// putType declares a type. The server refuses it with 412 if the type was created or changed since it was read.
func (s *store) putType(ctx context.Context, c *rota.PutType) (rota.Reply, error) {
	r := newRequest(http.MethodPut, typePath(c.Name), c, api.NewTypeRequest(c.Spec))
	r.Header = http.Header{}
	switch {
	case c.Mode == rota.PutCreate:
		r.Header.Set("If-None-Match", "*")
	case c.Version != nil:
		r.Header.Set("If-Match", api.ETag(*c.Version))
	case c.Mode == rota.PutReplace:
		r.Header.Set("If-Match", "*")
	}
	t, err := s.callType(ctx, c.Name, r)
	if err != nil {
		return nil, err
	}
	return &rota.TypePut{Type: t, Changed: true}, nil
}

func (s *store) callType(ctx context.Context, name string, r apiclient.Request) (*rota.Type, error) {
	var t api.Type
	if err := s.call(ctx, "type "+name, r, &t); err != nil {
		return nil, err
	}
	if t.Name == "" {
		return nil, apiclient.Unreadable("type", rota.Invalidf("name", "is empty"))
	}
	return t.Entity(), nil
}

// putSchedule declares a template with its schedule, as rota.Client.Schedule does. The import of definitions is the only
// request that writes both or neither.
func (s *store) putSchedule(ctx context.Context, c *rota.All) (rota.Reply, error) {
	template, schedule := scheduleOf(c)
	if schedule == nil {
		return nil, errUnsupported(string(c.Verb()))
	}
	name := template.Name
	archived, err := s.archived(ctx, name)
	if err != nil {
		return nil, err
	}
	put := &rota.AllDone{Replies: []rota.Reply{
		&rota.TemplatePut{Template: &rota.Template{Name: name, Spec: template.Spec, State: rota.TemplateActive}},
		&rota.SchedulePut{Schedule: &rota.Schedule{Name: name, Spec: schedule.Spec}},
	}}
	if archived {
		put.Replies[0].(*rota.TemplatePut).Template.State = rota.TemplateArchived
		return put, nil
	}
	r := newRequest(http.MethodPut, "/definitions", c, api.Definitions{
		Templates: map[string]api.TemplateDefinition{name: api.NewTemplateDefinition(&rota.Template{Spec: template.Spec}, true)},
		Schedules: map[string]api.ScheduleDefinition{name: api.NewScheduleDefinition(&rota.Schedule{Spec: schedule.Spec})},
	})
	r.Query = url.Values{"strict": {"true"}}
	var done api.DefinitionsPut
	if err := s.call(ctx, "schedule", r, &done); err != nil {
		return nil, definitionError(err, name)
	}
	return put, nil
}

// scheduleOf returns the members of a command that declares a template and its schedule; nil for any other command.
func scheduleOf(c *rota.All) (*rota.PutTemplate, *rota.PutSchedule) {
	if len(c.Members) != 2 || c.Dry {
		return nil, nil
	}
	template, is := c.Members[0].(*rota.PutTemplate)
	schedule, also := c.Members[1].(*rota.PutSchedule)
	if !is || !also || schedule.Name != template.Name || schedule.Spec.Template != template.Name {
		return nil, nil
	}
	return template, schedule
}

// archived reports whether a template is archived. The import would keep it archived, and its schedule would never fire.
func (s *store) archived(ctx context.Context, name string) (bool, error) {
	var t api.Template
	err := s.call(ctx, "template", apiclient.Request{Method: http.MethodGet, Path: "/templates/" + url.PathEscape(name)}, &t)
	if rota.CodeOf(err) == rota.NotFound {
		return false, nil
	}
	return t.State == string(rota.TemplateArchived), err
}

// definitionError returns an error of the document as an error of the template or the schedule.
func definitionError(err error, name string) error {
	if e, of := cutPath(err, api.FieldPath("templates", name)); of {
		return problem.Rename(e, "default_params", "params")
	}
	if e, of := cutPath(err, api.FieldPath("schedules", name)); of {
		return problem.Rename(e, "param_overrides", "params")
	}
	return err
}
